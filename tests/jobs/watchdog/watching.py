"""The watchdog over the double of the API server: in the process with an instant of its own, or as the command with the real clock."""

import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import yaml

from connectors.kube.connection import KubeConnection
from jobs.give_back import Released
from jobs.watchdog.kinds import kind_of
from jobs.watchdog.look import Look, Where, give_back_all, look

_COMMAND = "from jobs.watchdog.main import run; run()"


def looked(url: str, kinds: Iterable[str], now: datetime, *, namespaces: tuple[str, ...] = (), lenient: bool = False) -> Look:
    """What is found at an instant."""
    where = Where(kinds=tuple(kind_of(kind) for kind in kinds), namespaces=namespaces, cluster=KubeConnection(server=url), lenient=lenient)
    return look(where, now)


def watch(url: str, *kinds: str, now: datetime, rehearsed: bool = False) -> tuple[Released, ...]:
    """One look and what was given back."""
    return give_back_all(looked(url, kinds, now).expired, now, rehearsed=rehearsed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """What the command left behind."""

    code: int
    out: str
    err: str


def command(*words: str, kubeconfig: Path | None = None, env: dict[str, str] | None = None) -> Ended:
    """The command as a CronJob starts it: no configuration, no store, an empty folder."""
    at = () if kubeconfig is None else ("--kubeconfig", str(kubeconfig))
    done = subprocess.run(  # noqa: S603  # our own interpreter
        [sys.executable, "-c", _COMMAND, *words, *at],
        env={"PATH": os.environ["PATH"], "COLUMNS": "200", **(env or {})},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return Ended(code=done.returncode, out=done.stdout, err=done.stderr)


def kubeconfig(folder: Path, url: str) -> Path:
    """A way into the double."""
    path = folder / "kubeconfig"
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "test",
        "clusters": [{"name": "test", "cluster": {"server": url}}],
        "users": [{"name": "test", "user": {"token": "any"}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
    }
    path.write_text(yaml.safe_dump(document))
    return path
