"""capacity import and show, as people type them."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from forecaster.units import iso
from tests.jobs.cli.process import Ended, forecaster
from tests.jobs.world import NOW, daily_rpm, write_trace
from tests.loadtest_files import STEPS, write_aibrix, write_vllm

SLO = ("--slo", "ttft_p95=1s,e2e_p95=10s")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workload with an imported capacity, and one with figures of its own."""
    write_trace(tmp_path / "load.csv", daily_rpm(days=3))
    pools = {"chat": {"profile": "imported"}, "embed": {"rpm": 300}}
    workloads = [
        {
            "name": name,
            "source": "trace",
            "signals": {"rpm": {"query": "value", "unit": "count"}},
            "pools": [{"name": "gpu", "capacity": capacity, "targets": [{"type": "recording", "name": name}]}],
        }
        for name, capacity in pools.items()
    ]
    (tmp_path / "forecaster.yaml").write_text(
        yaml.safe_dump({"sources": {"trace": {"type": "csv", "path": "load.csv"}}, "workloads": workloads})
    )
    write_vllm(tmp_path / "runs")
    return tmp_path


def capacity(folder: Path, *arguments: str) -> Ended:
    return forecaster(folder, "capacity", *arguments, "--now", iso(NOW))


def shown(folder: Path, *arguments: str) -> list[dict[str, Any]]:
    done = capacity(folder, "show", *arguments, "--json")
    assert done.code == 0, done.err
    rows: list[dict[str, Any]] = json.loads(done.out)
    return rows


def test_an_import_is_shown_kept_and_in_use(folder: Path) -> None:
    done = capacity(folder, "import", "runs", "-w", "chat", *SLO)
    assert (done.code, "594" in done.out) == (0, True), done.err
    assert "the next step, 660 rpm, broke: P95 TTFT 1.6 s is above 1 s" in done.err
    assert "rate binds: add replicas (memory: the KV tokens of a replica are not told)" in done.err
    assert "floors of chat/gpu follow it from the next plan on" in done.err
    (row,) = shown(folder, "chat")
    assert (row["rpm"], row["concurrency"], row["tokens_per_s"]) == pytest.approx((594, 44.55, 1_980))
    assert (row["source"], row["measured_at"]) == ("vLLM bench serve vllm-0.json and 3 more", "2026-02-20T09:00:00Z")
    assert (row["binds"], row["stale"], row["confidence"], row["origin"], row["in_use"]) == ("rate", None, "high", "file", True)


def test_memory_binds_where_the_setup_says_how_much_there_is(folder: Path) -> None:
    done = capacity(folder, "import", "runs", "-w", "chat", *SLO, "--setup", "kv_tokens=20000,precision=fp16")
    assert "memory binds: add KV memory or quantise" in done.err
    (row,) = shown(folder, "chat")
    assert row["binds"] == "memory"
    assert row["concurrency"] == pytest.approx(row["memory_in_flight"]) == pytest.approx(20_000 / (700 + 2 * 12_500**0.5))


def test_a_pool_with_figures_of_its_own_keeps_them_and_is_told_of_the_contradiction(folder: Path) -> None:
    done = capacity(folder, "import", "runs", "-w", "embed", *SLO)
    assert "kept, and not in use by embed/gpu: figures in the configuration win" in done.err
    used, beside = shown(folder, "embed")
    assert (used["origin"], used["in_use"], used["rpm"], used["why_not"]) == ("configured", True, 300, None)
    assert (beside["origin"], beside["in_use"], beside["rpm"]) == ("file", False, pytest.approx(594))
    assert beside["why_not"] == "figures in the configuration win"
    told = capacity(folder, "show", "embed").err
    assert "the configured figures hold, and the profile contradicts them: 300 requests/min configured, 594 measured" in told
    assert "embed/gpu: the load test: rate binds: add replicas" in told


def test_the_slo_of_the_last_import_holds_until_another_is_said(folder: Path) -> None:
    first = capacity(folder, "import", "runs", "-w", "chat")
    assert (first.code, "--slo ttft_p95=1s,e2e_p95=10s" in first.err) == (2, True)
    capacity(folder, "import", "runs", "-w", "chat", "--slo", "ttft_p95=600ms")
    again = forecaster(folder, "capacity", "import", "runs", "-w", "chat", "--now", "2026-03-02T08:00:00Z")
    assert again.code == 0
    assert "within P95 TTFT 0.6 s" in again.err


