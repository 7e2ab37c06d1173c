"""Which lever stands where: the graver tier first, then the earlier rule, then admission, then the original."""

import math
from datetime import UTC, datetime, timedelta

import pytest

from forecaster.ladder import Ladder, LeverValue, Standing, Step, Tier, Trigger
from forecaster.reasons import Code
from forecaster.tiers import Pulled, Rules, Wish, decide

NOW = datetime(2026, 3, 2, 7, 30, tzinfo=UTC)


def rule(name: str, signal: str, *, tier: Tier = Tier.ACT, raise_now: bool = False, **levers: LeverValue) -> Ladder:
    step = Step(name=name, levers=levers, raise_now=raise_now)
    return Ladder(name=name, tier=tier, trigger=Trigger(signal=signal, above=10, below=5, calm_s=0), steps=(step,))


def values(pulled: Pulled) -> dict[str, LeverValue]:
    return {lever: wish.value for lever, wish in pulled.levers.items()}


def test_the_three_rules_of_thumb_act_on_their_own_signals() -> None:
    rules = Rules(
        ladders=(
            rule("deep queue", "queue", raise_now=True),
            rule("slow", "p99", batch_size=8),
            rule("failing", "errors", tier=Tier.EMERGENCY, rate_rpm=60, circuit_open=True),
        )
    )
    calm = decide(rules, {}, {"queue": 1, "p99": 1, "errors": 1}, NOW)
    assert (values(calm), calm.raise_now) == ({}, False)
    assert decide(rules, {}, {"queue": 11, "p99": 1, "errors": 1}, NOW).raise_now
    assert values(decide(rules, {}, {"queue": 1, "p99": 11, "errors": 1}, NOW)) == {"batch_size": 8}
    assert values(decide(rules, {}, {"queue": 1, "p99": 1, "errors": 11}, NOW)) == {"rate_rpm": 60, "circuit_open": True}


def test_floors_are_raised_at_once_by_the_tick_that_takes_the_step_and_by_no_other() -> None:
    rules = Rules(ladders=(rule("deep queue", "queue", raise_now=True),))
    first = decide(rules, {}, {"queue": 11}, NOW)
    second = decide(rules, first.standings, {"queue": 11}, NOW + timedelta(seconds=5))
    assert (first.raise_now, second.raise_now) == (True, False)


def test_the_graver_tier_has_the_lever_then_the_earlier_rule_then_admission() -> None:
    mild, grave, late = rule("mild", "a", limit=50), rule("grave", "b", tier=Tier.EMERGENCY, limit=5), rule("late", "c", limit=40)
    admission = {"limit": Wish(value=100, why="2 replicas ready", until=NOW)}
    rules = Rules(ladders=(mild, grave, late))

    def limit(**readings: float) -> LeverValue:
        return values(decide(rules, {}, readings, NOW, admission=admission))["limit"]

    assert limit(a=11, b=11, c=11) == 5
    assert limit(a=11, b=1, c=11) == 50
    assert limit(a=1, b=1, c=11) == 40
    assert limit(a=1, b=1, c=1) == 100


def test_a_lever_that_nobody_asks_for_any_more_is_in_no_wish() -> None:
    rules = Rules(ladders=(rule("slow", "p99", batch_size=8),))
    first = decide(rules, {}, {"p99": 11}, NOW)
    assert values(decide(rules, first.standings, {"p99": 1}, NOW + timedelta(seconds=5))) == {}


def test_an_admission_that_is_unknown_keeps_what_stands_and_asks_for_nothing() -> None:
    pulled = decide(Rules(), {}, {}, NOW, admission={"limit": None, "burst": Wish(value=3, why="ready", until=NOW)})
    assert values(pulled) == {"burst": 3}
    assert pulled.keeps == {"limit"}


@pytest.mark.parametrize("reading", [{}, {"p99": math.nan}, {"p99": math.inf}, {"p99": -math.inf}])
def test_a_signal_without_a_finite_reading_is_named(reading: dict[str, float]) -> None:
    pulled = decide(Rules(ladders=(rule("slow", "p99", batch_size=8),)), {}, reading, NOW)
    assert pulled.unknown == ("p99",)
    assert [reason.code for reason in pulled.reasons] == [Code.SIGNAL_UNKNOWN]
    assert values(pulled) == {}


def test_equal_input_gives_an_equal_answer() -> None:
    rules = Rules(ladders=(rule("slow", "p99", batch_size=8), rule("failing", "errors", limit=5)))
    readings = {"p99": 11.0, "errors": 11.0}
    assert decide(rules, {}, readings, NOW) == decide(rules, {}, readings, NOW)


def test_a_rule_that_is_gone_from_the_configuration_lets_go_of_its_levers() -> None:
    stood = {"slow": Standing(depth=1, since=NOW, moved_at=NOW)}
    pulled = decide(Rules(), stood, {"p99": 11}, NOW)
    assert values(pulled) == {}
    assert not pulled.standings


def test_two_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="are named slow"):
        Rules(ladders=(rule("slow", "p99", a=1), rule("slow", "ttft", b=1)))


def test_two_of_one_tier_and_signal_that_disagree_on_a_lever_are_refused() -> None:
    with pytest.raises(ValueError, match="one and two are both of tier act on p99 and set batch to 8 and 16"):
        Rules(ladders=(rule("one", "p99", batch=8), rule("two", "p99", batch=16)))
