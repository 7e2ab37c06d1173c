"""AIPerf as a command: every request arrives as it is scheduled, and a generator that fails says why in one sentence."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from connectors.loadgen.aiperf import AiPerf, found
from connectors.loadgen.endpoint import Served
from connectors.loadgen.prompts import prompt
from forecaster.errors import LoadTestFailed
from forecaster.load_step import behind, measured
from forecaster.request_log import Schedule
from tests.load_generator import load_generator
from tests.openai_replica import Replica

SCHEDULE = Schedule(
    rate_rpm=600,
    warm_up=8,
    at_s=np.linspace(0, 3.9, 40),
    input_tokens=np.tile([10.0, 30.0], 20),
    output_tokens=np.tile([8.0, 24.0], 20),
)
NOWHERE = Served(url="http://127.0.0.1:9", model="m")


def script(folder: Path, text: str) -> AiPerf:
    """A command that does something else than AIPerf."""
    program = folder / "aiperf"
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    return AiPerf(program=program, rng=np.random.default_rng(1))


def test_every_request_arrives_in_time_with_its_lengths_and_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    generator = AiPerf(program=load_generator(), rng=np.random.default_rng(1))
    with Replica(slots=8, service_s=0.2, key="sk-secret", fails_every=20) as replica:
        served = Served(url=replica.url, model="llama-8b", key="sk-secret", key_variable="REPLICA_KEY")
        answers = generator.sent(SCHEDULE, served, timeout_s=60)
    assert sorted(answers) == list(range(40))
    assert behind(SCHEDULE, answers) == 0
    assert {answer.failure for answer in answers.values() if answer.failure} != set()
    assert all("out of memory" in answer.failure for answer in answers.values() if answer.failure)
    assert [request["max_completion_tokens"] for request in replica.asked] == SCHEDULE.output_tokens.tolist()
    assert all(request["ignore_eos"] for request in replica.asked)
    point = measured(SCHEDULE, answers)
    assert point is not None
    assert point.error_ratio == pytest.approx(2 / 32)
    assert point.input_tokens == pytest.approx(20, abs=2)
    assert point.e2e.p50_s == pytest.approx(0.2, abs=0.1)


def test_one_that_does_not_stream_and_knows_older_names_only_is_measured_end_to_end() -> None:
    generator = AiPerf(program=load_generator(), rng=np.random.default_rng(1))
    with Replica(slots=8, service_s=0.2, answers="whole", length_field="max_tokens") as replica:
        served = Served(url=replica.url, model="llama-8b", takes_ignore_eos=False, length_field="max_tokens", streams=False)
        answers = generator.sent(SCHEDULE, served, timeout_s=60)
    assert {request["max_tokens"] for request in replica.asked} == {8, 24}
    point = measured(SCHEDULE, answers)
    assert point is not None
    assert (point.ttft.p95_s, point.error_ratio) == (None, 0)
    assert point.output_tokens == pytest.approx(16)
    assert point.e2e.p50_s == pytest.approx(0.2, abs=0.1)


def test_a_command_that_is_not_there_is_told_with_the_remedy() -> None:
    with pytest.raises(LoadTestFailed, match=r"the load generator no-such-aiperf is not there: install it .* `pipx install aiperf`"):
        found("no-such-aiperf")


def test_a_command_is_found_by_its_path(tmp_path: Path) -> None:
    program = script(tmp_path, "exit 0").program
    assert found(str(program)) == program


def test_a_generator_that_fails_says_why(tmp_path: Path) -> None:
    generator = script(tmp_path, 'echo "12:00:01 ERROR    No such dataset (loader.py:12)" >&2; echo "------"; exit 3')
    with pytest.raises(LoadTestFailed, match=r"aiperf ended with code 3: No such dataset$"):
        generator.sent(SCHEDULE, NOWHERE, timeout_s=1)


def test_one_that_never_ends_is_ended_and_told(tmp_path: Path) -> None:
    generator = replace(script(tmp_path, "echo waiting for workers; exec sleep 600"), beside_s=0.1)
    at_once = replace(SCHEDULE, at_s=SCHEDULE.at_s / 100)
    with pytest.raises(LoadTestFailed, match=r"did not end within 1 s: (waiting for workers|it said nothing)"):
        generator.sent(at_once, NOWHERE, timeout_s=1)


def test_one_that_writes_no_records_is_told(tmp_path: Path) -> None:
    with pytest.raises(LoadTestFailed, match=r"wrote no profile_export\.jsonl: is it AIPerf 0.13 or newer"):
        script(tmp_path, "exit 0").sent(SCHEDULE, NOWHERE, timeout_s=1)


def test_one_that_writes_others_is_told(tmp_path: Path) -> None:
    generator = script(tmp_path, """mkdir out; echo '{"metadata": {}}' > out/profile_export.jsonl""")
    with pytest.raises(LoadTestFailed, match=r"profile_export\.jsonl of the load generator is not known"):
        generator.sent(SCHEDULE, NOWHERE, timeout_s=1)


def test_one_that_is_no_program_is_told(tmp_path: Path) -> None:
    generator = script(tmp_path, "")
    generator.program.write_text("not a program")
    with pytest.raises(LoadTestFailed, match="cannot be started"):
        generator.sent(SCHEDULE, NOWHERE, timeout_s=1)


def test_an_interruption_leaves_none_of_its_processes_behind(tmp_path: Path) -> None:
    fifo = tmp_path / "held"
    os.mkfifo(fifo)
    generator = script(tmp_path, f"sleep 600 > {fifo} & wait")
    running = subprocess.Popen(  # noqa: S603 - our own code
        [sys.executable, "-c", _DRIVING, str(generator.program)], cwd=Path(__file__).parents[3], stderr=subprocess.PIPE, text=True
    )
    with fifo.open("rb") as held:  # once the grandchild has opened it
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
        assert "KeyboardInterrupt" in said
        assert held.read() == b""  # once nobody holds it any more


_DRIVING = """
import sys
from dataclasses import replace
from pathlib import Path
import numpy as np
from tests.connectors.loadgen.test_aiperf import NOWHERE, SCHEDULE
from connectors.loadgen.aiperf import AiPerf
AiPerf(program=Path(sys.argv[1]), rng=np.random.default_rng(1)).sent(SCHEDULE, NOWHERE, timeout_s=1)
"""


def test_a_prompt_has_as_many_words_as_tokens_and_no_two_begin_alike() -> None:
    rng = np.random.default_rng(1)
    first, second = prompt(500, rng), prompt(500, rng)
    assert (len(first.split()), len(second.split())) == (500, 500)
    assert first.split()[:8] != second.split()[:8]
