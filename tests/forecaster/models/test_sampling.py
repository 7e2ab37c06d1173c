"""Members that cost too much for every run are scored on a sample of days, and shown without a say."""

from datetime import timedelta

import numpy as np
import pytest

from forecaster.forecast import Forecast, State
from forecaster.models.catalogue import DEFAULT_MODEL, member, model
from forecaster.models.ensemble import Ensemble
from forecaster.models.sampling import MOST, loss_ratio
from forecaster.units import DAY_S, epoch_s
from tests.asking import asked, forecast, issued
from tests.forecaster.models.broken import Counted, Flat, Raises, ensemble_of
from tests.traces import MONDAY, horizon, panel, series_of, usual_rpm

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
LOADS = tuple(usual_rpm(45, end=MONDAY + 25 * DAY, seed=seed) for seed in range(MOST + 4))
SPEAK = (member("naive_day"), member("profile"))


def watching(main: Flat | Raises | None = None) -> tuple[Ensemble, Counted]:
    """An ensemble that watches one member, which writes down what it was asked."""
    counted = Counted(main=main or member("slot_quantile"))
    return ensemble_of(*SPEAK, watched=(counted,)), counted


def run(main: Ensemble, days: float, states: tuple[State | None, ...]) -> tuple[list[Forecast], tuple[State | None, ...]]:
    """A run of all series so many days after MONDAY."""
    at = MONDAY + days * DAY
    found = issued(main, panel(*(one.known_at(at) for one in LOADS)), asked(horizon(start=at)), states)
    return [one.forecast for one in found], tuple(one.state for one in found)


NOTHING = (None,) * len(LOADS)


def test_a_sampled_score_is_the_loss_over_the_naive_one_of_the_same_days() -> None:
    assert loss_ratio(np.array([np.nan, 3.0, 1.0]), np.array([9.0, 4.0, 4.0])) == 0.5


@pytest.mark.parametrize(("losses", "naive"), [([np.nan, 1.0], [1.0, np.nan]), ([0.0], [0.0]), ([], [])])
def test_a_member_without_a_common_day_is_not_scored(losses: list[float], naive: list[float]) -> None:
    assert loss_ratio(np.array(losses), np.array(naive)) is None


def test_eight_are_drawn_a_chunk_and_day_at_yesterdays_midnight() -> None:
    main, counted = watching()
    run(main, 0, NOTHING)
    assert len(counted.asked) == MOST
    assert {at for at, _ in counted.asked} == {epoch_s(MONDAY) - DAY_S}
    assert len({names for _, names in counted.asked}) == MOST
    assert all(len(names) == 1 for _, names in counted.asked)


def test_later_runs_of_a_day_draw_none() -> None:
    main, counted = watching()
    _, states = run(main, 0, NOTHING)
    counted.asked.clear()
    for hour in (0, 1, 9):
        _, states = run(main, hour / 24, states)
    assert counted.asked == []


def test_the_next_day_those_that_wait_come_first_and_nobody_comes_twice_in_a_week() -> None:
    main, counted = watching()
    states: tuple[State | None, ...] = NOTHING
    by_day = []
    for day in range(9):
        counted.asked.clear()
        _, states = run(main, day, states)
        by_day.append([name for _, (name,) in counted.asked])
    assert len(set(by_day[0] + by_day[1])) == len(LOADS) == len(by_day[0]) + len(by_day[1])
    assert by_day[2:7] == [[]] * 5
    assert sorted(by_day[7]) == sorted(by_day[0])
    assert sorted(by_day[8]) == sorted(by_day[1])


def test_whose_turn_it_is_changes_from_day_to_day_and_not_from_run_to_run() -> None:
    main, counted = watching()
    turns = []
    for day in (0, 0, 1):
        counted.asked.clear()
        run(main, day, NOTHING)
        turns.append([names for _, names in counted.asked])
    assert turns[0] == turns[1] != turns[2]


def test_a_series_that_joins_on_the_same_day_brings_no_more_drawings() -> None:
    main, counted = watching()
    _, states = run(main, 0, NOTHING)
    counted.asked.clear()
    run(main, 0.25, (None, *states[1:]))
    assert counted.asked == []


def test_a_chunk_with_a_series_too_young_for_a_row_draws_no_more_either() -> None:
    """It has a day of history at noon and had none at midnight."""
    main, counted = watching()
    noon = MONDAY + 12 * HOUR
    late = LOADS[0].known_at(noon).mean.copy()
    late[:-25] = np.nan
    load = panel(*(one.known_at(noon) for one in LOADS[1:]), series_of(late, end=noon))
    states: tuple[State | None, ...] = NOTHING
    for _ in range(3):
        states = tuple(one.state for one in issued(main, load, asked(horizon(start=noon)), states))
    assert len(counted.asked) == MOST


def test_a_watched_member_is_shown_with_its_loss_and_without_a_say() -> None:
    main, _ = watching()
    plain = ensemble_of(*SPEAK)
    shown, _ = run(main, 0, NOTHING)
    alone, _ = run(plain, 0, NOTHING)
    scored = [one.members[-1] for one in shown if one.members[-1].loss_ratio is not None]
    assert len(scored) == MOST
    assert all(one.name == "slot_quantile" and one.weight_ratio == 0 for one in scored)
    assert all(0 < one.loss_ratio < 3 for one in scored if one.loss_ratio is not None)
    for with_it, without in zip(shown, alone, strict=True):
        np.testing.assert_array_equal(with_it.values, without.values)


def test_its_score_stays_until_it_is_drawn_again() -> None:
    main, _ = watching()
    shown, states = run(main, 0, NOTHING)
    later, _ = run(main, 5, states)
    for before, after in zip(shown, later, strict=True):
        if before.members[-1].loss_ratio is not None:
            assert after.members[-1].loss_ratio == pytest.approx(before.members[-1].loss_ratio, rel=0.01)


def test_a_watched_member_that_raises_costs_nobody_anything_and_keeps_nobody_waiting() -> None:
    main, counted = watching(Raises(on=("a", "b", "c", "d", "e", "f", "g", "h", "i")))
    states: tuple[State | None, ...] = NOTHING
    for day in range(8):
        shown, states = run(main, day, states)
        assert all(one.notes == () for one in shown)
    assert {"j", "k", "l"} <= {name for _, (name,) in counted.asked}


def test_prophet_is_watched_for_real() -> None:
    main = model(DEFAULT_MODEL, members=("naive_day", "profile"), watched=("prophet",))
    answer = forecast(main, panel(usual_rpm(20)))
    prophet = answer.members[-1]
    assert (prophet.name, prophet.weight_ratio) == ("prophet", 0)
    assert prophet.loss_ratio is not None
    assert 0 < prophet.loss_ratio < 5
