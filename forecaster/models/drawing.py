"""The members' paths of a chunk: each drawn on ordinary days, with holidays put back, and walled off from the others."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from forecaster.calendar import Calendar
from forecaster.models.holidays import adjustments, effects, holidays_around, without
from forecaster.models.past import Member, Past
from forecaster.series import Floats

_MOST_RATIO = 10.0  # no median of tomorrow lies so far above the largest load ever measured, or it diverged
_HIGHEST_RATIO = 3.0  # and one that is above three times of it is held there: a trend that ran on


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawing:
    """Log medians (series, members, reach), a row of NaN where a member has no opinion, and what was said by members that raised.

    failed: (member, series, sentence), each once.
    """

    paths: Floats = field(repr=False)
    failed: tuple[tuple[str, str, str], ...] = ()


def drawn(members: Sequence[Member], past: Past, reach: int, calendar: Calendar) -> Drawing:
    """Every member on a chunk. One that raises is asked series by series, and has no opinion where it raises again."""
    if not past.days:
        return Drawing(paths=np.full((len(past.names), len(members), reach), np.nan))
    holidays = holidays_around(past, calendar, reach)
    ordinary = without(past, holidays)
    paths, failed = [], []
    for member in members:
        path, said = _walled(member, ordinary, reach)
        paths.append(path)
        failed += said
    stacked = _believed(np.stack(paths, axis=1), past)
    if holidays:
        stacked = stacked + adjustments(past, effects(past, holidays), holidays, reach)[:, None]
    return Drawing(paths=stacked, failed=tuple(failed))


def _walled(member: Member, past: Past, reach: int) -> tuple[Floats, list[tuple[str, str, str]]]:
    try:
        return member.draw(past, reach), []
    except Exception as error:  # noqa: BLE001  a member's library may raise anything, and neither series nor members may stop each other
        if len(past.names) == 1:
            sentence = f"{member.name} failed on {past.names[0]} with {type(error).__name__}: {error}"
            return np.full((1, reach), np.nan), [(member.name, past.names[0], sentence)]
    apart = [_walled(member, past.only(np.array([row])), reach) for row in range(len(past.names))]
    return np.concatenate([path for path, _ in apart]), [one for _, said in apart for one in said]


def _believed(paths: Floats, past: Past) -> Floats:
    """Paths without those that are not finite throughout or that diverged."""
    lines = past.logs.reshape(len(past.names), -1)
    largest = np.exp(np.where(np.isnan(lines), -np.inf, lines).max(axis=1)) - past.offset
    most = np.log(_MOST_RATIO * np.maximum(largest, past.offset) + past.offset)
    sane = (paths <= most[:, None, None]).all(axis=2) & np.isfinite(paths).all(axis=2)
    highest = np.log(_HIGHEST_RATIO * np.maximum(largest, past.offset) + past.offset)
    return np.where(sane[..., None], np.clip(paths, np.log(past.offset)[:, None, None], highest[:, None, None]), np.nan)
