"""What every benchmark gives: figures, each with its goal."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measured number. goal None = there is none, the figure is for the record. note says why a value is missing (None)."""

    name: str
    value: float | None
    unit: str
    goal: float | None = None
    better: Literal["lower", "higher"] = "lower"
    note: str = ""

    @property
    def verdict(self) -> str:
        """Whether the goal was reached."""
        if self.value is None or self.goal is None:
            return self.note
        reached = self.value <= self.goal if self.better == "lower" else self.value >= self.goal
        return "reached" if reached else "missed"
