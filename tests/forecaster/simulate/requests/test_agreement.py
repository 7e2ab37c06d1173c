"""The two forms of replay are one: at 1,000 RPM and more, replica-hours within 2 %, late share within 0.2 points.

Requests are evenly spaced within their minutes, which is what a fluid is, and served one at a time; what seconds and batches add on
top is no disagreement but what the minute-wise form leaves out, and docs/simulation.md says how much.
"""

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from forecaster.series import Floats
from forecaster.simulate.autoscaler import HpaBehavior
from forecaster.simulate.fleet import Fleet, Policies, Traffic, replicas_for
from forecaster.simulate.replay import replay
from forecaster.simulate.requests.arrivals import Spacing, drawn
from forecaster.simulate.requests.replica import Service
from forecaster.simulate.requests.run import simulate
from forecaster.simulate.requests.scaling import Scaling
from tests.forecaster.simulate.requests.scenes import minute_load

MINUTES = 24
FLEET = Fleet(replica_rpm=100, lead_min=3)


def ramp() -> Floats:
    """From 1,000 to 2,000 in seven minutes and back."""
    load: Floats = np.interp(np.arange(MINUTES), [0, 4, 11, 15, 22], [1_000, 1_000, 2_000, 2_000, 1_000])
    return load


def crowd() -> Floats:
    """Three times the load at once, for five minutes."""
    return np.where((np.arange(MINUTES) >= 6) & (np.arange(MINUTES) < 11), 3_000.0, 1_000.0)


def noisy() -> Floats:
    """A day's wave in less than half an hour, each minute off it by a tenth."""
    wave = 1_500 - 400 * np.cos(2 * np.pi * np.arange(MINUTES) / MINUTES)
    load: Floats = wave * np.random.default_rng(4).lognormal(0, 0.1, MINUTES)
    return load


LOADS = {"ramp": ramp, "crowd": crowd, "noisy": noisy}


def floors_ahead(load: Floats) -> Floats:
    """What the largest minute of the lead time needs: perfect foresight."""
    ahead = np.pad(load, (0, int(FLEET.lead_min) + 1), mode="edge")
    return replicas_for(sliding_window_view(ahead, int(FLEET.lead_min) + 2).max(axis=1)[: load.size], FLEET.replica_rpm)


def policies(load: Floats) -> dict[str, Policies]:
    column, none, floors = np.arange(load.size), np.ones((1, load.size)), floors_ahead(load)[None]
    plain = {f"hpa {t}": Policies(targets=np.array([t]), floors=none, column=column) for t in (0.5, 0.7, 1.0)}
    return {
        **plain,
        "floors": Policies(targets=np.array([np.inf]), floors=floors, column=column, start=floors[0, :1]),
        "floors under hpa 1.0": Policies(targets=np.array([1.0]), floors=floors, column=column),
        "kubernetes 0.7": Policies(targets=np.array([0.7]), floors=none, column=column, behavior=HpaBehavior()),
    }


def fluid(load: Floats, policy: Policies) -> tuple[float, float]:
    """Replica-hours and late share, minute by minute."""
    outcome = replay(traffic(load), policy, FLEET)
    return float(outcome.replica_hours[0]), float(outcome.late_ratio[0])


def traffic(load: Floats) -> Traffic:
    return Traffic(before_rpm=load[:5], rpm=load, edges=np.array([0, load.size]))


@pytest.mark.parametrize("shape", LOADS)
@pytest.mark.parametrize("name", policies(ramp()))
def test_requests_and_fluid_cost_the_same_and_are_late_alike(shape: str, name: str) -> None:
    load = np.round(LOADS[shape]())
    policy = policies(load)[name]
    hours, late_ratio = fluid(load, policy)
    requests = drawn(minute_load(load), np.random.default_rng(1), spacing=Spacing.EVEN)
    outcome = simulate(requests, service=Service(replica_rpm=FLEET.replica_rpm), scaling=Scaling.of(policy, 0, traffic(load), FLEET))
    assert outcome.replica_hours == pytest.approx(hours, rel=0.02)
    assert outcome.total.late_ratio == pytest.approx(late_ratio, abs=0.002)


@pytest.mark.parametrize("shape", LOADS)
def test_random_instants_change_nothing_where_the_fleet_has_headroom(shape: str) -> None:
    load = np.round(LOADS[shape]())
    policy = policies(load)["hpa 0.7"]
    hours, late_ratio = fluid(load, policy)
    requests = drawn(minute_load(load), np.random.default_rng(1), spacing=Spacing.RANDOM)
    outcome = simulate(requests, service=Service(replica_rpm=FLEET.replica_rpm), scaling=Scaling.of(policy, 0, traffic(load), FLEET))
    assert outcome.replica_hours == pytest.approx(hours, rel=0.02)
    assert outcome.total.late_ratio == pytest.approx(late_ratio, abs=0.002)


def test_the_comparison_is_of_fleets_that_are_late_and_of_fleets_that_are_not() -> None:
    """Two replays that are never late would agree about nothing."""
    for load in (np.round(shape()) for shape in LOADS.values()):
        late = {name: fluid(load, policy)[1] for name, policy in policies(load).items()}
        assert late["hpa 1.0"] > 0.02
        assert late["floors"] == 0


def test_a_policy_in_steps_finer_than_a_minute_is_refused() -> None:
    fine = Traffic(before_rpm=np.ones(1), rpm=np.ones(4), edges=np.array([0, 4]), step_s=15)
    with pytest.raises(ValueError, match="looks once a minute, got traffic in steps of 15 s"):
        Scaling.of(policies(np.ones(4))["hpa 0.7"], 0, fine, FLEET)
