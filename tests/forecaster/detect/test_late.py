"""What comes late: a second answer of a source, held against what was kept of the first."""

from datetime import timedelta

import numpy as np
import pytest

from forecaster.detect.late import late
from forecaster.marks import MarkKind
from forecaster.series import Series
from tests.traces import MONDAY, series_of

NAN = np.nan
STEP = timedelta(minutes=5)


def answer(*loads: float) -> Series:
    """The buckets up to MONDAY."""
    return series_of(np.array(loads), step_s=300)


def told(known: Series, fresh: Series) -> list[tuple[int, int, str]]:
    """Marks as buckets before MONDAY, and their words."""
    marks = late(known, fresh, MONDAY)
    assert all(mark.kind is MarkKind.LATE and mark.at == MONDAY and mark.detected for mark in marks)
    return [((mark.span.start - MONDAY) // STEP, (mark.span.end - MONDAY) // STEP, mark.detail) for mark in marks]


def test_a_bucket_that_changed_after_it_was_kept_is_late() -> None:
    assert told(answer(100, 60, 100, 100), answer(100, 120, 100, 100)) == [(-3, -2, "1 bucket changed by up to 50% after being kept")]


def test_a_bucket_that_was_measured_after_later_ones_is_late() -> None:
    assert told(answer(100, NAN, NAN, 100), answer(100, 90, 80, 100)) == [(-3, -1, "2 buckets measured after later ones")]


def test_all_that_changed_at_once_is_one_mark() -> None:
    known, fresh = answer(50, 100, NAN, 100, 100), answer(100, 100, 100, 150, 100)
    assert told(known, fresh) == [(-5, -1, "2 buckets changed by up to 50% after being kept; 1 bucket measured after later ones")]


@pytest.mark.parametrize(
    ("known", "fresh"),
    [
        (answer(100, 100, 100, 100), answer(100, 103, 98, 100)),  # a digit less or more
        (answer(100, 100, 100, 60), answer(100, 100, 100, 120)),  # the newest one: samples of it were on their way
        (answer(100, 100, NAN, NAN), answer(100, 100, 70, 80)),  # new ones
        (answer(100, 100, 100, 100), answer(100, NAN, 100, 100)),  # no longer answered: replaces nothing
        (answer(0, 0, 0, 0), answer(0, 0, 0, 0)),
        (answer(NAN, NAN, NAN, NAN), answer(1, 2, 3, 4)),  # the first fetch
    ],
)
def test_what_is_usual_between_two_fetches_is_not_late(known: Series, fresh: Series) -> None:
    assert told(known, fresh) == []


def test_only_what_was_asked_again_is_compared() -> None:
    known = answer(*[100.0] * 40)
    assert told(known, answer(50, 50, 50)) == [(-3, -1, "2 buckets changed by up to 50% after being kept")]
    assert told(known, known.between(MONDAY, MONDAY + STEP)) == []
