"""A pool's promise about waits: absent by default, and refused in one sentence where no load can meet it."""

from pathlib import Path

import pytest

from forecaster.queueing import WaitSlo
from jobs.config.reading import read_config
from tests.jobs.config.samples import SAMPLE, faults_of, with_workload

AT = "forecaster.yaml: workloads[0].pools[0]"


def with_pool(written: str) -> str:
    return with_workload("capacity: {rpm: 60}", written)


@pytest.mark.parametrize(
    ("written", "slo"),
    [
        ("capacity: {rpm: 60}", None),
        ("capacity: {rpm: 60}, slo: {wait_p95: 2s, service: 8s}", WaitSlo(wait_p95_s=2, service_s=8)),
        (
            "capacity: {concurrency: 16}, slo: {wait_p95: 0.5s, service: 8s}",
            WaitSlo(wait_p95_s=0.5, service_s=8),
        ),
        ("capacity: {rpm: 60}, slo: {wait_p95: 2s, service: 8s, variability: 3}", WaitSlo(wait_p95_s=2, service_s=8, variability_ratio=3)),
    ],
)
def test_a_promise_about_waits_is_read_and_absent_by_default(tmp_path: Path, written: str, slo: WaitSlo | None) -> None:
    path = tmp_path / "forecaster.yaml"
    path.write_text(with_pool(written))
    assert read_config(path).workloads[0].to_core().pools[0].slo == slo


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        (
            "capacity: {rpm: 60, concurrency: 4}, slo: {wait_p95: 2s, service: 8s}",
            (
                ": no load of 60 requests/min a replica can meet the SLO: 4 requests in flight of 8 s each are 30 requests/min at most; "
                "lower capacity.rpm, raise capacity.concurrency or mend slo.service"
            ),
        ),
        (
            "capacity: {tokens: 900}, slo: {wait_p95: 2s, service: 8s}",
            ": slo needs capacity.rpm or capacity.concurrency beside capacity.tokens, since tokens tell no arrivals",
        ),
        ("capacity: {rpm: 60}, slo: {wait_p95: 0s, service: 8s}", ".slo.wait_p95: must be above 0s, got '0s'"),
        (
            "capacity: {rpm: 60}, slo: {wait_p95: 2s}",
            ".slo.service: is missing: mean time that a request is in service once it is taken, at the load of `capacity`",
        ),
    ],
)
def test_a_promise_that_no_load_can_meet_is_one_sentence_at_its_pool(tmp_path: Path, written: str, sentence: str) -> None:
    assert faults_of(tmp_path, with_pool(written)) == [f"{AT}{sentence}"]


def test_the_sample_is_right(tmp_path: Path) -> None:
    path = tmp_path / "forecaster.yaml"
    path.write_text(SAMPLE)
    assert read_config(path).workloads[0].pools[0].slo is None
