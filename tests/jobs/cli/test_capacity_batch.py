"""capacity batch, as people type it."""

import json
from pathlib import Path

import pytest
import yaml

from forecaster.units import iso
from tests.jobs.cli.process import Ended, forecaster
from tests.jobs.world import NOW, daily_rpm, write_trace
from tests.loadtest_files import Step, write_vllm

STEPS = tuple(
    Step(rps=rps, served_rps=rps, ttft_s=0.2, e2e_s=0.2 + 199 * tpot_s)
    for rps, tpot_s in ((0.5, 0.021), (2.0, 0.025), (4.0, 0.033), (5.0, 0.06))
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workload whose load test was imported."""
    folder = tmp_path_factory.mktemp("batch")
    write_trace(folder / "load.csv", daily_rpm(days=1))
    pool = {"name": "gpu", "capacity": {"profile": "imported"}, "serving": {"max_batch": 64}}
    workload = {
        "name": "chat",
        "source": "trace",
        "signals": {"rpm": {"query": "value", "unit": "count"}},
        "pools": [{**pool, "targets": [{"type": "recording", "name": "chat"}]}],
    }
    document = {"sources": {"trace": {"type": "csv", "path": "load.csv"}}, "workloads": [workload]}
    (folder / "forecaster.yaml").write_text(yaml.safe_dump(document))
    write_vllm(folder / "runs", STEPS)
    done = forecaster(folder, "capacity", "import", "runs", "-w", "chat", "--slo", "e2e_p95=15s", "--now", iso(NOW))
    assert done.code == 0, done.err
    return folder


def batch(folder: Path, *arguments: str) -> Ended:
    return forecaster(folder, "capacity", "batch", "chat", *arguments, "--now", iso(NOW))


def test_the_frontier_is_shown_with_a_chart_and_what_carries_most(folder: Path) -> None:
    done = batch(folder)
    assert done.code == 0, done.err
    assert "carries most within the SLO" in done.out
    assert "@ carries most within the SLO  N now  o others" in done.out
    assert "chat/gpu: a step takes" in done.err
    assert "a wait only adds to P95" in done.err


def test_programs_get_every_setting_with_its_mark(folder: Path) -> None:
    done = batch(folder, "--json")
    rows = json.loads(done.out)
    assert [row["rpm"] for row in rows] == sorted(row["rpm"] for row in rows)
    (best,) = [row for row in rows if "carries most within the SLO" in (row["mark"] or "")]
    (now,) = [row for row in rows if "now" in (row["mark"] or "").split(", ")]
    assert best["e2e_p95_s"] <= 15
    assert (now["batch"], now["batch_wait_s"], now["utilisation_ratio"]) == (64, 0, pytest.approx(0.8))
    assert now["most_rpm"] == pytest.approx(now["rpm"] / 0.8)
    assert now["tokens_per_s"] == pytest.approx(now["rpm"] / 60 * 200)


def test_another_slo_moves_the_mark_and_a_wrong_one_is_refused(folder: Path) -> None:
    (best,) = [row for row in json.loads(batch(folder, "--slo", "e2e_p95=11s", "--json").out) if "SLO" in (row["mark"] or "")]
    assert best["e2e_p95_s"] <= 11
    refused = batch(folder, "--slo", "e2e=11s")
    assert (refused.code, "--slo knows no 'e2e'; did you mean e2e_p95?" in refused.err) == (2, True)


def test_without_a_profile_one_sentence_says_how_to_get_one(folder: Path, tmp_path: Path) -> None:
    for name in ("forecaster.yaml", "load.csv"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    done = batch(tmp_path)
    assert (done.code, done.out) == (1, "")
    assert "there is no frontier to tell: chat/gpu: it has no profile; run `forecaster capacity import FILE..." in done.err
