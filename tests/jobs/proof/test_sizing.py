"""What one replica is taken to carry, and why."""

import numpy as np
import pytest

from jobs.proof.hpa import Metric, TheirHpa
from jobs.proof.sizing import carried_by_one, replayed, size


def hpa(minimum: int = 2) -> TheirHpa:
    return TheirHpa(namespace="inference", name="chat", minimum=minimum, maximum=9, scales=("Deployment", "chat"), metrics=())


def test_a_configured_capacity_outranks_the_hpas_target_and_that_the_history() -> None:
    assert size(configured=500.0, per_pod=300.0, carried=200.0, unit="requests/min").replica_rpm == 500.0
    assert size(configured=None, per_pod=300.0, carried=200.0, unit="requests/min").replica_rpm == pytest.approx(300 / 0.7)
    assert size(configured=None, per_pod=None, carried=200.0, unit="requests/min").replica_rpm == 200.0
    unknown = size(configured=None, per_pod=None, carried=None, unit="requests/min")
    assert unknown.replica_rpm is None
    assert "compare ratios" in unknown.why


def test_history_sizes_a_replica_by_what_was_carried_in_nearly_every_minute() -> None:
    ready = np.full(2_880, 4.0)
    load = np.full(2_880, 400.0)
    load[:10] = 4_000.0
    ready[100:200] = np.nan
    ready[200:300] = 0.0
    assert carried_by_one(load, ready) == pytest.approx(100.0)


def test_too_little_history_sizes_nothing() -> None:
    assert carried_by_one(np.ones(2_880), np.full(2_880, np.nan)) is None
    assert carried_by_one(np.zeros(2_880), np.ones(2_880)) is None


def test_a_load_per_pod_is_a_share_of_what_a_replica_carries() -> None:
    theirs = replayed(hpa(), None, per_pod=300.0, replica_rpm=400.0)
    assert theirs is not None
    assert (theirs.target, theirs.behavior.minimum, theirs.behavior.maximum, theirs.behavior.capped) == (0.75, 2, 9, False)


def test_cpu_is_taken_for_the_share_that_is_used_and_cannot_show_what_waits() -> None:
    theirs = replayed(hpa(minimum=0), Metric(kind="Resource", name="cpu", utilisation_ratio=0.6), per_pod=None, replica_rpm=None)
    assert theirs is not None
    assert (theirs.target, theirs.behavior.minimum, theirs.behavior.capped) == (0.6, 1, True)


def test_a_target_that_is_a_total_cannot_be_replayed() -> None:
    assert replayed(hpa(), Metric(kind="Object", name="x"), per_pod=None, replica_rpm=400.0) is None
