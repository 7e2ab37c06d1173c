"""Drift is looked for once a planning cycle, kept, and told where people hear of it; nothing that fails clears or raises it."""

from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from forecaster.profile import Origin, Profile
from forecaster.reasons import Code
from forecaster.series import Signal
from jobs.apply import apply_fleet
from jobs.capacity.drifting import drifts, look_for_drift
from jobs.capacity.known import with_capacities
from jobs.checking.check import check_all
from jobs.fleet import Fleet
from jobs.forecast import forecast_fleet, plan_fleet
from tests.jobs.capacity.production import NOW, Production
from tests.production import SLO, p95_s
from tests.profiles import entry, point

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)


def measured(factor: float = 1.0) -> Profile:
    """A load test of what `tests.production` serves, or of what is slower by a factor."""
    points = [point(rpm, e2e_s=factor * float(p95_s(np.array(rpm))) / 2) for rpm in (100.0, 300.0, 450.0, 600.0, 650.0)]
    return Profile(origin=Origin.FILE, source="vLLM bench serve run.json", points=tuple(points), measured_at=NOW - 10 * DAY)


def known(at: Fleet, profile: Profile | None = None) -> Fleet:
    at.store.append_profiles([("chat", "gpu", entry(NOW - 10 * DAY, measured() if profile is None else profile, SLO))])
    return with_capacities(at, NOW)


def slower(folder: Path) -> Production:
    """Twice as slow for a day."""
    return Production(folder=folder, slow=2.0, slow_from=NOW - DAY)


def sentences(at: Fleet, now: datetime = NOW) -> list[str]:
    return [each.sentence for each in drifts(at.store, now).values()]


def test_a_drift_is_found_and_kept_since_when_it_began(tmp_path: Path) -> None:
    with slower(tmp_path).fleet() as at:
        fleet = known(at)
        (first,) = look_for_drift(fleet, NOW)[0].values()
        (again,) = look_for_drift(fleet, NOW + HOUR)[0].values()
        assert "production serves worse than its profile: P95 E2E is" in first.sentence
        assert first.ratio == pytest.approx(2, rel=0.1)
        assert (again.since, again.at) == (NOW, NOW + HOUR)
        assert drifts(at.store, NOW + HOUR) == {("chat", "gpu"): again}


def test_what_is_served_as_measured_is_no_drift_and_ends_one(tmp_path: Path) -> None:
    production = slower(tmp_path)
    with production.fleet() as at:
        fleet = known(at)
        look_for_drift(fleet, NOW)
        production.slow = 1.0
        assert look_for_drift(fleet, NOW + HOUR) == ({}, {})
        assert sentences(at, NOW + HOUR) == []


def test_the_mix_that_moved_is_named_from_kept_lengths(tmp_path: Path) -> None:
    with slower(tmp_path).fleet() as at:
        longer = np.full(14 * 288, 900.0)
        production = Production(folder=tmp_path)
        production.keep(at.store, Signal.INPUT_LENGTH, longer)
        look_for_drift(known(at), NOW)
        (said,) = sentences(at)
        assert "mix: requests carry 900 input tokens, 500 were measured" in said


def test_l26_prefix_hits_that_were_lost_are_named_from_what_production_had_before(tmp_path: Path) -> None:
    with slower(tmp_path).fleet() as at:
        hits = np.where(np.arange(14 * 288) < 12 * 288, 0.7, 0.1)
        production = Production(folder=tmp_path)
        production.keep(at.store, Signal.PREFIX_HITS, hits)
        look_for_drift(known(at), NOW)
        (said,) = sentences(at)
        assert "prefix hits: the prefix cache has 10% of the input, and 70% before" in said


def test_a_source_that_fails_leaves_what_was_found_for_two_days_and_is_counted(tmp_path: Path) -> None:
    production = slower(tmp_path)
    with production.fleet() as at:
        fleet = known(at)
        look_for_drift(fleet, NOW)
        production.fails = True
        found, unlooked = look_for_drift(fleet, NOW + HOUR)
        assert list(found) == [("chat", "gpu")]
        assert [(failed.verb, failed.error) for failed in unlooked["chat"]] == [("drift", "SourceRejected")]
        assert sentences(at, NOW + 3 * DAY) == []


def test_nothing_is_asked_of_a_pool_whose_figures_are_configured(tmp_path: Path) -> None:
    production = slower(tmp_path)
    with production.fleet(capacity={"rpm": 500}) as at:
        assert look_for_drift(known(at), NOW) == ({}, {})
        assert production.asked == []


def test_plans_decisions_and_check_tell_of_a_drift_and_apply_asks_nothing(tmp_path: Path) -> None:
    production = slower(tmp_path)
    with production.fleet() as at:
        known(at)
        (draft,) = forecast_fleet(at, NOW)
        (told,) = [reason for plan in draft.plans for reason in plan.reasons if reason.code is Code.CAPACITY_DRIFT]
        assert told.detail.startswith("pool gpu: drift since 2026-03-16T07:30:00Z: production serves worse")
        assert "input tokens and prefix hits are not known of both times" in told.detail
        asked = len(production.asked)
        (cycle,) = apply_fleet(at, NOW)
        assert Code.CAPACITY_DRIFT in {alert.code for record in cycle.records for alert in record.decision.alerts}
        (again,) = plan_fleet(at, NOW + timedelta(minutes=5))
        assert Code.CAPACITY_DRIFT in {reason.code for plan in again.plans for reason in plan.reasons}
        assert len(production.asked) == asked == 1
        (found,) = [each for each in check_all(tmp_path / "forecaster.yaml", NOW) if "drift since" in each.sentence]
        assert (found.what, found.where) == ("capacity", "chat: pool gpu")