def test_files_that_prove_nothing_are_refused_and_nothing_is_kept(folder: Path) -> None:
    for files, said in [
        (["runs/vllm-0.json"], "one load step shows no knee"),
        (
            ["runs/vllm-0.json", "runs/vllm-1.json"],
            "the sweep never broke the SLO: at least 480 rpm; go on to larger loads; nothing was kept",
        ),
        (["nowhere.json"], "nowhere.json cannot be read"),
        ([str(write_vllm(folder / "bare", STEPS[:1], p95_ttft_ms=None)[0])], "--metric-percentiles 50,95,99"),
    ]:
        done = capacity(folder, "import", *files, "-w", "chat", *SLO)
        assert (done.code, said in done.err) == (1, True), done.err
        assert "Traceback" not in done.err
    assert shown(folder, "chat")[0]["rpm"] is None


def test_every_source_is_shown_beside_the_one_in_use_with_why_it_is_not(folder: Path) -> None:
    path = folder / "forecaster.yaml"
    document = yaml.safe_load(path.read_text())
    estimate = {"output_tokens_per_s": 30, "coefficient": 0.1, "input_tokens": 500, "output_tokens": 200}
    document["workloads"][0]["pools"][0] |= {"capacity": {"profile": "best", "estimate": estimate}, "serving": {"max_batch": 16}}
    path.write_text(yaml.safe_dump(document))
    (alone,) = shown(folder, "chat")
    assert (alone["origin"], alone["in_use"], alone["rpm"], alone["confidence"]) == ("estimate", True, pytest.approx(115.2), "low")
    assert "confidence low: a rule of thumb, which nobody measured" in capacity(folder, "show", "chat").err
    assert "follow it from the next plan on" in capacity(folder, "import", "runs", "-w", "chat", *SLO).err
    used, beside = shown(folder, "chat")
    assert (used["origin"], used["in_use"], used["confidence"]) == ("file", True, "high")
    assert (beside["origin"], beside["in_use"], beside["why_not"]) == ("estimate", False, "the load test goes before it")


def test_a_pool_of_which_nothing_is_known_says_how_to_tell(folder: Path) -> None:
    (row,) = shown(folder, "chat")
    assert (row["origin"], row["in_use"], row["rpm"]) == (None, False, None)
    assert (
        row["why_not"] == "it is held where it is: no profile is known: run `forecaster capacity import FILE... --workload chat --pool gpu`"
    )


def test_a_variant_of_which_nothing_is_known_is_not_said_to_be_held_since_it_never_runs(folder: Path) -> None:
    path = folder / "forecaster.yaml"
    document = yaml.safe_load(path.read_text())
    document["workloads"][0]["variants"] = [{"name": "int8"}]
    path.write_text(yaml.safe_dump(document))
    (_, variant) = shown(folder, "chat")
    assert variant["why_not"] == "no profile is known: run `forecaster capacity import FILE... --workload chat --pool int8`"


def test_an_age_of_hours_to_come_is_of_today_and_one_of_days_is_to_come(folder: Path) -> None:
    for now, age in (("2026-02-20T02:00:00Z", " 0 d "), ("2026-02-10T02:00:00Z", " to come ")):
        done = forecaster(folder, "capacity", "import", "runs", "-w", "chat", *SLO, "--now", now)
        assert (done.code, age in done.out) == (0, True), done.out


def test_doubts_are_one_sentence_the_gravest_first(folder: Path) -> None:
    write_vllm(folder / "wide", [STEPS[0], STEPS[3]])
    late = forecaster(folder, "capacity", "import", "wide", "-w", "chat", *SLO, "--now", "2026-08-01T00:00:00Z")
    assert "confidence low: the next step was 120% above; measured 162 days ago\n" in late.err
    assert " load test " in late.out


def test_a_source_that_contradicts_the_slo_of_its_pool_says_that_it_is_held(folder: Path) -> None:
    path = folder / "forecaster.yaml"
    document = yaml.safe_load(path.read_text())
    document["workloads"][0]["pools"][0]["slo"] = {"wait_p95": "1s", "service": "1m"}
    path.write_text(yaml.safe_dump(document))
    capacity(folder, "import", "runs", "-w", "chat", *SLO)
    told = capacity(folder, "show", "chat").err
    assert "chat/gpu: no capacity: it is held where it is: what is known contradicts its slo: mend slo.service, or measure again" in told


def test_a_pool_that_is_always_on_needs_no_capacity(folder: Path) -> None:
    path = folder / "forecaster.yaml"
    document = yaml.safe_load(path.read_text())
    document["workloads"][0]["pools"][0] |= {"capacity": {}, "always_on": 4}
    path.write_text(yaml.safe_dump(document))
    (row,) = shown(folder, "chat")
    assert row["why_not"] == "it holds 4 replicas whatever the load, and needs none"


