"""What a backtest is compared with, by name."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from forecaster.backtest.comparison import others, ours, ways
from forecaster.simulate.autoscaler import Hpa, HpaBehavior
from forecaster.simulate.fleet import Fleet
from forecaster.simulate.minutes import MinuteLoad
from forecaster.simulate.trial import Trial

MONDAY = datetime(2024, 5, 6, tzinfo=UTC)
NAMES = {
    "static", "hpa_0.7", "hpa_best", "keda_cron_best", "last_week", "aws_like", "dynamo_like", "holt_winters", "clairvoyant_cold_start",
}  # fmt: skip
THEIRS = Hpa(target=0.6, behavior=HpaBehavior(maximum=9, capped=True))


@pytest.fixture(scope="module")
def trial() -> Trial:
    minute = np.arange(4 * 1_440)
    minutes = MinuteLoad(start=MONDAY, rpm=100 + 80 * np.sin(minute / 1_440 * 2 * np.pi) + 30.0 * (minute % 97 == 0))
    return Trial(minutes=minutes, start=MONDAY + timedelta(days=3), end=minutes.end, fleet=Fleet(replica_rpm=15), late_limit_ratio=0.001)


def test_the_users_own_hpa_is_compared_where_it_is_known(trial: Trial) -> None:
    assert set(ways(trial)) == NAMES
    found = others(trial, THEIRS)
    assert set(found) == NAMES | {"hpa_yours"}
    assert found["hpa_yours"].replica_hours[0] <= 9 * 24


def test_each_name_is_one_policy_and_waits_are_told_where_asked_for(trial: Trial) -> None:
    silent, told = others(trial), others(trial, waits=True)
    for name in NAMES:
        assert silent[name].wait_s is None
        wait = told[name].wait_s
        assert wait is not None
        assert wait.shape == (1, 3)
        np.testing.assert_allclose(silent[name].late, told[name].late, atol=1e-6)
        assert silent[name].replica_hours == told[name].replica_hours


def test_nothing_is_cheaper_without_being_late_than_the_clairvoyant(trial: Trial) -> None:
    found = others(trial)
    best = found["clairvoyant_cold_start"]
    assert best.late.sum() < 1e-6
    assert all(o.late.sum() > 1e-6 or o.replica_hours >= best.replica_hours for o in found.values())


def test_our_floors_stand_under_the_users_hpa_too(trial: Trial) -> None:
    floors = np.full(288, 8)
    assert set(ours(trial, floors, 300, 0.9)) == {"ours_hpa_0.7", "ours"}
    found = ours(trial, floors, 300, 0.9, THEIRS, waits=True)
    assert set(found) == {"ours_hpa_yours", "ours_hpa_0.7", "ours"}
    assert found["ours_hpa_yours"].late_requests < others(trial, THEIRS)["hpa_yours"].late_requests
    assert found["ours"].wait_s is not None
