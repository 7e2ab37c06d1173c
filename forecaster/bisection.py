"""The next load of a search for the knee: rising in leaps until one breaks, then halving between what held and what broke."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from forecaster.units import check_positive


class Ended(StrEnum):
    """Why a search proposes nothing more."""

    FOUND = "found"
    NEVER_HELD = "never held"
    NEVER_BROKE = "never broke"
    STEPS_SPENT = "steps spent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """Where a knee is looked for, in requests per minute, and how closely.

    first_rpm: the load to begin with. growth_ratio: a leap up while nothing broke, and down while nothing held. bracket_ratio: the search
    ends once what broke is at most so many times what held. most_steps: it ends then in any case.
    """

    first_rpm: float
    least_rpm: float
    most_rpm: float
    growth_ratio: float = 2.0
    bracket_ratio: float = 1.03
    most_steps: int = 24

    def __post_init__(self) -> None:
        check_positive("search.least_rpm", self.least_rpm, "rpm")
        if not self.least_rpm <= self.first_rpm <= self.most_rpm < math.inf:
            msg = f"a search begins between its bounds, got {self.first_rpm:g} rpm of {self.least_rpm:g} to {self.most_rpm:g}"
            raise ValueError(msg)
        for name in ("growth_ratio", "bracket_ratio"):
            if not 1 < getattr(self, name) < math.inf:
                msg = f"search.{name} must be above 1, got {getattr(self, name):g}"
                raise ValueError(msg)
        if self.most_steps < 1:
            msg = f"search.most_steps must be at least 1, got {self.most_steps}"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One load, and whether it was carried."""

    rpm: float
    holds: bool


def next_rpm(search: Search, judged: Sequence[Judged]) -> float | Ended:
    """The load to try after those that were judged, or why there is none.

    | what was judged                          | next                                              |
    | nothing                                  | first_rpm                                         |
    | all hold                                 | a leap above the largest; at most_rpm NEVER_BROKE |
    | all break                                | a leap below the least; at least_rpm NEVER_HELD   |
    | else                                     | the geometric mean of the bracket                 |
    | the bracket is within bracket_ratio      | FOUND                                             |
    | most_steps were judged before that       | STEPS_SPENT                                       |

    The bracket is the largest load that held and the least one above it that broke: a load that broke below one that held had bad luck,
    and `carried` reads a sweep alike.
    """
    if not judged:
        return search.first_rpm
    held = max((each.rpm for each in judged if each.holds), default=None)
    broke = min((each.rpm for each in judged if not each.holds and (held is None or each.rpm > held)), default=None)
    found = _next(search, held, broke)
    return Ended.STEPS_SPENT if isinstance(found, float) and len(judged) >= search.most_steps else found


def _next(search: Search, held: float | None, broke: float | None) -> float | Ended:
    if held is None:
        assert broke is not None  # noqa: S101 - whatever does not hold breaks
        return Ended.NEVER_HELD if broke <= search.least_rpm else max(search.least_rpm, broke / search.growth_ratio)
    if broke is None:
        return Ended.NEVER_BROKE if held >= search.most_rpm else min(search.most_rpm, held * search.growth_ratio)
    return Ended.FOUND if broke <= held * search.bracket_ratio else math.sqrt(held * broke)
