"""Rows of characters that values are drawn on: blocks, shades and braille dots, and what of them ASCII can say."""

import math
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from forecaster.series import Floats

SOLID, SHADE, LINE, UNKNOWN = "█", "░", "⠒", "·"
LABEL_WIDTH = 7
"""Columns of the labels before the axis."""
_EIGHTHS = " ▁▂▃▄▅▆▇█"
_DOTS = ((0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08))
"""Bits of a braille character, by column and then by row from the bottom."""
_BRAILLE = 0x2800
_ASCII = str.maketrans(
    dict.fromkeys("▄▅▆▇█", "#")
    | dict.fromkeys("▁▂▃", "_")
    | dict.fromkeys("┤│", "|")
    | dict.fromkeys("└┬", "+")
    | {"░": ":", "·": ".", "─": "-"}
)


def ascii_of(text: str) -> str:
    """A chart for terminals that know no more than ASCII."""
    return "".join("*" if _BRAILLE < ord(char) <= _BRAILLE + 0xFF else char for char in text).translate(_ASCII)


@dataclass(slots=True, kw_only=True)
class Canvas:
    """`rows` by `columns` characters and the value `top` at the upper edge; `headroom` more rows take the numbers of runs.

    labels: what stands on the axis, by row; row 0 is the lowest, and a label speaks of a row's upper edge. margin: columns before it.
    """

    top: float
    columns: int
    rows: int
    headroom: int = 0
    margin: int = LABEL_WIDTH
    labels: dict[int, str] = field(default_factory=dict)
    cells: list[list[str]] = field(init=False)

    def __post_init__(self) -> None:
        self.cells = [[" "] * self.columns for _ in range(self.rows + self.headroom)]

    def put(self, row: int, column: int, char: str) -> None:
        """Set one character."""
        self.cells[row][column] = char

    def height(self, value: float, parts: int) -> int:
        """A value in parts of a row; what is above 0 is at least one."""
        return min(self.rows * parts, max(round(value / self.top * self.rows * parts), 1 if value > 0 else 0))

    def fill(self, values: Floats) -> None:
        """Solid up to the values, in eighths of a row."""
        for c in np.flatnonzero(~np.isnan(values)).tolist():
            full, rest = divmod(self.height(values[c], 8), 8)
            for row in range(full):
                self.put(row, c, SOLID)
            if rest:
                self.put(full, c, _EIGHTHS[rest])

    def shade(self, low: Floats, high: Floats) -> None:
        """Shaded between two values, at least one row thick where the upper one is above 0."""
        for c in np.flatnonzero(~np.isnan(low) & (high > 0)).tolist():
            first, last = self.height(low[c], 2) // 2, math.ceil(self.height(high[c], 2) / 2)
            for row in range(min(first, self.rows - 1), max(last, min(first, self.rows - 1) + 1)):
                self.put(row, c, SHADE)

    def draw(self, values: Floats) -> None:
        """A line of dots, two across and four up a character; it breaks where values are unknown."""
        bits: dict[tuple[int, int], int] = {}
        before: int | None = None
        for x, value in enumerate(values):
            if np.isnan(value):
                before = None
                continue
            y = min(self.rows * 4 - 1, self.height(value, 4))
            low, high = sorted((y, y if before is None else before + (y > before) - (y < before)))
            for dot in range(low, high + 1):
                bits[dot // 4, x // 2] = bits.get((dot // 4, x // 2), 0) | _DOTS[x % 2][dot % 4]
            before = y
        for (row, column), mask in bits.items():
            self.put(row, column, chr(_BRAILLE + mask))

    def mark_unknown(self, values: Floats) -> None:
        """Dots along the bottom where nothing is known: that is not a load of zero."""
        for c in np.flatnonzero(np.isnan(values)).tolist():
            self.put(0, c, UNKNOWN)

    def number_runs(self, values: Floats) -> None:
        """The number over each run of equal values that has room for it."""
        edges = [0, *(int(i) + 1 for i in np.flatnonzero(np.diff(values) != 0)), values.size]
        for first, last in pairwise(edges):
            text = "" if np.isnan(values[first]) else f"{values[first]:.0f}"
            if not text or last - first <= len(text):
                continue
            row = math.ceil(self.height(values[first], 8) / 8)
            for i, char in enumerate(text):
                self.put(row, first + (last - first - len(text)) // 2 + i, char)

    def lines(self) -> list[str]:
        """The rows from the top down, with the labels of the axis."""
        marks = [f"{self.labels.get(row, ''):>{self.margin - 1}} {'┤' if row in self.labels else '│'}" for row in range(len(self.cells))]
        return [f"{mark}{''.join(cells)}".rstrip() for mark, cells in zip(reversed(marks), reversed(self.cells), strict=True)]
