"""Our floors are judged against the best plain HPA that hindsight can name, at equal lateness."""

from collections.abc import Mapping
from datetime import timedelta

import numpy as np
import pytest

from benchmarks.decision import TARGETS, Ran, Rival, Verdict, counted, for_the_record, judged, policies, rival_of, summed_up, trace_by_trace
from forecaster.series import Floats, Series, Signal
from forecaster.simulate.fleet import Outcome
from tests.simulation.traces import START, trace

ROWS = TARGETS.size
POLICIES = {
    "static",
    "hpa_0.7",
    "hpa_best",
    "keda_cron_best",
    "last_week",
    "aws_like",
    "dynamo_like",
    "holt_winters",
    "clairvoyant_cold_start",
    "ours_hpa_0.7",
    "ours",
}


def plain(late_ratio: Mapping[int, float], otherwise: float) -> Outcome:
    """HPAs that cost 100 replica-hours at target 0.1, one less each 0.01; late as told by row."""
    late = np.full(ROWS, otherwise)
    late[list(late_ratio)] = list(late_ratio.values())
    hours: Floats = np.linspace(100, 100 - ROWS + 1, ROWS)
    return Outcome(
        arrivals=np.array([1e6]),
        late=1e6 * late[:, None],
        paid_min=hours[:, None] * 60.0,
        changes=np.zeros((ROWS, 1)),
        backlog=np.zeros(ROWS),
    )


def verdict(hours: float, late_ratio: float = 0.0004, *, rival: float = 100.0, least: float = 0.0, clairvoyant: float = 40.0) -> Verdict:
    return Verdict(
        name="made up",
        ran={
            "static": Ran(late_ratio=0, replica_hours=400, changes=0),
            "ours": Ran(late_ratio=late_ratio, replica_hours=hours, changes=30),
        },
        rival=Rival(target=0.6, late_ratio=0.0003, replica_hours=rival),
        least_late_ratio=least,
        clairvoyant_hours=clairvoyant,
        target=0.9,
        levels=(0.5, 0.8),
        spent_s=1,
    )


def test_every_target_from_a_tenth_to_one_is_tried() -> None:
    assert TARGETS[0] == 0.1
    assert TARGETS[-1] == 1
    assert np.allclose(np.diff(TARGETS), 0.01)


def test_the_rival_is_the_cheapest_that_is_late_no_more_often() -> None:
    rival = rival_of(0.002, plain({0: 0.0, 10: 0.001, 20: 0.002, 30: 0.0021}, otherwise=0.1))
    assert rival == Rival(target=TARGETS[20], late_ratio=0.002, replica_hours=80)


def test_a_rival_within_a_twentieth_of_a_per_cent_is_on_time_however_early_ours_is() -> None:
    assert rival_of(0.0, plain({0: 0.0, 10: 0.0005, 20: 0.0006}, otherwise=0.1)).replica_hours == 90


def test_where_no_target_is_as_timely_the_least_late_one_is_the_rival_and_the_cheapest_of_such() -> None:
    assert rival_of(0.001, plain({5: 0.02, 7: 0.01, 9: 0.01}, otherwise=0.1)).target == TARGETS[9]


def test_perfect_foresight_closes_the_whole_gap_and_the_rivals_hours_none_of_it() -> None:
    assert verdict(40).gap_closed == 1
    assert verdict(100).gap_closed == 0
    assert verdict(130).gap_closed == -0.5
    assert verdict(70).ratio == 0.7


def test_a_rival_that_pays_less_than_who_knows_each_minute_leaves_no_gap() -> None:
    assert np.isnan(verdict(30, rival=39).gap_closed)


def test_what_has_goals_is_summed_up_over_the_traces() -> None:
    of_traces = [verdict(50, 0.0005), verdict(98, 0.0012), verdict(60, 0.3, least=0.01)]
    found = {figure.name.removeprefix("the decision: "): figure for figure in summed_up(of_traces)}
    ratio, largest, gap, late, in_time = found.values()
    assert ratio.value == pytest.approx((0.5 * 0.98 * 0.6) ** (1 / 3))
    assert ratio.verdict == "reached"
    assert largest.value == 0.98
    assert gap.value == pytest.approx((50 / 60 + 2 / 60 + 40 / 60) / 3)
    assert gap.verdict == "reached"
    assert late.value == pytest.approx(0.12)
    assert late.verdict == "missed"
    assert in_time.value == 0.5


def test_where_no_plain_hpa_is_in_time_lateness_has_no_goal_to_reach() -> None:
    late = [figure for figure in summed_up([verdict(60, 0.3, least=0.01)]) if "late," in figure.name]
    assert [(figure.value, figure.verdict) for figure in late] == [(None, "no plain HPA is in time on any trace here")]


def test_generated_traces_have_no_goals() -> None:
    assert all(figure.goal is None for figure in for_the_record([verdict(50)], "generated traces"))


def test_policies_stand_side_by_side() -> None:
    table = policies(verdict(50))
    assert table.rows == (("static", "0.000%", "10.000", "0"), ("ours", "0.040%", "1.250", "30"))
    line = trace_by_trace([verdict(50)]).rows[0]
    assert line[:8] == ("made up", "2", "0.040%", "0.60", "0.030%", "0.000%", "0.500", "0.83")


def test_a_load_is_counted_as_it_would_be_recorded() -> None:
    mean = np.array([1.0, np.nan, 4.0])
    counts = counted(Series(signal=Signal.RPM, start=START, step_s=300, mean=mean, peak=mean)).counts
    assert np.array_equal(counts, [5, np.nan, 20], equal_nan=True)


def test_a_trace_is_backtested_under_the_contract_and_everybody_is_there() -> None:
    short = trace(4, 3_600, noise=0.1)
    found = judged("short", short)
    assert set(found.ran) == POLICIES
    assert len(found.levels) == 2
    assert found.ran["clairvoyant_cold_start"].replica_hours >= found.clairvoyant_hours
    assert short.end - START == timedelta(days=2 + len(found.levels))
    assert found.rival.replica_hours > found.clairvoyant_hours
