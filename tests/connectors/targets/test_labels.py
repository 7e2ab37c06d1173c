"""Marks as labels and back: nothing is lost, and what was never ours is never read."""

import re
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from connectors.targets.labels import OUR_LABELS, labels_of, marked, texts_of
from connectors.targets.marks import written_marks

INSTANTS = st.datetimes(min_value=datetime(2000, 1, 1), max_value=datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
COUNTS = st.integers(min_value=0, max_value=10_000)


@given(original=COUNTS, floors=st.lists(COUNTS, max_size=2), until=INSTANTS)
def test_what_is_written_is_read_and_every_cloud_takes_it(original: int, floors: list[int], until: datetime) -> None:
    texts = written_marks(original=original, floors=tuple(floors), valid_until=until)
    labels = labels_of(texts)
    assert texts_of(labels) == texts
    assert all(re.fullmatch(r"[a-z][a-z0-9_-]{0,62}", key) and re.fullmatch(r"[a-z0-9_-]{0,63}", text) for key, text in labels.items())


def test_labels_of_others_are_no_marks() -> None:
    assert texts_of({"team": "inference", "forecaster-team": "ml", "forecaster": "1"}) == {}
    assert marked({"team": "inference", "forecaster-paused": "hold", "forecaster-floor": "8"}) == {
        "forecaster-floor": "8",
        "forecaster-paused": "hold",
    }


def test_an_instant_that_cannot_be_read_stays_as_it_is_and_the_pause_is_not_ours_to_remove() -> None:
    assert texts_of({"forecaster-valid-until": "tomorrow"}) == {"forecaster/valid-until": "tomorrow"}
    assert "forecaster-paused" not in OUR_LABELS
