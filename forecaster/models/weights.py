"""How much each member says: its prior times its recent loss to a high negative power."""

import numpy as np
from numpy.typing import NDArray

from forecaster.series import Floats

_POWER, _SURE_DAYS = 18.0, 3.0  # n scored days raise a loss to the power 18 n / (n + 3): the ranking of a few days is noise
_HALF_LIFE_DAYS = 4.0
_DAYS = 14
_PRIOR_DAYS = 0.5  # days of an average loss that are mixed into each member's
_TINY = 1e-12


def weights(losses: Floats, opinion: NDArray[np.bool_], priors: Floats) -> Floats:
    """The share of each member of each series, (series, members), adding up to 1, or all 0 where none has an opinion.

    losses: mean absolute errors of earlier days, (series, days, members), the newest day first, NaN = not drawn or nothing measured.
    opinion: whether a member has one now, (series, members). priors: (members,). A loss counts relative to the mean of the day's
    members, so that an outage, on which all fail alike, moves nothing. One best member a series would do worse: the ranking of two
    weeks is noise.

    Source: inverse-loss weights as in Bates and Granger 1969, the power as measured on the shared traces (docs/benchmarks.md).
    """
    losses = losses[:, :_DAYS]
    known = ~np.isnan(losses)
    count = known.sum(axis=2, keepdims=True)
    mean = np.where(known, losses, 0.0).sum(axis=2, keepdims=True) / np.maximum(count, 1)
    relative = np.where(known, losses, 0.0) / np.maximum(mean, _TINY)
    recent = (known & (count > 1) & (mean > 0)) * (0.5 ** (np.arange(losses.shape[1]) / _HALF_LIFE_DAYS))[:, None]
    loss = ((relative * recent).sum(axis=1) + _PRIOR_DAYS) / (recent.sum(axis=1) + _PRIOR_DAYS)
    days = recent.sum(axis=1).max(axis=1, keepdims=True)
    power = _POWER * days / (days + _SURE_DAYS)
    raw = np.where(opinion, priors * np.maximum(loss, 0.05) ** -power, 0.0)
    total = raw.sum(axis=1, keepdims=True)
    shares: Floats = np.where(total > 0, raw / np.maximum(total, _TINY), 0.0)
    return shares
