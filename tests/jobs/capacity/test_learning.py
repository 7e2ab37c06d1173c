"""Capacities learned from what is kept of production and from its source's latencies, and kept where a person asks for it."""

from pathlib import Path

import numpy as np
import pytest

from forecaster.marks import Mark, MarkKind
from forecaster.profile import Origin, Slo
from forecaster.series import Floats, Series, Signal, Window
from jobs.capacity.known import newest_of, with_capacities
from jobs.capacity.learning import Lesson, keep, lessons
from jobs.fleet import Fleet
from tests.jobs.capacity.production import NOW, READY, START, Production
from tests.production import SLO


def learn(at: Fleet, slo: Slo | None = SLO) -> Lesson:
    (found,) = lessons(at, at.members, slo, 14, NOW)
    return found


def test_what_a_replica_carries_is_learned_from_kept_load_and_replicas_and_asked_latencies(tmp_path: Path) -> None:
    with Production(folder=tmp_path).fleet() as at:
        found = learn(at)
        assert found.learned.rpm == pytest.approx(600, rel=0.05)
        assert found.told.startswith("a replica carries 5")


def test_what_was_learned_and_kept_is_what_floors_rest_on_where_the_pool_follows_the_best(tmp_path: Path) -> None:
    with Production(folder=tmp_path).fleet() as at:
        found = learn(at)
        entry = keep(at.store, found, "ana", NOW)
        assert entry is not None
        (kept,) = newest_of(at.store, [("chat", "gpu")], NOW).values()
        assert (kept, kept.author, kept.profile.origin) == (entry, "ana", Origin.PRODUCTION)
        assert kept.profile.source == "production, 14 days to 16 Mar 2026"
        fresh = with_capacities(at, NOW).members[0]
        assert fresh.workload.pools[0].capacity.rpm == found.learned.rpm


def test_the_slo_is_that_of_the_last_profile_unless_one_is_said(tmp_path: Path) -> None:
    with Production(folder=tmp_path).fleet() as at:
        assert "say what P95 must keep, such as --slo e2e_p95=10s" in learn(at, None).told
        assert keep(at.store, learn(at, None), "ana", NOW) is None
        keep(at.store, learn(at), "ana", NOW)
        assert learn(at, None).slo == SLO


def test_figures_in_use_that_production_contradicts_are_told(tmp_path: Path) -> None:
    with Production(folder=tmp_path).fleet(capacity={"rpm": 1_000}) as at:
        found = learn(at)
        assert found.learned.rpm is not None
        assert found.told.endswith(f"; 1,000 rpm are in use, {1_000 / found.learned.rpm - 1:.0%} more than that")


def test_hours_after_a_start_and_marked_hours_do_not_count(tmp_path: Path) -> None:
    with Production(folder=tmp_path).fleet() as at:
        ready: Floats = np.full(14 * 288, READY)
        ready[::2] += 5  # comes and goes all the time
        at.store.append_history("chat/gpu", _series(ready))
        assert "too few buckets: 0, which are 0.0 h" in learn(at).told
    with Production(folder=tmp_path).fleet() as at:
        at.store.append_marks("chat", [mark(MarkKind.FLASH_CROWD)])
        assert learn(at).learned.rpm is not None  # it came, and was served
        at.store.append_marks("chat", [mark(MarkKind.MANUAL)])
        assert "4,032 marked" in learn(at).told


def test_of_several_pools_nobody_tells_whose_p95_it_is(tmp_path: Path) -> None:
    with Production(folder=tmp_path, pools=("gpu", "spot")).fleet(share=0.5) as at:
        assert learn(at).told == "not identified: P95 is told of the whole workload, so that it cannot be told apart for gpu and spot"


def test_a_source_that_does_not_answer_is_told_and_stops_no_other(tmp_path: Path) -> None:
    with Production(folder=tmp_path, fails=True).fleet() as at:
        assert "no such query" in learn(at).told


def test_an_slo_that_never_broke_is_at_least(tmp_path: Path) -> None:
    with Production(folder=tmp_path, high=500).fleet() as at:
        assert "not identified: P95 never broke P95 E2E 10 s: at least 49" in learn(at).told
        assert keep(at.store, learn(at), "ana", NOW) is None


def mark(kind: MarkKind) -> Mark:
    return Mark(kind=kind, signal=Signal.RPM, span=Window(start=START, end=NOW), at=NOW, author="ana")


def _series(values: Floats) -> Series:
    return Series(signal=Signal.READY, start=START, step_s=300, mean=values, peak=values)
