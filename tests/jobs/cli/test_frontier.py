"""The frontier on a terminal and as a picture: every point inside, axes with units, whatever the figures."""

import xml.etree.ElementTree as ET

import pytest

from jobs.cli.frontier import frontier_chart
from jobs.proof.chart import frontier_svg
from jobs.proof.cron import Timetable
from jobs.proof.judged import CRONS, FLOORS, HPAS, Judged, Point, Row
from jobs.proof.scales import scales

LIMIT = 0.001


def point(hours: float, late_ratio: float, target: float = 0.7) -> Point:
    return Point(replica_hours=hours, late_ratio=late_ratio, target=target)


def judged(*hpas: Point, yours: tuple[float, float] | None = None) -> Judged:
    named = {"ours": (1_000.0, 0.0005)} | ({} if yours is None else {"hpa_yours": yours})
    return Judged(
        rows={
            name: Row(name=name, replica_hours=hours, late_ratio=late, late_minutes=0, missed=(), changes=0, target=0.7)
            for name, (hours, late) in named.items()
        },
        mornings=(),
        frontier={HPAS: hpas, CRONS: (point(1_200, 0.0),), FLOORS: (point(1_000, 0.0005),)},
        cron=Timetable(minimum=1, windows=()),
        worst=(),
    )


def test_less_late_is_lower_and_dearer_is_further_right() -> None:
    lines = frontier_chart(judged(point(900, 0.02), point(1_300, 0.0), yours=(1_100.0, 0.004)), LIMIT).splitlines()
    places = {char: (row, line.index(char)) for row, line in enumerate(lines) for char in "cY@" if row > 0 and char in line}
    assert places["Y"][0] < places["@"][0] < places["c"][0]
    assert places["@"][1] < places["Y"][1] < places["c"][1]
    assert max(map(len, lines)) <= 100


def test_axes_say_what_they_count() -> None:
    lines = frontier_chart(judged(point(900, 0.02)), LIMIT).splitlines()
    assert lines[0].startswith("late requests  h plain HPA  c KEDA cron  o our floors  @ recommended")
    assert lines[-1].strip() == "replica-hours"
    assert any(line.lstrip().startswith("0.1 % ┤") for line in lines)
    assert {line.index(edge) for line in lines[1:-2] for edge in "┤│└" if edge in line} == {8}


@pytest.mark.parametrize(
    "hpas", [(point(1_000, 0.0005),), (point(1_000, 1.0),), (point(0.01, 0.0), point(1_699, 0.5)), (point(1e9, 0.0),)], ids=str
)
def test_any_figures_have_a_chart(hpas: tuple[Point, ...]) -> None:
    assert "@" in frontier_chart(judged(*hpas), LIMIT)
    svg = frontier_svg(judged(*hpas, yours=(1_500.0, 0.0)), "a < b & c", LIMIT)
    for circle in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}circle"):  # noqa: S314  # our own text
        assert 0 <= float(circle.attrib["cx"]) <= 860
        assert 0 <= float(circle.attrib["cy"]) <= 520


def test_far_dearer_settings_do_not_squeeze_the_others() -> None:
    assert "3,000" not in frontier_chart(judged(point(3_000, 0.0)), LIMIT)


def test_labels_are_written_as_people_write_them() -> None:
    lines = frontier_chart(judged(point(900, 0.9)), LIMIT).splitlines()
    labels = [line.partition("┤")[0].strip() for line in lines if "┤" in line]
    assert labels == ["100 %", "10 %", "1 %", "0.1 %", "<0.01 %"]


def test_scales_end_at_whole_tenfolds() -> None:
    assert scales((point(10, 0.03), point(20, 0.0))).lates() == pytest.approx((1e-4, 1e-3, 1e-2, 1e-1))
    assert scales((point(10, 1.0),)).most_late == 1.0
