"""Charts: what is drawn is what is known, and every line fits."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from forecaster.calendar import Calendar
from forecaster.plan import Floor, Plan
from forecaster.reasons import Code, Reason
from forecaster.series import Floats
from forecaster.units import DAY_S, HOUR_S
from forecaster.workload import Policy
from jobs.cli.canvas import LABEL_WIDTH, ascii_of
from jobs.cli.chart import Frame, by_column, columns_within, floors_ahead, floors_by_column, load_against, load_ahead, plan_chart
from tests.values import demand_of, plan_of

MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
FRAME = Frame(start=MONDAY, calendar=Calendar(), columns=24)
HOURS = np.arange(24.0)


def drawn(lines: list[str]) -> list[str]:
    """What stands right of the axis, from the top row down, without headline, axis and ticks."""
    return [line[LABEL_WIDTH + 1 :].ljust(24) for line in lines[1:-2]]


def column(lines: list[str], c: int) -> str:
    """One column from the bottom up."""
    return "".join(row[c] for row in reversed(drawn(lines)))


@pytest.mark.parametrize(("width", "columns"), [(200, 144), (120, 96), (104, 96), (80, 72), (79, 48), (40, 24), (10, 24)])
def test_a_day_has_as_many_columns_as_fit_and_each_is_whole_minutes(width: int, columns: int) -> None:
    assert columns_within(width) == columns
    assert 24 * 60 % columns == 0


def test_load_is_solid_to_the_median_and_shaded_to_the_upper_quantile() -> None:
    lines = load_ahead(FRAME, np.full(24, 40.0), np.full(24, 60.0), "requests/min")
    assert lines[1].startswith("    60 ┤")
    assert column(lines, 5) == "█████▃░░"


def test_no_load_is_drawn_as_nothing_and_unknown_load_as_dots() -> None:
    median = np.where(HOURS < 12, 0.0, np.nan)
    lines = load_ahead(FRAME, median, median, "requests/min")
    assert column(lines, 0) == " " * 8
    assert column(lines, 20) == "·" + " " * 7
    assert "· not known" in lines[0]


def test_the_smallest_load_can_be_seen() -> None:
    load = np.where(HOURS == 3, 1.0, 100_000.0)
    assert column(load_ahead(FRAME, load, load, "requests/min"), 3)[0] == "▁"


def test_units_zone_and_grain_stand_over_a_chart() -> None:
    frame = Frame(start=MONDAY, calendar=Calendar(zone="Asia/Kolkata"), columns=72)
    head = load_ahead(frame, np.ones(72), np.ones(72), "tokens/s")[0]
    assert head.startswith("tokens/s ")
    assert head.endswith("Asia/Kolkata (IST), 20 min/column")


def test_ticks_are_whole_local_hours_and_midnight_is_the_day() -> None:
    frame = Frame(start=datetime(2026, 3, 2, 7, 40, tzinfo=UTC), calendar=Calendar(zone="Asia/Kolkata"), columns=72)
    axis, labels = load_ahead(frame, np.ones(72), np.ones(72), "requests/min")[-2:]
    ticks = [i for i, char in enumerate(axis) if char == "┬"]
    named = [labels[i:].split("  ")[0] for i in ticks]
    assert named[:4] == ["15:00", "18:00", "21:00", "Tue 03"]
    # 07:40 UTC is 13:10 in Kolkata: 15:00 is 110 minutes on, in the sixth column of 20 minutes
    assert ticks[0] - LABEL_WIDTH - 1 == 5


def test_on_the_day_that_clocks_go_forward_a_tick_stays_a_whole_local_hour() -> None:
    calendar = Calendar(zone="Europe/Paris")
    frame = Frame(start=datetime(2026, 3, 28, 23, tzinfo=UTC), calendar=calendar, columns=72, span_s=23 * HOUR_S)
    assert "06:00" in load_ahead(frame, np.ones(72), np.ones(72), "requests/min")[-1]


def test_a_column_sums_up_the_steps_that_touch_it() -> None:
    halves = np.arange(48.0)
    assert by_column(FRAME, MONDAY, 1_800, halves, np.max).tolist() == halves[1::2].tolist()
    late = by_column(FRAME, MONDAY + timedelta(hours=22), 1_800, halves, np.max)
    assert np.isnan(late[:22]).all()
    assert late[22:].tolist() == [1.0, 3.0]


def test_a_coarser_grid_fills_every_column_that_it_covers() -> None:
    values = by_column(FRAME, MONDAY - timedelta(hours=2), 4 * HOUR_S, np.array([1.0, 2.0]), np.max)
    assert values[:6].tolist() == [1.0, 1.0, 2.0, 2.0, 2.0, 2.0]
    assert np.isnan(values[6:]).all()


def floors(*replicas: int, hours: int = 6) -> Plan:
    reason = Reason(code=Code.SIGNAL_BINDS, detail="rpm")
    starts = [MONDAY + timedelta(hours=hours * i) for i in range(len(replicas) + 1)]
    runs = tuple(Floor(start=a, until=b, replicas=n, reason=reason) for a, b, n in zip(starts, starts[1:], replicas, strict=False))
    return Plan(workload="chat", pool="gpu", issued_at=MONDAY, valid_until=starts[-1], floors=runs, demand=None)


def test_every_run_of_floors_carries_its_number_just_above_it() -> None:
    lines = floors_ahead(FRAME, floors_by_column(FRAME, floors(2, 12, 0)))
    numbers = [(row, word) for row, line in enumerate(reversed(drawn(lines))) for word in line.split() if word.isdigit()]
    assert sorted(numbers) == [(0, "0"), (1, "2"), (5, "12")]
    assert "· not known" in lines[0]  # the plan ends six hours early


def test_few_replicas_are_a_row_each() -> None:
    lines = floors_ahead(FRAME, floors_by_column(FRAME, floors(1, 3, 2)))
    assert [column(lines, c)[:3].count("█") for c in (0, 6, 13)] == [1, 3, 2]


def test_a_column_shows_its_largest_floor() -> None:
    assert floors_by_column(FRAME, floors(*range(1, 49), hours=1))[:3].tolist() == [1.0, 2.0, 3.0]
    wide = Frame(start=MONDAY, calendar=Calendar(), columns=6)
    assert floors_by_column(wide, floors(*range(1, 25), hours=1)).tolist() == [4.0, 8.0, 12.0, 16.0, 20.0, 24.0]


def test_measured_load_is_a_line_over_the_band_that_breaks_where_nothing_was_measured() -> None:
    measured = np.where((np.arange(48) >= 20) & (np.arange(48) < 30), np.nan, 50.0)
    lines = load_against(FRAME, np.full(24, 40.0), np.full(24, 60.0), measured, "requests/min")
    dots = [c for c in range(24) if any(char >= "⠁" for char in column(lines, c) if char not in "░·")]
    assert dots == [*range(10), *range(15, 24)]
    assert column(lines, 12)[0] == "·"
    assert "░" in column(lines, 12)


def test_a_jump_of_the_measured_load_is_drawn_through() -> None:
    measured = np.repeat([10.0, 80.0], 24)
    lines = load_against(FRAME, np.zeros(24), np.full(24, 5.0), measured, "requests/min")
    assert sum(char >= "⠁" for char in column(lines, 12) if char not in "░· ") >= 7


def test_a_plan_is_drawn_with_the_load_that_sized_it() -> None:
    chart = plan_chart(plan_of([250.0] * 288, Policy()), Calendar(), MONDAY.replace(hour=8), width=80)
    assert "P95 of the next 15 min" in chart
    assert "replicas  █ floor" in chart
    assert max(len(line) for line in chart.splitlines()) <= 80


def test_ascii_says_the_same_without_a_single_other_character() -> None:
    lines = load_against(FRAME, np.full(24, 40.0), np.full(24, 60.0), np.full(48, 50.0), "requests/min")
    lines += load_ahead(FRAME, np.full(24, 40.0), np.full(24, 60.0), "requests/min")
    assert ascii_of("\n".join(lines)).isascii()


LOADS = arrays(np.float64, 96, elements=st.one_of(st.floats(0, 1e12), st.just(np.nan)))


@given(median=LOADS, more=LOADS, columns=st.sampled_from([24, 48, 72, 96]))
def test_any_load_is_drawn_within_the_width(median: Floats, more: Floats, columns: int) -> None:
    frame = Frame(start=MONDAY, calendar=Calendar(zone="America/Argentina/ComodRivadavia"), columns=columns)
    low, high = median[:columns], median[:columns] + more[:columns]
    charts = (
        load_ahead(frame, low, high, "requests in flight"),
        floors_ahead(frame, np.ceil(low)),
        load_against(frame, low, high, np.resize(more, 2 * columns), "requests in flight"),
    )
    for chart in charts:
        assert max(len(line) for line in chart[1:]) <= columns + LABEL_WIDTH + 1


def test_a_day_of_demand_covers_the_frame() -> None:
    demand = demand_of([100.0] * 288, start=MONDAY)
    assert (demand.end - demand.start).total_seconds() == DAY_S
    assert not np.isnan(by_column(FRAME, demand.start, demand.step_s, demand.load[0], np.max)).any()
