"""What a backtest may be told; the defaults are the contract that results are compared under."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from forecaster.forecast import STANDARD_LEVELS
from forecaster.recommendation import LEAST_DAYS
from forecaster.units import DAY_S, MINUTE_S, check_level, check_named, check_not_negative, check_positive

Progress: TypeAlias = Callable[[float, str], None]
"""Told the share of the work that is done, 0..1, and what is being done."""


def silent(_done_ratio: float, _doing: str) -> None:
    """No progress wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How the forecasts are made and what the operating point may be.

    model, fallback: names in the catalogue of models. lead_time_s: request to ready. late_limit_ratio: the share of requests that may be
    late. history_s: how far back a model looks. levels, targets: the candidates of the operating point. trailing_days: the level of a
    day is chosen on so many days before it, once there are `least_days` of them.
    replica_rpm: what one replica serves; None = sized from the trace, as the contract has it.
    """

    model: str = "ensemble"
    fallback: str = "seasonal_naive"
    lead_time_s: float = 10 * MINUTE_S
    late_limit_ratio: float = 0.001
    history_s: int = 56 * DAY_S
    levels: tuple[float, ...] = (0.05, 0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 0.975, 0.99, 0.995, 0.998, 0.9995)
    targets: tuple[float, ...] = (0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)
    trailing_days: int = 28
    least_days: int = LEAST_DAYS
    replica_rpm: float | None = None

    def __post_init__(self) -> None:
        check_named("backtest.model", self.model)
        check_named("backtest.fallback", self.fallback)
        check_not_negative("backtest.lead_time_s", self.lead_time_s, "seconds")
        check_not_negative("backtest.late_limit_ratio", self.late_limit_ratio, "")
        check_positive("backtest.history_s", self.history_s, "seconds")
        check_positive("backtest.trailing_days", self.trailing_days, "days")
        check_positive("backtest.least_days", self.least_days, "days")
        if self.replica_rpm is not None:
            check_positive("backtest.replica_rpm", self.replica_rpm, "requests/min")
        for level in self.levels:
            check_level("backtest.levels", level)
        if not self.levels or any(a >= b for a, b in pairwise(self.levels)):
            msg = f"backtest.levels must be at least one and increasing, got {self.levels}"
            raise ValueError(msg)
        if not self.targets or any(not 0 < target <= 1 for target in self.targets):
            msg = f"backtest.targets must be at least one, each above 0 and at most 1, got {self.targets}"
            raise ValueError(msg)

    @property
    def forecast_levels(self) -> tuple[float, ...]:
        """The levels that each forecast states: the standard ones and every candidate."""
        return tuple(sorted({*STANDARD_LEVELS, *self.levels}))
