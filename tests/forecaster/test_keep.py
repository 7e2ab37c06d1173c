"""How long the store may be told to remember."""

import pytest

from forecaster.keep import Keep
from forecaster.units import DAY_S


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"plans_s": 41 * DAY_S}, "keep.plans must be at least 42d, got 41d"),
        ({"history_s": DAY_S}, "keep.history must be at least 14d, got 1d"),
        ({"records_s": 0}, r"keep.records_s"),
        ({"forecasts_s": 30 * DAY_S, "all_forecasts_s": 31 * DAY_S}, "keep.all_forecasts must not be longer than keep.forecasts"),
    ],
)
def test_a_span_that_is_too_short_for_what_is_asked_of_it_is_refused(wrong: dict[str, float], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Keep(**wrong)
