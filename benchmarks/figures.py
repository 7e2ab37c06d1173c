"""What every benchmark gives: figures, each with its goal, and tables behind them."""

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

    @property
    def line(self) -> str:
        """As a row of the table: name, value, goal, verdict."""
        value = "" if self.value is None else f"{self.value:,.3g} {self.unit}".rstrip()
        goal = "" if self.goal is None else f"{'at most' if self.better == 'lower' else 'at least'} {self.goal:.3g}"
        return f"| {self.name} | {value} | {goal} | {self.verdict} |"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What a figure was summed up from, for the record; every row as long as the header."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        lines = (self.header, ("---", *("---:",) * (len(self.header) - 1)), *self.rows)
        return "\n".join((self.title, "", *(f"| {' | '.join(line)} |" for line in lines)))
