"""What is said of spans of history, and what of it holds."""

from datetime import datetime, timedelta

import pytest

from forecaster.marks import Mark, MarkKind, Treatment, marks_in_force, news, told_anew
from forecaster.series import Signal, Window
from tests.traces import MONDAY

HOUR = timedelta(hours=1)


def hours(start: float, end: float) -> Window:
    return Window(start=MONDAY + start * HOUR, end=MONDAY + end * HOUR)


def mark(
    start: float, end: float, kind: MarkKind = MarkKind.OUTAGE, *, at: float = 0, author: str = "", unmark: bool = False, detail: str = ""
) -> Mark:
    return Mark(kind=kind, span=hours(start, end), signal=Signal.RPM, at=MONDAY + at * HOUR, detail=detail, author=author, unmark=unmark)


def held(*said: Mark) -> list[tuple[MarkKind, float, float]]:
    return [(m.kind, (m.span.start - MONDAY) / HOUR, (m.span.end - MONDAY) / HOUR) for m in marks_in_force(said)]


OUTAGE, CROWD, MANUAL, STORM = MarkKind.OUTAGE, MarkKind.FLASH_CROWD, MarkKind.MANUAL, MarkKind.RETRY_STORM


@pytest.mark.parametrize("kind", MarkKind)
def test_every_kind_says_what_a_model_does_with_it(kind: MarkKind) -> None:
    assert str(kind) in (MarkKind.__doc__ or "")
    assert (kind.treatment is Treatment.LOWER_BOUND) == (kind is MarkKind.CENSORED)


def test_a_mark_needs_an_instant_in_utc_and_a_name_without_blanks_around_it() -> None:
    with pytest.raises(ValueError, match=r"mark\.at must be an aware UTC instant"):
        Mark(kind=OUTAGE, span=hours(0, 1), signal=Signal.RPM, at=datetime(2026, 3, 2))  # noqa: DTZ001 - the very fault
    with pytest.raises(ValueError, match=r"mark\.author must be a name"):
        mark(0, 1, author=" ada")


def test_what_was_found_holds_and_spans_of_one_kind_that_touch_are_one() -> None:
    assert held(mark(0, 2), mark(2, 5, at=1), mark(3, 4, CROWD)) == [(OUTAGE, 0, 5), (CROWD, 3, 4)]


def test_marks_of_several_signals_do_not_mix() -> None:
    tokens = Mark(kind=OUTAGE, span=hours(0, 1), signal=Signal.TOKENS, at=MONDAY)
    taken_back = mark(0, 1, MANUAL, at=1, author="ada", unmark=True)
    assert marks_in_force([mark(0, 1), tokens, taken_back]) == (tokens,)


def test_a_person_takes_back_what_was_found_before_and_what_is_found_later() -> None:
    unmark = mark(1, 3, MANUAL, at=1, author="ada", unmark=True)
    assert held(mark(0, 4), unmark) == [(OUTAGE, 0, 1), (OUTAGE, 3, 4)]
    assert held(mark(0, 4), unmark, mark(0, 4, CROWD, at=2)) == [(CROWD, 0, 1), (OUTAGE, 0, 1), (CROWD, 3, 4), (OUTAGE, 3, 4)]


def test_a_person_takes_back_one_kind_where_the_kind_is_named() -> None:
    assert held(mark(0, 4), mark(0, 4, CROWD), mark(0, 4, CROWD, at=1, author="ada", unmark=True)) == [(OUTAGE, 0, 4)]


def test_a_persons_mark_stands_above_what_is_found_in_its_span() -> None:
    said = mark(1, 3, MarkKind.LEVEL_SHIFT, at=1, author="ada")
    assert held(mark(0, 4), said, mark(1, 2, CROWD, at=2)) == [(OUTAGE, 0, 1), (MarkKind.LEVEL_SHIFT, 1, 3), (OUTAGE, 3, 4)]


