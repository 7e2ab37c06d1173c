"""The daemon as a process of its own, as a service manager starts it; asked over HTTP and by signals."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import numpy as np
from prometheus_client.parser import text_string_to_metric_families

from forecaster.units import floor_to

_COMMAND = "from jobs.cli.main import run; run()"
_PATIENCE_S = 60
_POLL_S = 0.05
Answer = TypeVar("Answer")


class DaemonProcess:
    """A started daemon and what it wrote to stderr."""

    def __init__(self, path: Path, log: Path, verb: str = "daemon") -> None:
        self._log = log
        with log.open("wb") as stderr:
            command = [sys.executable, "-c", _COMMAND, verb, "--config", str(path)]
            self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr)  # noqa: S603 - our own interpreter

    @property
    def text(self) -> str:
        """Everything that it wrote so far."""
        return self._log.read_text()

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The whole lines of its log."""
        return [json.loads(line) for line in self.text.splitlines(keepends=True) if line.endswith("\n")]

    def logs(self, event: str) -> dict[str, Any]:
        """Wait for an event's first line."""
        return self.eventually(lambda: next((line for line in self.lines if line["event"] == event), None))

    def says(self, words: str) -> dict[str, Any]:
        """Wait for a line whose sentence has these words."""
        return self.eventually(lambda: next((line for line in self.lines if words in line.get("sentence", "")), None))

    def health(self) -> tuple[int, dict[str, Any]]:
        """Status and body of /healthz."""
        status, body = self._page("/healthz")
        return status, json.loads(body)

    def metric(self, name: str, **labels: str) -> float | None:
        """A number of /metrics, None where there is none with these labels."""
        families = list(text_string_to_metric_families(self._page("/metrics")[1]))
        samples = (sample for family in families for sample in family.samples if sample.name == name)
        return next((sample.value for sample in samples if labels.items() <= sample.labels.items()), None)

    def until(self, name: str, above: float, **labels: str) -> None:
        """Wait until a number is above another one."""
        self.eventually(lambda: (value := self.metric(name, **labels)) is not None and value > above)

    def until_one_more(self, name: str, **labels: str) -> None:
        """Wait until a counter has gone on from here."""
        self.until(name, self.metric(name, **labels) or 0, **labels)

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        self._process.send_signal(number)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """End it by a signal, as promised: within 10 s and with exit code 0."""
        self.send(number)
        assert self.ended() == 0, self.text

    def ended(self, within_s: float = 10) -> int:
        """The exit code. Raises TimeoutExpired when it does not end in time."""
        return self._process.wait(within_s)

    def eventually(self, ask: Callable[[], Answer | None]) -> Answer:
        """The first answer that is one. Fails with the log when none comes, or when the daemon has ended."""
        deadline_s = time.monotonic() + _PATIENCE_S
        while time.monotonic() < deadline_s and self._process.poll() is None:
            answer = ask()
            if answer:
                return answer
            time.sleep(_POLL_S)
        raise AssertionError(f"no answer (exit code {self._process.poll()}); the log:\n{self.text}")

    def kill(self) -> None:
        """Leave nothing behind."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()

    def _page(self, path: str) -> tuple[int, str]:
        connection = HTTPConnection(urlsplit(self.logs("serve")["url"]).netloc, timeout=10)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()


def load_to(now: datetime) -> list[tuple[datetime, float]]:
    """Five-minute counts of eight days up to an hour ahead: about 600 requests a minute at any hour, so that no test knows the time."""
    rng = np.random.default_rng(1)
    start = floor_to(now - timedelta(days=8), 300)
    stamps = [start + timedelta(minutes=5 * i) for i in range(8 * 288 + 12)]
    return list(zip(stamps, 3_000 * rng.lognormal(0, 0.03, len(stamps)), strict=True))


@contextmanager
def daemon(path: Path, log: Path | None = None) -> Iterator[DaemonProcess]:
    """A daemon on a configuration for as long as the block lasts; its log goes to a file beside it unless another one is named."""
    running = DaemonProcess(path, log or path.with_suffix(".log"))
    try:
        yield running
    finally:
        running.kill()


@contextmanager
def started(verb: str, path: Path) -> Iterator[DaemonProcess]:
    """The same of another command that runs until it is told to end."""
    running = DaemonProcess(path, path.with_suffix(f".{verb}.log"), verb)
    try:
        yield running
    finally:
        running.kill()
