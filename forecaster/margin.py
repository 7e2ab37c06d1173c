"""A pool's own part of what a load asks for: less what always-on pools before it carry, with spare replicas on top.

| the load asks for | carried before it | spare | floor | why                                                     |
|-------------------|-------------------|-------|-------|---------------------------------------------------------|
| 11.2              | 0                 | 2     | 14    | 12 for the load, and 2 that may fail without it noticing |
| 11.2              | 8                 | 0     | 4     | 3.2 are left, rounded up once                           |
| 11.2              | 8                 | 2     | 6     | 4 and 2                                                 |
| 7.5               | 8                 | 2     | 0     | nothing is left for it, and nothing needs no spare       |

All numbers but the spare are fractional and in replicas of the pool itself. Both steps rise with the load, so a quantile of the load gives
the same quantile of what is left of it.
"""

from dataclasses import dataclass

import numpy as np

from forecaster.series import Floats
from forecaster.units import check_not_negative, spell_number, whole_replicas


@dataclass(frozen=True, slots=True, kw_only=True)
class Margin:
    """before: replicas, fractional, whose load pools before it carry. spare: whole replicas beside those that any load needs.

    lacks: how much more those would carry if nothing of theirs were missing.
    """

    before: float = 0.0
    spare: int = 0
    lacks: float = 0.0

    def __post_init__(self) -> None:
        check_not_negative("margin.before", self.before, "replicas")
        check_not_negative("margin.spare", self.spare, "replicas")
        check_not_negative("margin.lacks", self.lacks, "replicas")

    def left(self, need: float) -> float:
        """Replicas, fractional, that are left for the pool of what a load asks for, without the spare ones."""
        return max(0.0, need - self.before)

    def asked(self, need: float) -> float:
        """The same with the spare ones where anything is left."""
        left = self.left(need)
        return left + self.spare if whole_replicas(left) else left

    def left_each(self, needs: Floats) -> Floats:
        """What is left of each number of an array."""
        left: Floats = np.maximum(0.0, needs - self.before)
        return left

    def told(self, replicas: int) -> str:
        """What the pool's own replicas are beside: `; 12 for the load and 2 spare, beside 8 before it`; empty where there is neither."""
        before = f"beside {spell_number(self.before)} before it" if self.before else ""
        spare = f"{replicas - self.spare} for the load and {self.spare} spare" if self.spare and replicas > self.spare else ""
        parts = ", ".join(part for part in (spare, before) if part)
        return f"; {parts}" if parts else ""

    def explained(self, need: float) -> str:
        """`, less 8 carried before it, and 2 spare on top`, of a fractional need; empty where there is neither."""
        if self.before and not whole_replicas(self.left(need)):
            return ", all of them carried before it,"
        before = f", less {spell_number(self.before)} carried before it" if self.before else ""
        return f"{before}, and {self.spare} spare on top" if self.spare else before


WHOLE = Margin()
"""All of the load is the pool's own, and nothing is spare."""