def test_of_two_words_of_people_the_later_holds() -> None:
    said, taken_back = mark(0, 4, STORM, at=1, author="ada"), mark(0, 4, MANUAL, at=2, author="bob", unmark=True)
    assert held(said, taken_back) == []
    assert held(taken_back, mark(0, 4, STORM, at=3, author="ada")) == [(STORM, 0, 4)]


def test_detection_takes_back_what_it_found_and_never_a_persons_word() -> None:
    gone = mark(0, 4, STORM, at=2, unmark=True)
    assert held(mark(0, 4, STORM), gone) == []
    assert held(mark(0, 4, STORM, author="ada"), gone) == [(STORM, 0, 4)]


DAY = hours(0, 24)


def test_what_is_found_again_is_no_news() -> None:
    assert news([mark(1, 3, at=5)], [mark(1, 3)], DAY, MONDAY + 5 * HOUR) == ()


def test_what_moved_by_a_little_is_no_news() -> None:
    assert news([mark(1.1, 3, at=5)], [mark(1, 3)], DAY, MONDAY + 5 * HOUR) == ()


def test_what_grew_is_told_as_it_is_now() -> None:
    grown = mark(1, 4, at=5)
    told = news([grown], [mark(1, 3)], DAY, MONDAY + 5 * HOUR)
    assert told == (grown,)
    assert held(mark(1, 3), *told) == [(OUTAGE, 1, 4)]


def test_what_shrank_or_moved_replaces_what_it_was() -> None:
    now = MONDAY + 5 * HOUR
    for moved in (mark(1, 2, at=5), mark(2, 6, at=5)):
        told = news([moved], [mark(1, 4)], DAY, now)
        assert held(mark(1, 4), *told) == held(moved)
        assert news([moved], [mark(1, 4), *told], DAY, now) == ()


def test_what_is_no_longer_found_is_taken_back_once() -> None:
    now = MONDAY + 5 * HOUR
    told = news([], [mark(1, 3)], DAY, now)
    assert [(m.unmark, m.at, m.span) for m in told] == [(True, now, hours(1, 3))]
    assert news([], [mark(1, 3), *told], DAY, now) == ()


def test_what_lies_beyond_what_detection_sees_stays() -> None:
    assert news([], [mark(1, 3)], hours(2, 24), MONDAY + 5 * HOUR) == ()
    assert news([mark(1, 2, at=5)], [mark(1, 4)], hours(2, 24), MONDAY + 5 * HOUR) == ()


def test_what_a_person_said_is_nothing_that_detection_takes_back() -> None:
    assert news([], [mark(1, 3, author="ada")], DAY, MONDAY + 5 * HOUR) == ()


LATE, TWICE = MarkKind.LATE, MarkKind.DUPLICATE


@pytest.mark.parametrize("kind", [LATE, TWICE])
def test_what_was_told_as_samples_came_is_not_taken_back_for_not_being_found_later(kind: MarkKind) -> None:
    assert news((), (mark(0, 1, kind),), hours(-48, 48), MONDAY) == ()


def test_what_was_told_is_kept_once() -> None:
    assert told_anew((mark(1, 2, LATE),), (mark(0, 3, LATE),)) == ()
    assert told_anew((mark(1, 2, LATE),), (mark(0, 3, TWICE),)) == (mark(1, 2, LATE),)


def test_what_a_person_took_back_is_not_told_again() -> None:
    said = (mark(0, 3, LATE), mark(0, 3, LATE, at=1, author="ada", unmark=True))
    assert told_anew((mark(1, 2, LATE),), said) == ()


def test_a_source_that_is_late_every_hour_is_one_mark_that_grows() -> None:
    said = [mark(0, 0.5, LATE)]
    for hour in (1.0, 2.0, 3.0):
        said += told_anew((mark(hour, hour + 0.5, LATE, at=hour),), said)
    assert held(*said, mark(9, 9.5, LATE, at=9)) == [(LATE, 0, 3.5), (LATE, 9, 9.5)]
    assert told_anew((mark(9, 9.5, LATE),), said) == (mark(9, 9.5, LATE),)  # long after the last one
