"""capacity replay, as people type it: AIPerf against a replica of known capacity, and what is said where it cannot be."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from tests.jobs.cli.process import Ended, forecaster
from tests.jobs.world import daily_rpm, write_trace
from tests.load_generator import load_generator
from tests.openai_replica import Replica
from tests.services import free_port

ROOT = Path(__file__).parents[3]
SLO = "e2e_p95=1.2s"


def write_world(folder: Path, section: Mapping[str, Any]) -> None:
    """A workload that follows the best capacity there is, and a log of 2,000 requests."""
    write_trace(folder / "load.csv", daily_rpm(days=3))
    chat = {
        "name": "chat",
        "source": "trace",
        "signals": {"rpm": {"query": "value", "unit": "count"}},
        "pools": [
            {
                "name": "gpu",
                "capacity": {"profile": "best"},
                "serving": {"engine": "vllm", "engine_version": "0.9.1", "tensor_parallelism": 2},
                "targets": [{"type": "recording", "name": "chat"}],
            }
        ],
    }
    config = {"sources": {"trace": {"type": "csv", "path": "load.csv"}}, "workloads": [chat], "replay": dict(section)}
    (folder / "forecaster.yaml").write_text(yaml.safe_dump(config))
    rng = np.random.default_rng(1)
    arrived_s = rng.uniform(0.5, 1.5, 2_000).cumsum() / 5
    rows = (f"{at_s:.3f},{int(rng.integers(10, 50))},{int(rng.integers(5, 20))}" for at_s in arrived_s)
    (folder / "requests.csv").write_text("timestamp,input_tokens,output_tokens\n" + "\n".join(rows) + "\n")


def replayed(folder: Path, url: str, *arguments: str, trace: str = "requests.csv") -> Ended:
    words = ("capacity", "replay", "--endpoint", url, "--trace", trace, "-w", "chat", *arguments)
    return forecaster(folder, *words, timeout_s=280, OPENAI_API_KEY="sk-secret")


def script(folder: Path, text: str) -> str:
    program = folder / "generator"
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    return str(program)


def test_the_knee_of_a_replica_of_known_capacity_is_found_within_five_percent_and_kept(tmp_path: Path) -> None:
    with Replica(slots=8, service_s=0.4, key="sk-secret") as replica:
        bounds = {"first_rpm": 0.9 * replica.capacity_rpm, "most_rpm": 1.12 * replica.capacity_rpm}
        write_world(tmp_path, {"command": str(load_generator()), "step": "6s", **bounds})
        done = replayed(tmp_path, replica.url, "--slo", SLO)
    assert done.code == 0, done.err
    shown = forecaster(tmp_path, "capacity", "show", "chat", "--json")
    assert shown.code == 0, shown.err
    (row,) = [row for row in json.loads(shown.out) if row["in_use"]]
    assert row["rpm"] == pytest.approx(replica.capacity_rpm, rel=0.05)
    assert (row["origin"], row["source"], row["stale"]) == ("replay", "replay of requests.csv", None)
    steps = [line for line in done.err.splitlines() if line.startswith("step ")]
    assert len(steps) >= 3
    assert {line.index(" rpm") for line in steps} == {line.index(" rpm") for line in steps[:1]}
    assert "sk-secret" not in done.err + done.out
    assert "capacity show chat" in done.err


def test_a_generator_that_is_not_there_is_told_with_the_remedy(tmp_path: Path) -> None:
    write_world(tmp_path, {"command": "no-such-aiperf"})
    done = replayed(tmp_path, "http://127.0.0.1:9", "--slo", SLO)
    assert done.code == 1
    assert done.err.startswith("forecaster: the load generator no-such-aiperf is not there: install it")


def test_an_endpoint_that_is_not_there_is_told(tmp_path: Path) -> None:
    write_world(tmp_path, {"command": script(tmp_path, "exit 0")})
    done = replayed(tmp_path, f"http://127.0.0.1:{free_port()}", "--slo", SLO)
    assert (done.code, "does not answer" in done.err) == (1, True)


def test_a_log_that_is_none_is_told(tmp_path: Path) -> None:
    write_world(tmp_path, {"command": script(tmp_path, "exit 0")})
    done = replayed(tmp_path, "http://127.0.0.1:9", "--slo", SLO, trace="load.csv")
    assert done.code == 1
    assert done.err == (
        "forecaster: load.csv: there is no column input_tokens; it has timestamp, value: a request log has "
        "timestamp,input_tokens,output_tokens\n"
    )


def test_without_an_slo_nothing_is_sent(tmp_path: Path) -> None:
    write_world(tmp_path, {})
    done = replayed(tmp_path, "http://127.0.0.1:9")
    assert (done.code, "a capacity is that within an SLO" in done.err) == (2, True)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_keeps_nothing_and_says_so(tmp_path: Path, end: signal.Signals) -> None:
    fifo = tmp_path / "held"
    os.mkfifo(fifo)
    write_world(tmp_path, {"command": script(tmp_path, f"exec sleep 600 > {fifo}")})
    with Replica(service_s=0.01) as replica:
        arguments = ("capacity", "replay", "--endpoint", replica.url, "--trace", "requests.csv", "-w", "chat", "--slo", SLO)
        running = subprocess.Popen(  # noqa: S603 - our own command
            [sys.executable, "-c", "from jobs.cli.main import run; run()", *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        )
        with fifo.open("rb") as held:  # once the generator runs
            running.send_signal(end)
            _, said = running.communicate(timeout=60)
            assert held.read() == b""  # the generator has ended too
    assert running.returncode == 130
    assert said.splitlines()[-1] == "interrupted: nothing was kept"
    shown = forecaster(tmp_path, "capacity", "show", "chat", "--json")
    assert [row["origin"] for row in json.loads(shown.out) if row["rpm"] is not None] == []
