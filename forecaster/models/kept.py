"""What earlier forecasts of a series said, so that weights and calibration are learned from them and nothing is ever fitted again.

One row a local day, drawn at its midnight: the median path, what each member had said by half hours, and, until the day has ended, the
quantiles that were issued for it. Then only its scores stay.
"""

import json
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from forecaster.forecast import State
from forecaster.series import Floats

DAYS = 28
"""Rows that are kept: what lies further back says little of tomorrow."""
PENDING = 3
"""Newest rows whose quantiles are kept: a forecaster that was down for a night still scores what it had said."""
PINBALL, NAIVE_PINBALL, DRIFT, FIRST_LEVEL = 0, 1, 2, 3
"""Columns of `scores`: mean pinball over SCORED_LEVELS, the naive one's, the mean log error, then the share covered at each level."""
VERSION = 1
_MODEL = "ensemble"
_LOADS, _NUMBERS = ("median", "members", "quantiles"), ("scores", "steps")
_WORD = 4  # bytes of the checksum and of the head's length
_SHORT, _EXACT = np.dtype("<f2"), np.dtype("<f4")  # three digits of a share of the largest load are enough for an error


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What rows of one kind look like: those of another kind are of no use. Levels are quantiles; slots and parts are of a day."""

    step_s: int
    zone: str
    members: tuple[str, ...]
    levels: tuple[float, ...]
    per_day: int
    parts: int

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each array of one series."""
        return {
            "median": (DAYS, self.per_day),
            "members": (DAYS, len(self.members), self.parts),
            "quantiles": (PENDING, len(self.levels), self.per_day),
            "scores": (DAYS, FIRST_LEVEL + len(self.levels)),
            "steps": (len(self.levels),),
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Kept:
    """The rows of a chunk: row k is of the local day `today` - k, NaN = there is none. The arrays are its own and are written to.

    Shapes behind the series: median (DAYS, per_day), members (DAYS, members, parts) and quantiles (PENDING, levels, per_day) of loads;
    scores (DAYS, 3 + levels); steps (levels), by how much the adaptive step has moved each level.
    """

    form: Form
    today: int
    median: Floats = field(repr=False)
    members: Floats = field(repr=False)
    quantiles: Floats = field(repr=False)
    scores: Floats = field(repr=False)
    steps: Floats = field(repr=False)

    @property
    def drawn(self) -> NDArray[np.bool_]:
        """Which rows there are, (series, DAYS)."""
        return np.asarray(~np.isnan(self.median).all(axis=2))

    def rounded(self) -> Self:
        """The same to the digits that states keep, so that a run that is done again, from its own state, says what it had said."""
        scales = [self._scale(row) for row in range(len(self.median))]
        loads = {name: getattr(self, name) for name in _LOADS}
        of_rows = {name: np.reshape(scales, (-1, *[1] * (array.ndim - 1))) for name, array in loads.items()}
        short = {name: (array / of_rows[name]).astype(_SHORT).astype(np.float64) * of_rows[name] for name, array in loads.items()}
        exact = {name: getattr(self, name).astype(_EXACT).astype(np.float64) for name in _NUMBERS}
        return replace(self, **short, **exact)

    def _scale(self, row: int) -> float:
        """The largest load of a row, in shares of which its loads are kept; 1 where there is none."""
        return max(float(np.fmax.reduce(getattr(self, name)[row], axis=None, initial=0.0)) for name in _LOADS) or 1.0

    def states(self) -> tuple[State, ...]:
        """One state a series, about 20 kB each at 5 minutes."""
        head = asdict(self.form) | {"today": self.today}
        return tuple(State(model=_MODEL, version=VERSION, payload=self._payload(row, head)) for row in range(len(self.median)))

    def _payload(self, row: int, head: dict[str, object]) -> bytes:
        loads = {name: getattr(self, name)[row] for name in _LOADS}
        there = {name: np.flatnonzero(~np.isnan(array).reshape(len(array), -1).all(axis=1)) for name, array in loads.items()}
        scale = self._scale(row)
        raw = [(array[there[name]] / scale).astype(_SHORT).tobytes() for name, array in loads.items()]
        raw += [getattr(self, name)[row].astype(_EXACT).tobytes() for name in _NUMBERS]
        text = json.dumps(
            head | {"scale": scale, "rows": {name: at.tolist() for name, at in there.items()}}, separators=(",", ":")
        ).encode()
        rest = len(text).to_bytes(_WORD, "little") + text + b"".join(raw)
        return zlib.crc32(rest).to_bytes(_WORD, "little") + rest


def recalled(states: Sequence[State | None], form: Form, today: int) -> Kept:
    """The rows of a chunk from its states, moved on to `today`; a state of another form or version, or of a later day, is as none."""
    arrays = {name: np.full((len(states), *shape), np.nan) for name, shape in form.shapes().items()}
    arrays["steps"][:] = 0.0
    for row, state in enumerate(states):
        read = _read(state, form)
        if read is None:
            continue
        kept_today, kept = read
        gone = today - kept_today
        if gone < 0:
            continue
        arrays["steps"][row] = kept["steps"]
        for name in ("median", "members", "quantiles", "scores"):
            size = arrays[name].shape[1]
            if gone < size:
                arrays[name][row, gone:] = kept[name][: size - gone]
    return Kept(form=form, today=today, **arrays)


def _read(state: State | None, form: Form) -> tuple[int, dict[str, Floats]] | None:
    """The day and the arrays of a state; None where it is none of ours, of another form, or cannot be read."""
    if state is None or (state.model, state.version) != (_MODEL, VERSION):
        return None
    rest = state.payload[_WORD:]
    if zlib.crc32(rest) != int.from_bytes(state.payload[:_WORD], "little"):
        return None  # torn: its numbers would be loads of another world
    size = int.from_bytes(rest[:_WORD], "little")
    try:
        head = json.loads(rest[_WORD : _WORD + size])
        today, scale, rows = int(head.pop("today")), float(head.pop("scale")), head.pop("rows")
        of = Form(**head | {"members": tuple(head["members"]), "levels": tuple(head["levels"])})
        return (today, _arrays(rest[_WORD + size :], form, scale, rows)) if of == form else None
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError):
        return None  # bytes of another making cost a few hindcasts, no forecast


def _arrays(raw: bytes, form: Form, scale: float, rows: dict[str, list[int]]) -> dict[str, Floats]:
    at, arrays, shapes = 0, {}, form.shapes()
    for name in _LOADS:
        shape = (len(rows[name]), *shapes[name][1:])
        array = np.full(shapes[name], np.nan)
        count = int(np.prod(shape))
        array[rows[name]] = np.frombuffer(raw, _SHORT, count, at).astype(np.float64).reshape(shape) * scale
        arrays[name] = array
        at += count * _SHORT.itemsize
    for name in _NUMBERS:
        count = int(np.prod(shapes[name]))
        arrays[name] = np.frombuffer(raw, _EXACT, count, at).astype(np.float64).reshape(shapes[name])
        at += count * _EXACT.itemsize
    return arrays
