"""A real Prometheus on loopback, holding whatever history a test writes down.

Use it from a fixture of any scope:

    @pytest.fixture(scope="module")
    def url(tmp_path_factory):
        text = counter("llm_requests_total", start, requests_per_minute, labels='model="a"')
        with prometheus_server(tmp_path_factory.mktemp("prometheus"), text) as url:
            yield url

`counter` and `gauge` write the history; several texts are simply joined. The sample that describes the minute from t is stamped
t + 60 s, as a scrape at its end would be. Prometheus fills gaps of up to 5 minutes in a bare selector with the last sample; ask
`last_over_time(name[59s])` to see them.
"""

import math
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import pytest

from tests.services import free_port, program

_READY_S = 60
_POLL_S = 0.02


def counter(name: str, start: datetime, per_minute: Iterable[float], *, labels: str = "", step_s: int = 60) -> str:
    """A counter scraped at `start` and at the end of each minute, growing by each count; NaN = the scrape failed."""
    total = 0.0
    samples = [(start.timestamp(), total)]
    for i, count in enumerate(per_minute, start=1):
        if not math.isnan(count):
            total += count
            samples.append((start.timestamp() + i * step_s, total))
    return _text(name, samples, labels)


def gauge(name: str, start: datetime, values: Iterable[float | None], *, labels: str = "", step_s: int = 60) -> str:
    """A gauge scraped at the end of each minute; None = the scrape failed, NaN and the infinities are stored as they are."""
    return _text(name, [(start.timestamp() + i * step_s, value) for i, value in enumerate(values, start=1) if value is not None], labels)


def _text(name: str, samples: Iterable[tuple[float, float]], labels: str) -> str:
    return "".join(f"{name}{{{labels}}} {value!r} {at:.0f}\n" for at, value in samples)


@contextmanager
def prometheus_server(folder: Path, openmetrics: str, *, flags: Sequence[str] = ()) -> Iterator[str]:
    """The URL of a Prometheus that holds the samples of an OpenMetrics text and scrapes nothing, for as long as the block lasts.

    Samples of any age are kept. `flags` are further ones of its command line. Without Prometheus installed the test is skipped,
    see `tests.services.program`.
    """
    server, promtool = program("prometheus", "prometheus"), program("promtool", "prometheus")
    _backfill(promtool, folder, openmetrics)
    (folder / "prometheus.yml").write_text("")
    process, url = _start(server, folder, flags)
    try:
        yield url
    finally:
        process.terminate()
        process.wait()


def _backfill(promtool: Path, folder: Path, openmetrics: str) -> None:
    history = folder / "history.om"
    history.write_text(openmetrics + "# EOF\n")
    # one block for all of it: promtool reads the whole text again for each
    verb = ("tsdb", "create-blocks-from", "openmetrics", "-q", "--max-block-duration=1000000h")
    command: list[str | Path] = [promtool, *verb, history, folder / "data"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # a program found by this suite
    if done.returncode:
        pytest.fail(f"promtool could not write the history: {done.stderr}")


def _start(server: Path, folder: Path, flags: Sequence[str]) -> tuple["subprocess.Popen[bytes]", str]:
    """A server that answers: another port is tried when somebody else was quicker."""
    for _ in range(3):
        address = f"127.0.0.1:{free_port()}"
        command: list[str | Path] = [
            server,
            f"--config.file={folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={folder / 'data'}",
            f"--web.listen-address={address}",
            "--storage.tsdb.retention.time=100y",
            *flags,
        ]
        with (folder / "prometheus.log").open("wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log)  # noqa: S603  # a program found by this suite
        if _is_ready(process, f"http://{address}/-/ready"):
            return process, f"http://{address}"
        process.kill()
        process.wait()
    pytest.fail(f"Prometheus does not start: {(folder / 'prometheus.log').read_text()[-2000:]}")


def _is_ready(process: "subprocess.Popen[bytes]", url: str) -> bool:
    deadline = time.monotonic() + _READY_S
    while process.poll() is None and time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(url) as answer:  # noqa: S310  # our own loopback address
                if answer.status == 200:
                    return True
        except (urllib.error.URLError, ConnectionError):
            time.sleep(_POLL_S)
    return False
