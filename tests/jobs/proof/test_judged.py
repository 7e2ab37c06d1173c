"""What a backtest comes to: the same figures as the replay's own, told by the minute and the morning, and who did as well."""

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from forecaster.backtest.run import Backtest, backtest
from forecaster.backtest.settings import Settings
from forecaster.simulate.autoscaler import Hpa, HpaBehavior
from jobs.backtest import CONTRACT_POLICY
from jobs.proof.judged import CRONS, FLOORS, HPAS, OURS, OURS_YOURS, RETARGETED, YOURS, Judged, Point, Row, judge
from jobs.proof.report import Report, report_summary
from jobs.proof.verdict import as_good, beyond_limit
from tests.simulation.traces import trace


@pytest.fixture(scope="module")
def found() -> Backtest:
    return backtest(trace(6, 1_800), CONTRACT_POLICY, Settings(levels=(0.5, 0.9), targets=(0.6, 0.8), model="seasonal_naive"))


@pytest.fixture(scope="module")
def judged(found: Backtest) -> Judged:
    return judge(found, Hpa(target=0.6, behavior=HpaBehavior(minimum=2, maximum=50)))


def test_every_policy_costs_and_is_late_as_the_backtest_says(found: Backtest, judged: Judged) -> None:
    for name, outcome in found.outcomes.items():
        assert judged.rows[name].replica_hours == pytest.approx(float(outcome.replica_hours[0]))
        assert judged.rows[name].late_ratio == pytest.approx(float(outcome.late_ratio[0]))


def test_the_users_hpa_has_three_rows_that_are_left_out_where_it_is_not_known(found: Backtest, judged: Judged) -> None:
    assert {YOURS, OURS_YOURS, RETARGETED} <= judged.rows.keys()
    assert not {YOURS, OURS_YOURS, RETARGETED} & judge(found).rows.keys()
    assert judged.rows[RETARGETED].target == found.points[0].target
    assert judged.rows[OURS_YOURS].target == 0.6


def test_floors_never_make_the_users_hpa_later(judged: Judged) -> None:
    assert judged.rows[OURS_YOURS].late_ratio <= judged.rows[YOURS].late_ratio
    assert judged.rows[OURS_YOURS].replica_hours >= judged.rows[YOURS].replica_hours


def test_the_frontier_has_every_target_and_of_crons_those_that_none_undercuts(found: Backtest, judged: Judged) -> None:
    assert [point.target for point in judged.frontier[FLOORS]] == list(found.settings.targets)
    assert len(judged.frontier[HPAS]) > 10
    crons = judged.frontier[CRONS]
    assert all(a.replica_hours <= b.replica_hours and a.late_ratio > b.late_ratio for a, b in pairwise(crons))


def test_late_minutes_and_worst_days_are_those_of_ours(found: Backtest, judged: Judged) -> None:
    by_day = found.outcomes[OURS].late[0]
    assert [day.index for day in judged.worst] == [int(i) for i in np.argsort(-by_day, kind="stable")[:5] if by_day[i] > 0]
    assert all(day.late == pytest.approx(by_day[day.index]) for day in judged.worst)


def test_the_summary_is_strict_json_with_a_row_for_each(found: Backtest, judged: Judged) -> None:
    summary = report_summary(Report(found=found, judged=judged))
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    policies = summary["policies"]
    assert isinstance(policies, dict)
    assert policies.keys() == judged.rows.keys() | found.outcomes.keys()
    assert (summary["load"], summary["hpa"], summary["notes"]) == (None, None, [])


def rows(**given: tuple[float, float]) -> dict[str, Row]:
    """Policies by their (replica-hours, late ratio)."""
    usual = Row(name="", replica_hours=0, late_ratio=0, late_minutes=0, missed=(), changes=0, target=0.8)
    return {name: replace(usual, name=name, replica_hours=hours, late_ratio=late) for name, (hours, late) in given.items()}


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ({"hpa_best": (105.0, 0.0)}, None),
        ({"hpa_best": (90.0, 0.002)}, None),
        ({"hpa_best": (100.0, 0.001)}, "the best plain HPA in hindsight (hpa_best) would have done as well"),
        ({"keda_cron_best": (100.5, 0.0004)}, "`forecaster export keda-cron --from DIR` prints it"),
        ({"hpa_yours": (90.0, 0.0), "keda_cron_best": (80.0, 0.0)}, "your HPA as it is would have done as well"),
        ({"last_week": (99.0, 0.0)}, "last week's load as the floor"),
    ],
)
def test_the_simplest_that_is_no_later_and_no_dearer_is_named(
    judged: Judged, others: dict[str, tuple[float, float]], said: str | None
) -> None:
    found = list(as_good(replace(judged, rows=rows(ours=(100.0, 0.001), **others))))
    assert len(found) == (said is not None)
    assert said is None or said in found[0]


def test_half_a_thousandth_late_counts_as_on_time(judged: Judged) -> None:
    assert list(as_good(replace(judged, rows=rows(ours=(100.0, 0.0), hpa_best=(100.0, 0.0005)))))
    assert not list(as_good(replace(judged, rows=rows(ours=(100.0, 0.0), hpa_best=(100.0, 0.0006)))))


def test_what_is_later_but_on_time_is_not_called_no_later(judged: Judged) -> None:
    (said,) = as_good(replace(judged, rows=rows(ours=(100.0, 0.0), hpa_best=(100.0, 0.0005))))
    assert "on time (0.050% late) and no dearer" in said
    (said,) = as_good(replace(judged, rows=rows(ours=(100.0, 0.0005), hpa_best=(100.0, 0.0005))))
    assert "no later and no dearer" in said


def test_a_patch_is_offered_only_where_there_is_an_hpa_to_patch(judged: Judged) -> None:
    (said,) = as_good(replace(judged, rows=rows(ours=(100.0, 0.0), hpa_best=(90.0, 0.0))))
    assert "export hpa" not in said
    (said,) = as_good(replace(judged, rows=rows(ours=(100.0, 0.0), hpa_best=(90.0, 0.0), hpa_yours=(200.0, 0.0))))
    assert said.endswith("try its target, 80%, first: `forecaster export hpa --from DIR --best` prints the patch.")


def floors_at(judged: Judged, *points: tuple[float, float, float]) -> Judged:
    """Ours 0.2 % late, and our floors under other targets: (target, replica-hours, late ratio)."""
    swept = tuple(Point(target=target, replica_hours=hours, late_ratio=late) for target, hours, late in points)
    return replace(judged, rows=rows(ours=(100.0, 0.002)), frontier={FLOORS: swept})


def test_floors_later_than_the_limit_say_so_with_the_cheapest_target_that_kept_it(judged: Judged) -> None:
    (said,) = beyond_limit(floors_at(judged, (0.6, 130.0, 0.0), (0.8, 110.0, 0.001), (0.9, 100.0, 0.002)), 0.001)
    assert "later than the limit of 0.1%: 0.200%" in said
    assert "With a target of 80% it would have been 0.100% at +10.0% replica-hours" in said
    (said,) = beyond_limit(floors_at(judged, (0.9, 100.0, 0.002)), 0.001)
    assert "no target keeps the limit" in said


def test_floors_within_the_limit_need_no_word(judged: Judged) -> None:
    assert not list(beyond_limit(replace(judged, rows=rows(ours=(100.0, 0.001))), 0.001))
