"""What a backtest may be told is checked when it is told."""

import pytest

from forecaster.backtest.settings import Settings
from forecaster.forecast import STANDARD_LEVELS
from forecaster.models.nowcasting import LEVELS


def test_forecasts_state_the_standard_levels_and_every_candidate() -> None:
    levels = Settings(levels=(0.33, 0.95)).forecast_levels
    assert set(levels) == {*STANDARD_LEVELS, 0.33}
    assert list(levels) == sorted(levels)


def test_the_defaults_are_the_contract() -> None:
    settings = Settings()
    assert (settings.lead_time_s, settings.late_limit_ratio, settings.model, settings.fallback) == (
        600,
        0.001,
        "ensemble",
        "seasonal_naive",
    )


def test_the_candidates_are_the_levels_at_which_tails_are_learned() -> None:
    """Between them a tail is a straight line: at them it is what was measured."""
    assert Settings().levels == LEVELS


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"model": " "}, r"backtest\.model must not be empty"),
        ({"lead_time_s": -1}, r"backtest\.lead_time_s must be at least 0 seconds"),
        ({"late_limit_ratio": float("nan")}, r"backtest\.late_limit_ratio"),
        ({"levels": ()}, r"backtest\.levels must be at least one and increasing"),
        ({"levels": (0.9, 0.5)}, r"backtest\.levels must be at least one and increasing"),
        ({"levels": (0.5, 1.0)}, r"backtest\.levels must be a quantile level"),
        ({"targets": ()}, r"backtest\.targets must be at least one"),
        ({"targets": (0.0,)}, r"backtest\.targets must be at least one, each above 0 and at most 1"),
        ({"targets": (1.01,)}, r"each above 0 and at most 1"),
        ({"trailing_days": 0}, r"backtest\.trailing_days must be above 0 days"),
    ],
)
def test_nonsense_is_refused_with_the_name_of_the_field(wrong: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Settings(**wrong)  # type: ignore[arg-type]  # the point is a wrong value
