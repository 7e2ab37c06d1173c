"""A lease in Kubernetes: for several replicas on one database, and never so short that a tick may end it."""

from pathlib import Path

import pytest

from jobs.config.reading import read_config
from tests.jobs.config.samples import SAMPLE, faults_of

LEASE = "lease: {type: kubernetes, namespace: forecaster}\n"
SHARED = "store: postgresql://forecaster@db/forecaster\n"
UNSTORED = "\n".join(line for line in SAMPLE.splitlines() if not line.startswith("store:")) + "\n"


def test_without_the_section_the_store_has_the_lease(tmp_path: Path) -> None:
    path = tmp_path / "forecaster.yaml"
    path.write_text(SAMPLE)
    assert read_config(path).lease is None
    path.write_text(UNSTORED + SHARED + LEASE)
    lease = read_config(path).lease
    assert lease is not None
    assert (lease.name, lease.ttl_s) == ("forecaster", 90)


@pytest.mark.parametrize("store", ["sqlite:///forecaster.db", "memory:"])
def test_several_replicas_share_no_file(tmp_path: Path, store: str) -> None:
    (fault,) = faults_of(tmp_path, f"{UNSTORED}store: '{store}'\n{LEASE}")
    assert f"lease kubernetes is for several replicas, which share no {store.partition(':')[0]} store" in fault


def test_a_lease_that_ends_within_a_tick_and_its_tries_is_refused_with_the_sum(tmp_path: Path) -> None:
    short = "lease: {type: kubernetes, namespace: forecaster, ttl_s: 45}\napply: {every: 30s}\n"
    (fault,) = faults_of(tmp_path, UNSTORED + SHARED + short)
    assert "lease.ttl_s must be at least apply.every + 2 x lease.cluster.timeout_s, which is 50, got 45" in fault
