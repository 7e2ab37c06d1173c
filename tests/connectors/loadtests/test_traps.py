"""What result files get wrong: units, percentiles that are not there, versions, loads that are none. One sentence each, nothing guessed."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from connectors.loadtests.registry import read_profile
from connectors.loadtests.result_file import Mix
from forecaster.errors import LoadTestRejected
from forecaster.profile import Slo
from forecaster.profile_carried import Carried, carried
from tests.loadtest_files import (
    STEPS,
    vllm_run,
    write_aibrix,
    write_aiperf,
    write_guidellm,
    write_inference_perf,
    write_llmperf,
    write_vllm,
)

MIX = Mix(input_tokens=500, output_tokens=200)


def rewritten(path: Path, change: dict[str, Any]) -> list[Path]:
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    return [path]


def test_vllm_without_p95_says_how_to_run_it(tmp_path: Path) -> None:
    files = write_vllm(tmp_path, p95_ttft_ms=None)
    with pytest.raises(LoadTestRejected, match=r"vllm-0.json: p95_ttft_ms is missing: run with .*--metric-percentiles 50,95,99$"):
        read_profile(files)


def test_seconds_for_milliseconds_are_refused(tmp_path: Path) -> None:
    run = vllm_run(STEPS[0])
    in_seconds = {key: value / 1e3 for key, value in run.items() if key.endswith("_ms")}
    with pytest.raises(LoadTestRejected, match=r"TTFT of 0.0002 s is not plausible .* seconds and milliseconds are mixed up"):
        read_profile(write_vllm(tmp_path, **in_seconds))


def test_one_latency_in_seconds_among_milliseconds_is_refused(tmp_path: Path) -> None:
    run = vllm_run(STEPS[0])
    in_seconds = {key: value / 1e3 for key, value in run.items() if key.endswith("_e2el_ms")}
    with pytest.raises(LoadTestRejected, match=r"requests of 0.004 s do not fit TTFT and TPOT"):
        read_profile(write_vllm(tmp_path, **in_seconds))


def test_milliseconds_for_seconds_are_refused(tmp_path: Path) -> None:
    first = write_inference_perf(tmp_path)[0]
    data = json.loads(first.read_text())
    for latencies in data["successes"]["latency"].values():
        latencies.update({key: 1e3 * value for key, value in latencies.items()})
    first.write_text(json.dumps(data))
    with pytest.raises(LoadTestRejected, match=r"TPOT of 19.1 s is not plausible"):
        read_profile([tmp_path])


def test_a_rate_a_minute_where_one_a_second_belongs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LoadTestRejected, match="request_throughput is 300, and completed over duration 5 a second: one is in another unit"):
        read_profile(write_vllm(tmp_path, STEPS[:1], request_throughput=300.0))


def test_a_rate_a_second_where_one_a_minute_belongs_is_refused(tmp_path: Path) -> None:
    files = write_llmperf(tmp_path, STEPS[:1], results_num_completed_requests_per_min=5.0)
    with pytest.raises(LoadTestRejected, match="a rate a second is taken for one a minute"):
        read_profile(files)


def test_a_rate_that_does_not_fit_what_was_in_flight_is_refused(tmp_path: Path) -> None:
    (report,) = write_guidellm(tmp_path)
    data = json.loads(report.read_text())
    data["benchmarks"][0]["metrics"]["requests_per_second"]["successful"]["mean"] /= 60
    report.write_text(json.dumps(data))
    with pytest.raises(LoadTestRejected, match=r"benchmark 1: 20 in flight do not fit 5 rpm of 4 s each"):
        read_profile([report])


def test_more_served_than_was_sent_is_refused(tmp_path: Path) -> None:
    for files in (
        write_aiperf(tmp_path, STEPS[:1], request_throughput={"unit": "requests/sec", "avg": 300.0}),
        write_inference_perf(tmp_path, [replace(STEPS[0], served_rps=300)]),
    ):
        with pytest.raises(LoadTestRejected, match="18000 rpm were served of 300 sent: a rate a minute is taken for one a second"):
            read_profile(files)


def test_a_latency_of_zero_was_not_measured(tmp_path: Path) -> None:
    nothing: dict[str, Any] = {f"{statistic}_ttft_ms": 0.0 for statistic in ("mean", "median", "p50", "p95", "p99")}
    profile = read_profile(write_vllm(tmp_path, **nothing))
    assert carried(profile, Slo(ttft_p95_s=1)) == "P95 of TTFT is missing at 300 rpm"
    assert isinstance(carried(profile, Slo(e2e_p95_s=10)), Carried)


def test_a_damaged_file_is_told_with_its_folder_since_those_of_a_sweep_bear_one_name(tmp_path: Path) -> None:
    files = write_aiperf(tmp_path)
    files[2].write_text("")
    with pytest.raises(LoadTestRejected, match=r"run-2/profile_export_aiperf.json is no JSON"):
        read_profile([tmp_path])


def test_a_file_that_begins_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    files = write_vllm(tmp_path)
    for path in files:
        path.write_text(path.read_text(), encoding="utf-8-sig")
    assert len(read_profile([tmp_path]).points) == len(STEPS)


def test_text_where_a_number_belongs_is_quoted(tmp_path: Path) -> None:
    with pytest.raises(LoadTestRejected, match=r"request_throughput must be a finite number, got '5'"):
        read_profile(write_vllm(tmp_path, STEPS[:1], request_throughput="5"))


def test_nanoseconds_for_seconds_since_1970_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LoadTestRejected, match="is not in seconds since 1970"):
        read_profile(write_llmperf(tmp_path, timestamp=1_771_578_000_000_000_000))


@pytest.mark.parametrize(("unit", "factor"), [("s", 1e-3), ("us", 1e3), ("ns", 1e6), ("ms", 1)])
def test_aiperf_tells_the_unit_of_each_metric_and_it_is_believed(unit: str, factor: float, tmp_path: Path) -> None:
    (first,) = write_aiperf(tmp_path, STEPS[:1])
    told = json.loads(first.read_text())["request_latency"]
    scaled = {key: value * factor for key, value in told.items() if key != "unit"}
    (point,) = read_profile(rewritten(first, {"request_latency": {"unit": unit, **scaled}})).points
    assert point.e2e.mean_s == pytest.approx(4)
    with pytest.raises(LoadTestRejected, match="request_latency is in fortnights, and s, sec, seconds, ms, us, ns are known"):
        read_profile(rewritten(first, {"request_latency": {**told, "unit": "fortnights"}}))


def test_a_version_that_is_not_known_is_refused_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(LoadTestRejected, match="version 9, and 1 and 2 are known"):
        read_profile(write_guidellm(tmp_path, version=9))
    with pytest.raises(LoadTestRejected, match=r"schema 2.0, and 1.x is known"):
        read_profile(write_aiperf(tmp_path, schema_version="2.0"))
    with pytest.raises(LoadTestRejected, match="version 2031-01-01, and 2023-08-31 is known"):
        read_profile(write_llmperf(tmp_path, version="2031-01-01"))
    assert len(read_profile(write_guidellm(tmp_path, version=None)).points) == 4


def test_what_is_no_steady_load_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LoadTestRejected, match="every request was sent at once"):
        read_profile(write_vllm(tmp_path, request_rate="inf"))
    with pytest.raises(LoadTestRejected, match="ramped up"):
        read_profile(write_vllm(tmp_path, ramp_up_strategy="linear"))
    with pytest.raises(LoadTestRejected, match="cancelled"):
        read_profile(write_aiperf(tmp_path, was_cancelled=True))
    with pytest.raises(LoadTestRejected, match="neither a request rate nor a concurrency"):
        read_profile(write_aiperf(tmp_path, input_config={}))
    with pytest.raises(LoadTestRejected, match="several models"):
        read_profile([*write_vllm(tmp_path, STEPS[:1]), rewritten(write_vllm(tmp_path / "b", STEPS[1:2])[0], {"model_id": "other"})[0]])


def test_a_closed_loop_is_ordered_by_its_clients_and_named_as_such(tmp_path: Path) -> None:
    files = [rewritten(path, {"request_rate": "inf", "max_concurrency": 2 ** (i + 4)})[0] for i, path in enumerate(write_vllm(tmp_path))]
    profile = read_profile(files)
    found = carried(profile, Slo(ttft_p95_s=1))
    assert profile.is_closed_loop
    assert isinstance(found, Carried)
    assert found.knee.clients == 64


def test_aiperf_tells_its_load_by_phases_in_newer_files_and_warm_up_is_not_measured(tmp_path: Path) -> None:
    phases = [{"name": "warmup", "concurrency": 1}, {"name": "profiling", "rate": 5.0}]
    (point,) = read_profile(write_aiperf(tmp_path, STEPS[:1], input_config={"phases": phases})).points
    assert point.offered_rpm == 300


def test_a_summary_of_all_stages_shows_no_knee(tmp_path: Path) -> None:
    summary = write_inference_perf(tmp_path)[-1]
    with pytest.raises(LoadTestRejected, match=r"give the stage_N_lifecycle_metrics.json files, or their folder"):
        read_profile([summary])


def test_a_grid_needs_the_length_of_a_request_and_an_slo_at_p95_or_beyond(tmp_path: Path) -> None:
    with pytest.raises(LoadTestRejected, match="say yours with --setup input_tokens=N,output_tokens=N"):
        read_profile(write_aibrix(tmp_path))
    with pytest.raises(LoadTestRejected, match="keeps its SLO at P90, which says nothing of P95: make it with --percentile 99"):
        read_profile(write_aibrix(tmp_path, slos={"percentile": 90, "e2e": 10.0}), MIX)
    with pytest.raises(LoadTestRejected, match="at the mean"):
        read_profile(write_aibrix(tmp_path, slos={"percentile": 0, "e2e": 10.0}), MIX)
    with pytest.raises(LoadTestRejected, match="the grid ends at 1024 input tokens, below 2000"):
        read_profile(write_aibrix(tmp_path), Mix(input_tokens=2_000, output_tokens=200))
    with pytest.raises(LoadTestRejected, match="no rate kept its SLO at 1024 input and 256 output tokens"):
        read_profile(write_aibrix(tmp_path), Mix(input_tokens=1_000, output_tokens=200))
    found = carried(read_profile(write_aibrix(tmp_path), MIX), Slo(e2e_p95_s=5))
    assert found == "it was made for P95 E2E 10 s, which does not prove P95 E2E 5 s: make it for that SLO"


def test_lengths_of_requests_give_their_spread_where_they_were_saved(tmp_path: Path) -> None:
    (point,) = read_profile(write_vllm(tmp_path, STEPS[:1])).points
    assert (point.input_std, point.output_std) == (100, 50)
    (bare,) = read_profile(write_vllm(tmp_path, STEPS[:1], input_lens=None, output_lens=None)).points
    assert (bare.input_std, bare.output_std) == (None, None)
