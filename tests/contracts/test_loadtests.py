"""What every format of load-test files promises: one table of load steps, written by each tool, is one capacity."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from connectors.loadtests.registry import FORMATS, read_profile
from connectors.loadtests.result_file import Mix
from forecaster.errors import LoadTestRejected
from forecaster.profile import Origin, Slo
from forecaster.profile_carried import Carried, carried
from tests.loadtest_files import (
    STEPS,
    Step,
    write_aibrix,
    write_aiperf,
    write_guidellm,
    write_inference_perf,
    write_llmperf,
    write_vllm,
)

SWEEPS: dict[str, Callable[[Path], list[Path]]] = {
    "vLLM bench serve": write_vllm,
    "GuideLLM": write_guidellm,
    "AIPerf": write_aiperf,
    "inference-perf": write_inference_perf,
    "LLMPerf": write_llmperf,
}
WRITERS = {**SWEEPS, "AIBrix profile": write_aibrix}
MIX = Mix(input_tokens=500, output_tokens=200)
TTFT, E2E = Slo(ttft_p95_s=1.0), Slo(e2e_p95_s=10.0)


def test_every_format_of_the_registry_is_in_this_suite() -> None:
    assert {each.name for each in FORMATS} == WRITERS.keys()


@pytest.mark.parametrize("tool", WRITERS)
def test_the_same_load_steps_are_the_same_capacity_whatever_tool_wrote_them(tool: str, tmp_path: Path) -> None:
    found = carried(read_profile(WRITERS[tool](tmp_path), MIX), E2E)
    assert isinstance(found, Carried)
    assert found.capacity.rpm == pytest.approx(594)
    assert found.capacity.concurrency == pytest.approx(9.9 * 4.5)
    assert found.capacity.tokens == pytest.approx(1_980 if tool in SWEEPS else 9.9 * 256)
    assert tool in found.capacity.source


@pytest.mark.parametrize("tool", WRITERS)
def test_a_folder_is_as_good_as_its_files_and_what_else_lies_there_is_passed_over(tool: str, tmp_path: Path) -> None:
    files = WRITERS[tool](tmp_path)
    (tmp_path / "inputs.json").write_text('{"data": []}')
    (tmp_path / "list.json").write_text("[1, 2]")
    (tmp_path / "config.yaml").write_text("a: 1")
    assert set(read_profile([tmp_path], MIX).points) == set(read_profile(files, MIX).points)


@pytest.mark.parametrize("tool", SWEEPS)
def test_latencies_are_seconds_and_errors_a_share_whatever_the_tool_writes(tool: str, tmp_path: Path) -> None:
    SWEEPS[tool](tmp_path)
    points = sorted(read_profile([tmp_path]).points, key=lambda point: point.achieved_rpm)
    assert [point.ttft.p95_s for point in points] == pytest.approx([2 * step.ttft_s for step in STEPS])
    assert [point.tpot.mean_s for point in points] == pytest.approx([step.tpot_s for step in STEPS])
    assert [point.e2e.p99_s for point in points] == pytest.approx([2.5 * step.e2e_s for step in STEPS])
    assert {point.error_ratio for point in points} == {0.0}
    assert {(point.input_tokens, point.output_tokens) for point in points} == {(500, 200)}


@pytest.mark.parametrize("tool", [name for name in SWEEPS if name != "LLMPerf"])
def test_a_step_with_more_than_one_error_in_a_hundred_holds_nothing(tool: str, tmp_path: Path) -> None:
    steps = (*STEPS[:2], Step(rps=10, served_rps=9.9, ttft_s=0.4, e2e_s=4.5, failed=20), STEPS[3])
    SWEEPS[tool](tmp_path, steps)  # type: ignore[call-arg]  # each writer takes steps
    found = carried(read_profile([tmp_path]), TTFT)
    assert isinstance(found, Carried)
    assert found.capacity.rpm == pytest.approx(480)


@pytest.mark.parametrize("tool", WRITERS)
def test_a_profile_tells_where_it_comes_from_and_when_it_was_measured_if_the_tool_does(tool: str, tmp_path: Path) -> None:
    profile = read_profile(WRITERS[tool](tmp_path), MIX)
    assert profile.origin is Origin.FILE
    assert (profile.measured_at is None) == (tool == "inference-perf")


@pytest.mark.parametrize("tool", WRITERS)
@pytest.mark.parametrize("cut", [0.2, 0.5, 0.9])
def test_a_file_that_is_cut_off_is_refused_by_name(tool: str, cut: float, tmp_path: Path) -> None:
    damaged = WRITERS[tool](tmp_path)[0]
    text = damaged.read_text()
    damaged.write_text(text[: int(cut * len(text))])
    with pytest.raises(LoadTestRejected, match=rf"{damaged.name} is no JSON"):
        read_profile([tmp_path], MIX)


@pytest.mark.parametrize("tool", WRITERS)
def test_any_single_field_that_is_gone_or_of_another_kind_is_told_in_one_sentence_or_does_not_matter(tool: str, tmp_path: Path) -> None:
    files = WRITERS[tool](tmp_path)
    for worse in _damaged(json.loads(files[0].read_text())):
        files[0].write_text(json.dumps(worse))
        assert "\n" not in _answer(files)


def _answer(files: list[Path]) -> str:
    try:
        return str(carried(read_profile(files, MIX), E2E))
    except LoadTestRejected as error:
        return str(error)


def _damaged(whole: Any) -> Iterator[Any]:
    """Every copy in which one value, however deep, is gone or another."""
    if isinstance(whole, dict):
        for key, value in whole.items():
            yield {k: v for k, v in whole.items() if k != key}
            yield from (whole | {key: worse} for worse in _damaged(value))
    elif isinstance(whole, list):
        yield from ([worse, *whole[1:]] for worse in _damaged(whole[0]))
    yield from (None, "x", -1.5, 0, 1e30, 10**400, [[]], {"a": 1})


def test_files_of_two_tools_are_no_one_sweep(tmp_path: Path) -> None:
    with pytest.raises(LoadTestRejected, match=r"several tools \(vLLM bench serve, LLMPerf\)"):
        read_profile([*write_vllm(tmp_path), *write_llmperf(tmp_path)])


def test_a_file_of_no_known_tool_names_those_that_are(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"rps": 3}')
    with pytest.raises(LoadTestRejected, match=r"a.json is no result of a known tool, which are vLLM bench serve, GuideLLM"):
        read_profile([tmp_path / "a.json"])
    with pytest.raises(LoadTestRejected, match=r"holds no result of"):
        read_profile([tmp_path])
    with pytest.raises(LoadTestRejected, match=r"gone.json cannot be read: No such file"):
        read_profile([tmp_path / "gone.json"])
