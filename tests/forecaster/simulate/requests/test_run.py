"""Single requests through the whole replay: small enough to work out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.cost import Prices
from forecaster.simulate.autoscaler import HpaBehavior
from forecaster.simulate.requests.admission import BreakerRule, Quota
from forecaster.simulate.requests.arrivals import Priority, Share, Spacing, drawn
from forecaster.simulate.requests.balancing import Balancing
from forecaster.simulate.requests.batching import schedule
from forecaster.simulate.requests.gateway import Fate, Rules
from forecaster.simulate.requests.outcome import Deadline, Outcome
from forecaster.simulate.requests.queues import Patience
from forecaster.simulate.requests.replica import Service
from forecaster.simulate.requests.run import simulate
from forecaster.simulate.requests.scaling import Scaling
from tests.forecaster.simulate.requests.scenes import at, fixed, minute_load

TEN_SECONDS = Service(replica_rpm=6)
"""One request at a time, ten seconds each."""


def test_requests_wait_for_one_replica_in_their_order() -> None:
    outcome = simulate(at(0, 1, 2), service=TEN_SECONDS, scaling=fixed(1))
    assert outcome.began_s.tolist() == [0, 10, 20]
    assert (outcome.total.wait_p50_s, outcome.total.served, outcome.total.late) == (9, 3, 0)


def test_a_batch_in_service_takes_its_fixed_part_and_the_work_of_its_requests() -> None:
    """Full batches of 4 take 40 s, of which 20 are fixed: 2 with the work of 3 take 20 + 3 x 5 s."""
    service = Service(replica_rpm=6, max_batch_size=4, max_wait_ms=1_000, fixed_ratio=0.5)
    outcome = simulate(at(0, 0.5, 10, work=[1, 2, 1]), service=service, scaling=fixed(1))
    assert outcome.began_s.tolist() == [1, 1, 36]


def test_full_batches_in_a_row_serve_what_a_replica_is_said_to_carry() -> None:
    requests = drawn(minute_load([400] + [120] * 5), np.random.default_rng(0))
    outcome = simulate(
        requests, service=Service(replica_rpm=120, max_batch_size=8, max_wait_ms=50, fixed_ratio=0.6), scaling=fixed(1, minutes=6)
    )
    assert np.count_nonzero(outcome.began_s < 300) == pytest.approx(5 * 120, abs=12)


@given(arrivals=st.lists(st.integers(0, 400), min_size=1, max_size=40), size=st.integers(1, 6), wait_ms=st.integers(0, 20_000))
def test_a_replica_that_is_always_free_serves_the_batches_that_schedule_makes(arrivals: list[int], size: int, wait_ms: int) -> None:
    """A batch takes a millisecond, arrivals are a tenth of a second apart: nobody ever waits for service."""
    at_s = [float(arrival) / 10 for arrival in sorted(arrivals)]
    service = Service(replica_rpm=size * 60_000, max_batch_size=size, max_wait_ms=wait_ms, fixed_ratio=1)
    outcome = simulate(at(*at_s, minutes=2), service=service, scaling=fixed(1, minutes=2), rules=Rules(held=100))
    closed_s = [batch.closed_ms / 1_000 for batch in schedule([instant * 1_000 for instant in at_s], size, wait_ms) for _ in batch]
    assert outcome.began_s.tolist() == pytest.approx(closed_s, abs=0.05)


def test_a_replica_serves_one_lead_time_after_it_was_requested_and_is_paid_from_then_on() -> None:
    scaling = fixed([1, 2, 2, 2], minutes=4, lead_s=90)
    outcome = simulate(at(*range(60, 180), minutes=4), service=TEN_SECONDS, scaling=scaling)
    began_s = outcome.began_s[~np.isnan(outcome.began_s)]
    assert np.diff(began_s[began_s <= 150]).tolist() == [10] * 9 + [0]  # two begin at 60 + 90
    assert outcome.replica_hours == pytest.approx((4 + 3) / 60)
    assert outcome.changes == 1


def test_the_newest_replica_is_removed_first_even_while_it_starts() -> None:
    """Wanted 1, 3, 2, 3 with a cold start of two minutes: the third is requested twice and never ready."""
    outcome = simulate(at(*np.arange(0, 240, 0.5), minutes=4), service=TEN_SECONDS, scaling=fixed([1, 3, 2, 3], minutes=4, lead_s=120))
    in_last = np.count_nonzero(outcome.began_s >= 180)
    assert in_last == 2 * 6
    assert outcome.replica_hours == pytest.approx((1 + 3 + 2 + 3) / 60)


def test_the_autoscaler_answers_to_arrivals_and_backlog_of_the_last_minute() -> None:
    """30 in a minute where 6 are served: 24 wait, (30 + 24) / 6 = 9 replicas are wanted next."""
    scaling = Scaling(target=1.0, floors=np.ones(2), before_rpm=np.array([6.0]), lead_s=0, memory_min=1)
    outcome = simulate(at(*np.arange(0, 60, 2), minutes=2), service=TEN_SECONDS, scaling=scaling)
    assert outcome.replica_hours == pytest.approx((1 + 9) / 60)


def test_who_waits_longer_than_the_patience_of_the_class_leaves() -> None:
    priority = [Priority.INTERACTIVE] * 3 + [Priority.BULK] * 2
    outcome = simulate(
        at(0, 1, 2, 3, 4, priority=priority, minutes=2),
        service=TEN_SECONDS,
        scaling=fixed(1, minutes=2),
        rules=Rules(patience=Patience(interactive_s=15, bulk_s=25)),
    )
    assert outcome.fate.tolist() == [Fate.SERVED, Fate.SERVED, Fate.TIMED_OUT, Fate.SERVED, Fate.TIMED_OUT]
    assert outcome.total.late == 2
    assert outcome.groups["everyone", Priority.BULK].timed_out == 1


def test_interactive_requests_go_first_and_bulk_ones_still_get_their_turn() -> None:
    """Ten seconds each, an interactive one every ten: bulk would wait for ever, and is served once it has waited 30 seconds."""
    interactive, bulk = np.arange(0, 110, 9.9), np.array([0.5])
    order = np.argsort(np.concatenate([interactive, bulk]), kind="stable")
    classes = np.array([Priority.INTERACTIVE] * interactive.size + [Priority.BULK])[order]
    outcome = simulate(
        at(*np.concatenate([interactive, bulk])[order], priority=classes.tolist(), minutes=2),
        service=TEN_SECONDS,
        scaling=fixed(1, minutes=2),
        rules=Rules(patience=Patience(promote_after_s=30)),
    )
    assert 30 < float(outcome.began_s[classes == Priority.BULK][0]) <= 50
    assert outcome.groups["everyone", Priority.INTERACTIVE].wait_p95_s < 15


def test_a_tenant_beyond_its_quota_is_refused_and_costs_the_others_nothing() -> None:
    greedy = Share(tenant="greedy", weight=9)
    requests = drawn(minute_load([300] * 4), np.random.default_rng(3), shares=(greedy, Share(tenant="modest")))
    service, quota = Service(replica_rpm=150), Quota(rate_rpm=60, burst=5)
    open_, limited = (
        simulate(requests, service=service, scaling=fixed(1, minutes=4), rules=Rules(quotas=quotas)) for quotas in ({}, {"greedy": quota})
    )
    key = ("modest", Priority.INTERACTIVE)
    assert limited.groups["greedy", Priority.INTERACTIVE].refused > 700
    assert limited.groups[key].refused == 0
    assert limited.groups[key].wait_p95_s < 5 < open_.groups[key].wait_p95_s
    assert limited.total.late_ratio < 0.02 < open_.total.late_ratio


def test_refused_requests_are_no_load_to_the_autoscaler() -> None:
    scaling = Scaling(target=1.0, floors=np.ones(3), before_rpm=np.array([6.0]), lead_s=0)
    rules = Rules(quotas={"everyone": Quota(rate_rpm=6, burst=1)})
    outcome = simulate(at(*np.arange(0, 180, 0.5), minutes=3), service=TEN_SECONDS, scaling=scaling, rules=rules)
    assert outcome.replica_hours <= (1 + 2 + 2) / 60


def test_a_breaker_sheds_while_requests_give_up_and_lets_them_in_again_once_probes_are_served() -> None:
    """Three minutes with ten times what is served, then quiet: shed in the crowd, served again after it."""
    crowd, after = np.arange(0, 180, 1.0), np.arange(180, 600, 20.0)
    rules = Rules(
        patience=Patience(interactive_s=20, bulk_s=20),
        breaker=BreakerRule(failure_ratio=0.5, span_s=30, least=10, open_s=20, probes=1),
    )
    requests = at(*crowd, *after, minutes=10)
    outcome = simulate(requests, service=TEN_SECONDS, scaling=fixed(1, minutes=10), rules=rules)
    without = simulate(
        requests, service=TEN_SECONDS, scaling=fixed(1, minutes=10), rules=Rules(patience=Patience(interactive_s=20, bulk_s=20))
    )
    assert outcome.breaker_opened > 0
    assert outcome.total.shed > 60
    assert outcome.total.timed_out < without.total.timed_out / 2
    assert set(outcome.fate[requests.at_s >= 300].tolist()) == {Fate.SERVED}


def test_l32_a_removed_replica_finishes_what_it_serves_and_its_queue_goes_to_others() -> None:
    scaling = fixed([2, 1], minutes=2)
    outcome = simulate(at(*[50.0] * 6, minutes=2), service=Service(replica_rpm=3), scaling=scaling, rules=Rules(held=10))
    assert outcome.total.broken_off == 0
    assert outcome.began_s.tolist()[:5] == [50, 50, 70, 90, 110]
    assert outcome.replica_hours == pytest.approx((2 + 1 + 10 / 60) / 60)


def test_l32_a_replica_that_may_not_finish_breaks_its_requests_off() -> None:
    outcome = simulate(at(50.0, 50.0, minutes=2), service=Service(replica_rpm=2), scaling=fixed([2, 1], minutes=2, drain_s=5))
    assert outcome.fate.tolist() == [Fate.SERVED, Fate.BROKEN_OFF]
    assert outcome.total.late == 1
    assert outcome.replica_hours == pytest.approx((2 + 1 + 5 / 60) / 60)


def test_l23_a_fleet_that_follows_its_highest_wishes_for_longer_does_not_thrash() -> None:
    """A load that swings every other minute: a memory of one minute follows each swing, of five none."""
    load = np.tile([60.0, 120.0], 10)
    requests = drawn(minute_load(load), np.random.default_rng(0), spacing=Spacing.EVEN)
    short, long = (
        simulate(
            requests,
            service=Service(replica_rpm=12),
            scaling=Scaling(target=0.8, floors=np.ones(20), before_rpm=load[:2], lead_s=60, memory_min=memory),
        )
        for memory in (1, 5)
    )
    assert short.changes > 15
    assert long.changes <= 1
    assert long.total.late_ratio < short.total.late_ratio


def test_l38_an_autoscaler_on_a_metric_that_ends_with_the_fleet_never_grows_and_a_floor_does() -> None:
    """In-flight requests are no more than the replicas can hold: at a target of 1 they never ask for more, whatever waits."""
    requests = at(*np.arange(0, 600, 1.0), minutes=10)
    bounded, floored = (
        simulate(
            requests,
            service=TEN_SECONDS,
            scaling=Scaling(target=1.0, floors=np.array(floors), before_rpm=np.array([6.0]), lead_s=60, behavior=HpaBehavior(capped=True)),
        )
        for floors in ([1.0] * 10, [1.0] * 2 + [20.0] * 8)
    )
    assert bounded.changes == 0
    assert bounded.replica_hours == pytest.approx(10 / 60)
    assert bounded.total.late_ratio > 0.8
    assert floored.total.waiting < 10 < bounded.total.waiting


def test_where_no_replica_has_room_requests_wait_at_the_gateway_for_whoever_is_free_first() -> None:
    """The long one blocks nobody: the others pass it on the second replica."""
    requests = at(0, 0, 1, 2, work=[5, 1, 1, 1])
    shared = simulate(requests, service=TEN_SECONDS, scaling=fixed(2))
    assert shared.began_s.tolist() == [0, 0, 10, 20]


@pytest.mark.parametrize(("balancing", "third"), [("round-robin", 50), ("least-loaded", 50), ("queue-aware", 10)])
def test_only_queue_aware_balancing_sees_that_one_request_is_long(balancing: str, third: float) -> None:
    """Queues that nobody leaves: after a long and a short one, the third is put behind the short one by who looks at work."""
    requests = at(0, 0, 1, work=[5, 1, 1], minutes=2)
    outcome = simulate(requests, service=TEN_SECONDS, scaling=fixed(2, minutes=2), rules=Rules(balancing=Balancing(balancing), held=1_000))
    assert outcome.began_s.tolist() == [0, 0, third]


def test_least_loaded_avoids_the_replica_that_round_robin_would_pile_on() -> None:
    """Every other request is long, so taking turns puts all of the long ones on one replica."""
    requests = drawn(minute_load([80] * 6), np.random.default_rng(4))
    uneven = at(*requests.at_s, work=[1.9 if n % 2 else 0.1 for n in range(len(requests))], minutes=6)
    p95 = {
        balancing: simulate(
            uneven, service=Service(replica_rpm=50), scaling=fixed(2, minutes=6), rules=Rules(balancing=balancing, held=10_000)
        ).total.wait_p95_s
        for balancing in Balancing
    }
    assert p95[Balancing.QUEUE_AWARE] <= p95[Balancing.LEAST_LOADED] < p95[Balancing.ROUND_ROBIN] / 3


def test_lateness_is_by_the_minute_of_arrival_or_by_an_slo() -> None:
    requests = at(50, 51, 59.5, minutes=2)
    by_minute = simulate(requests, service=TEN_SECONDS, scaling=fixed(1, minutes=2))
    by_slo = simulate(requests, service=TEN_SECONDS, scaling=fixed(1, minutes=2), deadline=Deadline(slo_s=9.5))
    assert by_minute.began_s.tolist() == [50, 60, 70]
    assert (by_minute.total.late, by_slo.total.late) == (1, 1)
    assert simulate(requests, service=TEN_SECONDS, scaling=fixed(1, minutes=2), deadline=Deadline(slo_s=5)).total.late == 2


def test_who_still_waits_at_the_end_is_late_once_the_deadline_has_passed() -> None:
    outcome = simulate(at(0, 1, 55), service=Service(replica_rpm=1), scaling=fixed(1), deadline=Deadline(slo_s=30))
    assert (outcome.total.waiting, outcome.total.late) == (2, 1)


def test_cost_is_that_of_replica_hours_and_late_requests_at_the_prices_given() -> None:
    prices = Prices(currency="EUR", gpu_hour=3.0, late_request=0.5)
    outcome = simulate(at(50, 51, 52, minutes=2), service=TEN_SECONDS, scaling=fixed(2, minutes=2), prices=prices)
    assert outcome.total.late == 0
    assert outcome.cost == pytest.approx(4 / 60 * 3)
    late = simulate(at(50, 51, 52, minutes=2), service=TEN_SECONDS, scaling=fixed(1, minutes=2), prices=prices)
    assert late.cost == pytest.approx(2 / 60 * 3 + late.total.late * 0.5)
    assert simulate(at(1), service=TEN_SECONDS, scaling=fixed(1)).cost is None


def everything(seed: int) -> Outcome:
    """A crowded replay in which everything that can happen does."""
    shares = (Share(tenant="shop", weight=4), Share(tenant="shop", priority=Priority.BULK, weight=2), Share(tenant="lab"))
    load = [200, 200, 900, 900, 300, 200, 100, 100]
    requests = drawn(minute_load(load), np.random.default_rng(seed), shares=shares)
    return simulate(
        requests,
        service=Service(replica_rpm=60, max_batch_size=4, max_wait_ms=100, fixed_ratio=0.3),
        scaling=Scaling(target=0.7, floors=np.ones(8), before_rpm=np.array([200.0]), lead_s=70, memory_min=2, drain_s=0.0),
        rules=Rules(
            quotas={"lab": Quota(rate_rpm=40, burst=10)},
            patience=Patience(interactive_s=20, bulk_s=40, promote_after_s=10),
            breaker=BreakerRule(queue_limit=400, span_s=5, open_s=5),
        ),
        prices=Prices(currency="EUR", gpu_hour=3.0),
    )


def test_the_same_generator_gives_the_same_outcome_and_another_one_another() -> None:
    one, same, other = everything(1), everything(1), everything(2)
    assert (one.total, one.groups, one.replica_hours, one.cost) == (same.total, same.groups, same.replica_hours, same.cost)
    assert one.fate.tobytes() == same.fate.tobytes()
    assert one.began_s.tobytes() == same.began_s.tobytes()
    assert one.total != other.total


def test_every_request_has_exactly_one_fate_and_tenants_and_classes_add_up() -> None:
    outcome = everything(3)
    total, groups = outcome.total, outcome.groups
    names = ("offered", "refused", "shed", "timed_out", "broken_off", "served", "waiting", "late")
    assert min(getattr(total, name) for name in names if name != "waiting") > 0
    for name in names:
        assert sum(getattr(group, name) for group in groups.values()) == getattr(total, name)
    assert sum(getattr(total, name) for name in names[1:-1]) == total.offered


def test_nothing_arrives_and_the_fleet_is_paid_all_the_same() -> None:
    outcome = simulate(at(minutes=3), service=TEN_SECONDS, scaling=fixed(2, minutes=3))
    assert outcome.replica_hours == pytest.approx(0.1)
    assert outcome.total.late_ratio == 0
    assert np.isnan(outcome.total.wait_p99_s)


@pytest.mark.parametrize(
    ("scaling", "rules", "message"),
    [
        (fixed(1, minutes=2), Rules(), "one entry a minute, got 2 for 1 minutes"),
        (fixed(1), Rules(quotas={"nobody": Quota(rate_rpm=1, burst=1)}), "tenants that send nothing: nobody"),
    ],
)
def test_input_that_does_not_fit_together_is_refused(scaling: Scaling, rules: Rules, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        simulate(at(1.0), service=Service(replica_rpm=60, max_batch_size=4), scaling=scaling, rules=rules)


@pytest.mark.parametrize(
    ("service", "message"),
    [({"replica_rpm": 0}, "replica_rpm must be above 0"), ({"replica_rpm": 1, "fixed_ratio": 1.1}, "fixed_ratio must be within 0 and 1")],
)
def test_a_service_that_could_serve_nothing_is_refused(service: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Service(**service)  # type: ignore[arg-type]  # one wrong number at a time
