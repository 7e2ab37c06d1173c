"""One gradient-boosted model of what ridge regression misses, learned on the whole fleet."""

from dataclasses import dataclass, field

import numpy as np

from forecaster.models.members.ridge import Ridge
from forecaster.models.past import Past
from forecaster.models.rows import coarse, coarse_slots, median_last
from forecaster.series import Floats

_BASE = Ridge(name="base", half_life_days=28.0)
_WEEK = 7
_ORIGINS, _LEAST_DAYS, _LEAST_ROWS = (
    28,
    9,
    400,
)  # hindcasts to learn from; days before the oldest of them; rows below which nothing is learned
_MOST_SERIES, _MOST_AHEAD = 100, 2
_HALF_LIFE_DAYS = 21.0
_ROUNDS = 80
_PARAMETERS = {
    "objective": "quantile",
    "alpha": 0.5,
    "learning_rate": 0.05,
    "num_leaves": 15,
    "min_data_in_leaf": 60,
    "feature_fraction": 0.7,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "lambda_l2": 5.0,
    "num_threads": 1,
    "deterministic": True,
    "force_col_wise": True,
    "seed": 1,
    "verbose": -1,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Gbm:
    """Ridge regression plus what trees see in the last days, the week before, the weekday and the time of day, at half hours.

    One model for all series of a fleet, since a series alone has too few days for it; it is learned once a week on hindcasts.

    Reference: Ke et al. 2017, LightGBM; the global approach, Montero-Manso and Hyndman 2021. Cost: about 1 ms CPU a series of 8 weeks at
    5 minutes, half of it for the regression; learning takes seconds.
    """

    learned: bytes = field(default=b"", repr=False)
    name: str = "gbm"

    def draw(self, past: Past, reach: int) -> Floats:
        """NaN where nothing was learned, or less than nine days are known."""
        paths = np.full((len(past.names), reach), np.nan)
        young = past.days < _LEAST_DAYS or not self.learned
        rows = np.flatnonzero(~np.isnan(past.logs[:, min(_LEAST_DAYS, past.days) - 1]).all(axis=1) & ~young)
        if not rows.size:
            return paths
        import lightgbm  # noqa: PLC0415  heavy, and an extra

        known = past.only(rows)
        booster = lightgbm.Booster(model_str=self.learned.decode())
        per_day = past.clock.per_day
        ahead = -(-reach // per_day)
        base = _BASE.draw(known, ahead * per_day)
        slots = coarse_slots(per_day)
        above = [
            np.asarray(booster.predict(_features(known, base, day).reshape(rows.size * slots, -1), num_threads=1)).reshape(rows.size, slots)
            for day in range(ahead)
        ]
        paths[rows] = (base + _fine(np.concatenate(above, axis=1), per_day // slots))[:, :reach]
        return paths


def learn(past: Past) -> bytes:
    """What `Gbm` keeps: a model learned on hindcasts of up to a hundred series; nothing where too little is known."""
    sample = past.only(np.unique(np.linspace(0, len(past.names) - 1, _MOST_SERIES).astype(np.intp)))
    per_day, slots = past.clock.per_day, coarse_slots(past.clock.per_day)
    inputs, targets, weights = [], [], []
    for back in range(1, min(_ORIGINS, past.days - _LEAST_DAYS) + 1):
        then, days = sample.earlier(back), min(_MOST_AHEAD, back)
        base = _BASE.draw(then, days * per_day)
        for day in range(days):
            came = coarse(sample.logs[:, back - 1 - day] - base[:, day * per_day : (day + 1) * per_day], slots)
            known = ~np.isnan(came)
            inputs.append(_features(then, base, day)[known])
            targets.append(came[known])
            weights.append(np.full(int(known.sum()), 0.5 ** (back / _HALF_LIFE_DAYS)))
    if sum(map(len, targets)) < _LEAST_ROWS:
        return b""
    import lightgbm  # noqa: PLC0415  heavy, and an extra

    data = lightgbm.Dataset(np.concatenate(inputs), np.concatenate(targets), weight=np.concatenate(weights))
    return str(lightgbm.train(_PARAMETERS, data, _ROUNDS).model_to_string()).encode()


def _features(past: Past, base: Floats, day: int) -> Floats:
    """What the trees see of one day ahead, shape (series, slots, features): all of it relative to the regression or to the last week."""
    per_day, slots = past.clock.per_day, coarse_slots(past.clock.per_day)
    ahead = coarse(base[:, day * per_day : (day + 1) * per_day], slots)
    days = coarse(past.logs[:, : 2 * _WEEK], slots)
    if days.shape[1] < 2 * _WEEK:
        days = np.pad(days, ((0, 0), (0, 2 * _WEEK - days.shape[1]), (0, 0)), constant_values=np.nan)
    levels = median_last(days)
    week = median_last(levels[:, :_WEEK])[:, None]
    same = (_WEEK - 1 - day) % _WEEK
    known = ~np.isnan(days[:, :_WEEK])
    mean = np.where(known, days[:, :_WEEK], 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    lags = [days[:, 0], days[:, 1], days[:, same], days[:, same + _WEEK], mean]
    of_slots = [lag - ahead for lag in lags] + [ahead - week]
    of_series = [levels[:, lag] - week[:, 0] for lag in (0, 1, 2, _WEEK - 1, _WEEK, 2 * _WEEK - 1)]
    of_series.append(median_last(days[:, 0, -max(1, slots // 8) :]) - week[:, 0])
    clock = past.clock
    at = (day * per_day + np.arange(slots) * (per_day // slots)).astype(np.int64)
    local_day = clock.days(at)
    of_clock = [(clock.local_s + at * clock.step_s) % 86_400 / 86_400, (local_day + 3) % _WEEK, np.full(slots, float(day))]
    shape = ahead.shape
    columns = of_slots + [np.broadcast_to(one[:, None], shape) for one in of_series] + [np.broadcast_to(one, shape) for one in of_clock]
    return np.stack(columns, axis=-1)


def _fine(line: Floats, ratio: int) -> Floats:
    """Half hours as slots of the grid, drawn linearly between their middles, shape (series, n x ratio)."""
    if ratio == 1:
        return line
    middles = (np.arange(line.shape[1]) + 0.5) * ratio - 0.5
    slots = np.arange(line.shape[1] * ratio)
    right = np.clip(np.searchsorted(middles, slots), 1, line.shape[1] - 1)
    share = np.clip((slots - middles[right - 1]) / ratio, 0.0, 1.0)
    drawn: Floats = line[:, right - 1] * (1 - share) + line[:, right] * share
    return drawn
