"""What a fleet has in common is learned once a week, and never from the future."""

from dataclasses import replace
from datetime import timedelta

import pytest

from forecaster.calendar import Calendar
from forecaster.forecast import State
from forecaster.models.catalogue import DEFAULT_MEMBERS, is_installed, model
from forecaster.models.learning import is_due, learn, learned_of
from tests.asking import forecast
from tests.services import library
from tests.traces import MONDAY, panel, usual_rpm

DAY = timedelta(days=1)
FLEET = panel(*(usual_rpm(28, seed=seed, noise_ratio=0.05) for seed in range(4)))
WITHOUT = tuple(name for name in DEFAULT_MEMBERS if name != "gbm")


@pytest.fixture(scope="module")
def learned() -> State:
    library("lightgbm", "gbm")
    return learn(FLEET, MONDAY, Calendar())


def test_it_is_due_where_nothing_was_learned_and_a_member_would_use_it() -> None:
    assert is_due(None, MONDAY, DEFAULT_MEMBERS) == is_installed("gbm")
    assert not is_due(None, MONDAY, WITHOUT)


def test_it_is_due_again_after_a_week(learned: State) -> None:
    due = [is_due(learned, MONDAY + days * DAY, DEFAULT_MEMBERS) for days in (0, 1, 6.99, 7, 30)]
    assert due == [False, False, False, True, True]


def test_what_was_learned_later_is_due_and_not_used(learned: State) -> None:
    before = MONDAY - timedelta(minutes=1)
    assert is_due(learned, before, DEFAULT_MEMBERS)
    assert learned_of(learned, before) == b""
    assert learned_of(learned, MONDAY) != b""


def test_nothing_after_the_instant_is_learned_from(learned: State) -> None:
    longer = panel(*(usual_rpm(35, seed=seed, end=MONDAY + 7 * DAY) for seed in range(4)))
    cut = replace(longer, mean=longer.mean[:, : 28 * 24], peak=longer.peak[:, : 28 * 24])
    assert learn(longer, MONDAY, Calendar()) == learn(cut, MONDAY, Calendar()) == learned


def test_the_same_fleet_teaches_the_same(learned: State) -> None:
    assert learn(FLEET, MONDAY, Calendar()) == learned


def test_a_fleet_that_knows_too_little_teaches_nothing_and_is_asked_again_after_a_day() -> None:
    library("lightgbm", "gbm")
    young = learn(panel(usual_rpm(5)), MONDAY, Calendar())
    assert learned_of(young, MONDAY) == b""
    assert [is_due(young, MONDAY + days * DAY, DEFAULT_MEMBERS) for days in (0, 0.9, 1)] == [False, False, True]


@pytest.mark.parametrize("change", [{"model": "other"}, {"version": 99}, {"payload": b"torn"}, {"payload": b""}, {"payload": b"5\n"}])
def test_a_state_of_another_making_is_as_none(learned: State, change: dict[str, object]) -> None:
    stranger = replace(learned, **change)  # type: ignore[arg-type]  # the point is any field
    assert is_due(stranger, MONDAY, DEFAULT_MEMBERS)
    assert learned_of(stranger, MONDAY) == b""


def test_nothing_is_nothing() -> None:
    assert learned_of(None, MONDAY) == b""


def test_what_was_learned_gives_its_member_a_say(learned: State) -> None:
    load = panel(usual_rpm(28))
    told, untold = (
        {one.name: one.weight_ratio for one in forecast(model("ensemble", learned=each), load).members}
        for each in (learned_of(learned, MONDAY), b"")
    )
    assert told["gbm"] > 0
    assert untold["gbm"] == 0
