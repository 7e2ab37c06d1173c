"""AIPerf as the load generator: one run of its command a step, a schedule in, and what came of each request out.

It is a program of its own and not a library here: it brings 150 packages, some in versions that ours exclude. Everything that it is
told stands in one file in a folder of the run, and everything it says is read there; it asks no other machine than the endpoint.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from connectors.loadgen.endpoint import Served
from connectors.loadgen.prompts import prompt
from forecaster.errors import LoadTestFailed
from forecaster.load_step import Answered
from forecaster.request_log import Schedule

COMMAND = "aiperf"
_REMEDY = "install it in an environment of its own, such as `pipx install aiperf`, and put it on PATH or name it as `replay.command`"
_STOPPING_S = 10
_WORKERS = 8
_MS_PER_S, _NS_PER_S = 1_000.0, 1_000_000_000.0
_SECONDS = {"ms": 1e-3, "s": 1.0, "us": 1e-6, "ns": 1e-9}
_SAID_CHARS = 300
_TOKENIZER = {
    "tokenizer.json": {
        "version": "1.0",
        "added_tokens": [],
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "model": {"type": "WordLevel", "vocab": {"<unk>": 0}, "unk_token": "<unk>"},
    },
    "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "<unk>"},
}
"""A word a token. It wants a tokenizer, though the server counts the tokens and prompts are ours; this one is on disk, not on a hub."""


class LoadGenerator(Protocol):
    """What sends a schedule to an endpoint."""

    def sent(self, schedule: Schedule, served: Served, *, timeout_s: float) -> Mapping[int, Answered]:
        """What came of each request, by its place in the schedule; one that is not there was not answered.

        timeout_s: longest for one request, which failed then. Raises LoadTestFailed when the generator itself did.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class AiPerf:
    """The command, as it was found. rng: draws prompts, new ones for every step, which no prefix cache of the engine knows.

    beside_s: longest for its processes to start, and to write what they saw, on a machine that is busy.
    """

    program: Path
    rng: np.random.Generator
    beside_s: float = 300.0

    def sent(self, schedule: Schedule, served: Served, *, timeout_s: float) -> Mapping[int, Answered]:
        """As the protocol says. It is ended with all its processes when this one is interrupted."""
        with tempfile.TemporaryDirectory(prefix="forecaster-replay-") as name:
            folder = Path(name)
            _write(folder, schedule, served, timeout_s, self.rng)
            self._run(folder, served, most_s=schedule.span_s + timeout_s + self.beside_s)
            return dict(_answers(folder / "out" / "profile_export.jsonl"))

    def _run(self, folder: Path, served: Served, *, most_s: float) -> None:
        env = dict(os.environ)
        for offline in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
            env.pop(offline, None)  # with them it looks a tokenizer up in a cache, even one that is a folder
        env |= {"AIPERF_DATASET_MMAP_CACHE_ENABLED": "false", "AIPERF_DATASET_MMAP_BASE_PATH": str(folder)}  # it leaves nothing behind
        if served.key_variable is not None and served.key is not None:
            env[served.key_variable] = served.key
        said = folder / "said"
        running = None
        try:
            with said.open("wb") as output, _uninterrupted():
                running = subprocess.Popen(  # noqa: S603 - the load generator that was found or named
                    [self.program, "profile", "-f", folder / "run.yaml"],
                    cwd=folder,
                    env=env,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            code = running.wait(most_s)
        except OSError as error:
            raise LoadTestFailed(f"the load generator {self.program} cannot be started: {error.strerror}; {_REMEDY}") from error
        except subprocess.TimeoutExpired:
            raise LoadTestFailed(f"the load generator did not end within {most_s:.0f} s: {_last_words(said)}") from None
        finally:
            if running is not None:
                _end(running)
        if code != 0:
            raise LoadTestFailed(f"the load generator {self.program} ended with code {code}: {_last_words(said)}")


def found(command: str | None) -> Path:
    """The command: the one that is named, else `aiperf` on PATH, else beside this interpreter. Raises LoadTestFailed with the remedy."""
    here = shutil.which(command or COMMAND)
    beside = Path(sys.executable).parent / COMMAND
    if here is None and command is None and os.access(beside, os.X_OK):
        return beside
    if here is None:
        raise LoadTestFailed(f"the load generator {command or COMMAND} is not there: {_REMEDY}")
    return Path(here).absolute()


def _write(folder: Path, schedule: Schedule, served: Served, timeout_s: float, rng: np.random.Generator) -> None:
    """The requests, a tokenizer and the run's settings, in YAML, of which JSON is a part."""
    tokenizer = folder / "tokenizer"
    tokenizer.mkdir()
    for name, content in _TOKENIZER.items():
        (tokenizer / name).write_text(json.dumps(content))
    with (folder / "requests.jsonl").open("w") as requests:
        for i, at_s in enumerate(schedule.at_s):
            request = {
                "session_id": str(i),
                "timestamp": round(float(at_s) * _MS_PER_S, 3),
                "text_input": prompt(int(schedule.input_tokens[i]), rng),
                "output_length": int(schedule.output_tokens[i]),
            }
            requests.write(json.dumps(request) + "\n")
    endpoint: dict[str, Any] = {
        "urls": [served.url],
        "type": "chat",
        "streaming": served.streams,
        "timeout": timeout_s,
        "use_server_token_count": True,
        "use_legacy_max_tokens": served.length_field == "max_tokens",
        "extra": {"ignore_eos": True} if served.takes_ignore_eos else {},
    }
    if served.key_variable is not None:
        endpoint["api_key"] = f"${{{served.key_variable}}}"  # never on a command line, which every user can list
    run = {
        "models": [served.model],
        "endpoint": endpoint,
        "tokenizer": {"name": str(tokenizer)},
        "datasets": [{"name": "main", "type": "file", "path": str(folder / "requests.jsonl"), "format": "mooncake_trace"}],
        "phases": [{"name": "profiling", "type": "fixed_schedule", "auto_offset": False}],
        "artifacts": {"dir": str(folder / "out"), "records": ["jsonl"]},
        "gpu_telemetry": {"enabled": False},
        "server_metrics": {"enabled": False},
        "runtime": {"ui": "none", "workers": max(1, min(_WORKERS, (os.cpu_count() or 1)))},
    }
    (folder / "run.yaml").write_text(json.dumps(run))


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """An interruption waits until this is over: one in the middle of a start would lose the process that was started."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    seen: list[int] = []
    before = {each: signal.signal(each, lambda number, _: seen.append(number)) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
        if seen:
            signal.raise_signal(seen[0])


def _end(running: "subprocess.Popen[bytes]") -> None:
    """Whatever of it still runs: it has a session of its own, so that none of its processes is left behind."""
    for last_word in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(running.pid, last_word)
            running.wait(_STOPPING_S)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue


def _last_words(said: Path) -> str:
    """The last error that it tells, else its last line."""
    lines = [line.strip() for line in said.read_text(errors="replace").splitlines() if re.search(r"\w", line)]
    errors = [found[1] for line in lines if (found := re.search(r"\bERROR\s+(.+?)(?:\s+\(\w+\.py:\d+\))?$", line))]
    words = errors or lines or ["it said nothing"]
    return words[-1][:_SAID_CHARS]


def _answers(path: Path) -> Iterator[tuple[int, Answered]]:
    """By the place in the schedule, which is the name of each conversation."""
    try:
        records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        told = [(int(record["metadata"]["conversation_id"]), int(record["metadata"]["request_start_ns"]), record) for record in records]
    except OSError as error:
        raise LoadTestFailed("the load generator wrote no profile_export.jsonl: is it AIPerf 0.13 or newer?") from error
    except (ValueError, KeyError, TypeError) as error:
        raise LoadTestFailed(f"profile_export.jsonl of the load generator is not known ({error}): is it AIPerf 0.13 or newer?") from error
    begin_ns = min((at_ns for _, at_ns, _ in told), default=0)
    for i, at_ns, record in told:
        yield i, _answer((at_ns - begin_ns) / _NS_PER_S, record)


def _answer(sent_s: float, record: Mapping[str, Any]) -> Answered:
    failure, metrics = _failure(record), record.get("metrics") or {}
    took_s = _in_seconds(metrics.get("request_latency"))
    if failure or took_s is None:
        return Answered(sent_s=sent_s, failure=failure or "no latency was measured")
    return Answered(
        sent_s=sent_s,
        took_s=took_s,
        first_s=_in_seconds(metrics.get("time_to_first_token")),
        input_tokens=_value(metrics.get("usage_prompt_tokens")),
        output_tokens=_value(metrics.get("usage_completion_tokens")),
    )


def _failure(record: Mapping[str, Any]) -> str:
    error = record.get("error")
    if error:
        parts = [error.get(key) for key in ("code", "type", "message")] if isinstance(error, Mapping) else [error]
        return " ".join(" ".join(str(part) for part in parts if part).split())[:_SAID_CHARS] or "an error"
    return "it was cancelled" if record["metadata"].get("was_cancelled") else ""


def _value(metric: object) -> float | None:
    value = metric.get("value") if isinstance(metric, Mapping) else None
    return float(value) if isinstance(value, int | float) else None


def _in_seconds(metric: object) -> float | None:
    value, unit = _value(metric), metric.get("unit") if isinstance(metric, Mapping) else None
    return None if value is None or unit not in _SECONDS else value * _SECONDS[unit]