def test_a_grid_needs_a_typical_request(folder: Path) -> None:
    (grid,) = write_aibrix(folder)
    assert "say yours with --setup" in capacity(folder, "import", str(grid), "-w", "chat").err
    done = capacity(folder, "import", str(grid), "-w", "chat", "--setup", "input_tokens=500,output_tokens=200")
    assert done.code == 0, done.err
    assert shown(folder, "chat")[0]["rpm"] == pytest.approx(594)


@pytest.mark.parametrize(
    ("option", "text", "said"),
    [
        ("--slo", "ttft_p95=1", "ttft_p95 needs a unit, such as 500ms or 1.5s"),
        ("--slo", "ttft_p95=-1s", "ttft_p95 is a time such as 500ms or 1.5s, got '-1s'"),
        ("--slo", "ttft=1s", "knows no 'ttft'; did you mean ttft_p95?"),
        ("--slo", "ttft_p95", "is written NAME=VALUE"),
        ("--slo", "ttft_p95=1s,ttft_p95=2s", "says ttft_p95 twice"),
        ("--slo", "ttft_p95=0s", "above 0 seconds"),
        ("--setup", "tensor_parallelism=1.5", "must be a whole number"),
        ("--setup", "kv_tokens=many", "kv_tokens must be a number"),
        ("--setup", "model=other", "--setup says otherwise than the files (model was llama-8b and is other)"),
        ("--setup", "input_tokens=5", "a typical request has both"),
        ("--setup", "input_tokens=0,output_tokens=200", "input_tokens must be above 0, got 0"),
        ("--pool", "cpu", "there is no pool 'cpu'; chat has: gpu"),
    ],
)
def test_what_is_said_wrongly_is_refused_with_the_part_that_is_wrong(folder: Path, option: str, text: str, said: str) -> None:
    done = capacity(folder, "import", "runs", "-w", "chat", option, text)
    assert (done.code, said in done.err) == (2, True), done.err


def test_the_load_is_shown_by_window_and_a_peak_second_is_never_made_up(folder: Path) -> None:
    assert forecaster(folder, "fetch", "--now", iso(NOW)).code == 0
    rows = shown(folder, "chat", "--load")
    assert [row["window_s"] for row in rows] == [900, 3_600, 86_400]
    assert all(row["qps"] == pytest.approx(row["rpm"] / 60) for row in rows)
    assert all(row["largest_minute_rpm"] >= row["rpm"] for row in rows)
    unknown = ("peak_second_qps", "streams", "tokens_in_per_s", "latency_mean_s", "latency_p95_s", "latency_p99_s")
    assert all(row[name] is None for row in rows for name in unknown)
    assert "not resolvable at this scrape interval (300 s)" in capacity(folder, "show", "chat", "--load").out


def test_variants_are_compared_beside_what_runs(folder: Path) -> None:
    path = folder / "forecaster.yaml"
    document = yaml.safe_load(path.read_text())
    document |= {"prices": {"currency": "EUR", "gpu_hour": 4}, "forecast": {"model": "seasonal_naive"}}
    big = {"name": "big", "capacity": {"rpm": 300}, "gpu_hour": 6, "task": {"calls": 2}}
    document["workloads"][1] |= {"task": {"calls": 4}, "variants": [{"name": "int8", "serving": {"precision": "int8"}, "gpu_hour": 3}, big]}
    path.write_text(yaml.safe_dump(document))
    done = capacity(folder, "import", "runs", "-w", "embed", "--pool", "int8", *SLO)
    assert "kept: `forecaster capacity compare embed` plans tomorrow with it" in done.err, done.err
    assert [(row["pool"], row["in_use"]) for row in shown(folder, "embed")] == [(name, True) for name in ("gpu", "int8", "big")]
    assert forecaster(folder, "forecast", "--now", iso(NOW)).code in {0, 3}
    compared = capacity(folder, "compare", "embed", "--json")
    assert compared.code == 0, compared.err
    now, int8, big = json.loads(compared.out)
    assert (now["variant"], int8["variant"]) == ("gpu", "int8")
    assert int8["capacity_rpm"] == pytest.approx(594)
    assert int8["cost"] == pytest.approx(3 * int8["gpu_hours"])
    assert int8["cost"] < now["cost"]
    assert (now["calls_a_task"], int8["calls_a_task"], big["calls_a_task"]) == (4, 4, 2)
    assert big["cost"] == pytest.approx(1.5 * now["cost"])
    assert big["cost_per_task"] == pytest.approx(0.75 * now["cost_per_task"])
    assert "no workload has `variants`" in capacity(folder, "compare", "chat").out
