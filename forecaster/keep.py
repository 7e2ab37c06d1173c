"""How long the store remembers: long enough for every question that the line, the views and a year's calendar ask."""

from dataclasses import dataclass, fields

from forecaster.units import DAY_S, check_positive

_LEAST_S = {
    "history_s": 14 * DAY_S,
    "forecasts_s": 28 * DAY_S,
    "all_forecasts_s": 2 * DAY_S,
    "plans_s": 42 * DAY_S,
    "records_s": 28 * DAY_S,
    "starts_s": 56 * DAY_S,
}
"""Plans: the same weekday of the last four weeks is looked up, in plans that were made up to 14 days before. The others: what `review` and
`explain` look back, and lead times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keep:
    """Spans in seconds. Beyond all_forecasts_s one forecast a UTC day is kept, the first, up to forecasts_s.

    What people said (rulings, marks, events) has no span: it is kept.
    """

    history_s: float = 400 * DAY_S
    forecasts_s: float = 90 * DAY_S
    all_forecasts_s: float = 14 * DAY_S
    plans_s: float = 90 * DAY_S
    records_s: float = 400 * DAY_S
    starts_s: float = 90 * DAY_S

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            check_positive(f"keep.{field.name}", value, "seconds")
            if value < _LEAST_S[field.name]:
                msg = f"keep.{field.name.removesuffix('_s')} must be at least {_LEAST_S[field.name] / DAY_S:g}d, got {value / DAY_S:g}d"
                raise ValueError(msg)
        if self.all_forecasts_s > self.forecasts_s:
            msg = f"keep.all_forecasts must not be longer than keep.forecasts, got {self.all_forecasts_s:g} s and {self.forecasts_s:g} s"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """How much was forgotten: days of one signal's history, forecasts, plans, records, starts of replicas, moves of levers."""

    history: int
    forecasts: int
    plans: int
    records: int
    starts: int = 0
    moves: int = 0

    @property
    def total(self) -> int:
        """All of it."""
        return self.history + self.forecasts + self.plans + self.records + self.starts + self.moves
