"""How values of the vocabulary are written as plain JSON and raw arrays, and read again.

Since version 2 a tuple of records is written by columns: `{"start": [...], "replicas": [...]}`. A plan of 800 floors is read in a fifth
of the time that way, and a part of it without the rest. Version 1 wrote a list of records, and arrays as they lie in memory.
"""

import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from functools import cache
from math import prod
from typing import Any, TypeAlias, get_args, get_origin, get_type_hints

import numpy as np

from forecaster.series import Floats

Plain: TypeAlias = Any
"""What JSON can say."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_SECOND_US = 1_000_000
_INTEGERS = {4: "<u4", 8: "<u8"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How one type is written: `write` appends arrays to the buffer and answers plain JSON, `read` finds them there again.

    write_all, read_all: the same for one field of many records.
    """

    write: Callable[[Any, bytearray], Plain]
    read: Callable[[Plain, memoryview], Any]
    write_all: Callable[[Sequence[Any], bytearray], Plain]
    read_all: Callable[[Plain, memoryview], Sequence[Any]]


@cache
def form_of(hint: Any, version: int) -> Form:  # noqa: ANN401  a type hint has no narrower type
    """How values of an annotated type are written, and how that version wrote them. Raises TypeError for a type without a form."""
    origin = get_origin(hint)
    if origin is types.UnionType:
        form = _optional(hint, version)
    elif origin is tuple:
        form = _sequence(hint, version)
    elif origin is np.ndarray:
        form = _each(_write_array, _read_array if version > 1 else _read_array_1)
    elif is_dataclass(hint) and isinstance(hint, type):
        form = _record(hint, version)
    elif hint is datetime:
        form = _instants()
    elif hint is date:
        form = _each(lambda value, _: value.isoformat(), lambda plain, _: date.fromisoformat(plain))
    elif isinstance(hint, type) and issubclass(hint, StrEnum):
        form = _names(hint)
    elif hint in {bool, int, float, str}:
        form = _scalars(hint)
    else:
        msg = f"the codec has no form for {hint}"
        raise TypeError(msg)
    return form


def microseconds(instant: datetime) -> int:
    """Whole microseconds since the epoch: exact, where a float of seconds would not be."""
    return (instant - _EPOCH) // _MICROSECOND


def _each(write: Callable[[Any, bytearray], Plain], read: Callable[[Plain, memoryview], Any]) -> Form:
    """A form that has no shorter way for many values than one by one."""
    return Form(
        write=write,
        read=read,
        write_all=lambda values, arrays: [write(value, arrays) for value in values],
        read_all=lambda plain, arrays: [read(each, arrays) for each in plain],
    )


def _optional(hint: types.UnionType, version: int) -> Form:
    (inner,) = (form_of(member, version) for member in get_args(hint) if member is not types.NoneType)
    return _each(
        lambda value, arrays: None if value is None else inner.write(value, arrays),
        lambda plain, arrays: None if plain is None else inner.read(plain, arrays),
    )


def _sequence(hint: Any, version: int) -> Form:  # noqa: ANN401  a type hint has no narrower type
    member, rest = get_args(hint)
    if rest is not Ellipsis:
        msg = f"the codec has no form for {hint}, only for tuples of one type"
        raise TypeError(msg)
    item = form_of(member, version)
    read = item.read_all if version > 1 else (lambda plain, arrays: [item.read(each, arrays) for each in plain])
    return _each(item.write_all, lambda plain, arrays: tuple(read(plain, arrays)))


def _record(kind: type, version: int) -> Form:
    hints = get_type_hints(kind)
    forms = tuple((field.name, form_of(hints[field.name], version)) for field in fields(kind))

    def read_all(plain: Plain, arrays: memoryview) -> Sequence[Any]:
        names = [name for name, _ in forms if name in plain]
        columns = [form.read_all(plain[name], arrays) for name, form in forms if name in plain]
        return [kind(**dict(zip(names, row, strict=True))) for row in zip(*columns, strict=True)]

    return Form(
        write=lambda value, arrays: {name: form.write(getattr(value, name), arrays) for name, form in forms},
        read=lambda plain, arrays: kind(**{name: form.read(plain[name], arrays) for name, form in forms if name in plain}),
        write_all=lambda values, arrays: {name: form.write_all([getattr(v, name) for v in values], arrays) for name, form in forms},
        read_all=read_all,
    )


def _scalars(hint: type) -> Form:
    """Numpy's scalars become Python's. JSON keeps these apart, so many are read as they stand."""
    return Form(
        write=lambda value, _: hint(value),
        read=lambda plain, _: hint(plain),
        write_all=lambda values, _: [hint(value) for value in values],
        read_all=lambda plain, _: plain,
    )


def _names(kind: type[StrEnum]) -> Form:
    members = {member.value: member for member in kind}
    return _each(lambda value, _: value.value, lambda plain, _: members[plain])


def _instants() -> Form:
    """One by its name; many as a first one and what they lie after it, in whole seconds where that is exact."""

    def write_all(values: Sequence[datetime], _: bytearray) -> Plain:
        if not values:
            return {"from": 0, "unit": 1, "after": []}
        first = microseconds(values[0])
        after = [microseconds(value) - first for value in values]
        unit = 1 if any(us % _SECOND_US for us in after) else _SECOND_US
        return {"from": first, "unit": unit, "after": [us // unit for us in after]}

    def read_all(plain: Plain, _: memoryview) -> Sequence[datetime]:
        first, unit = _EPOCH + timedelta(microseconds=plain["from"]), plain["unit"]
        return [first + timedelta(0, 0, after * unit) for after in plain["after"]]

    return Form(
        write=lambda value, _: value.isoformat(),
        read=lambda plain, _: datetime.fromisoformat(plain),
        write_all=write_all,
        read_all=read_all,
    )


def _write_array(array: Floats, arrays: bytearray) -> Plain:
    """Where the array lies in the buffer, its number format and shape; 4 bytes a number where these lose nothing.

    Rows are kept as what the bits differ from the row before, since quantiles lie close, and then all first bytes, all second bytes and
    so on, since those are alike: a third is saved, and half of the time.
    """
    with np.errstate(over="ignore"):  # a number too large for 4 bytes becomes infinite there and so is kept in 8
        narrow = array.astype("<f4")
    kept = narrow if np.array_equal(narrow, array, equal_nan=True) else array.astype("<f8")
    size = kept.dtype.itemsize
    bits = np.ascontiguousarray(kept).view(_INTEGERS[size])
    if bits.ndim > 1:
        bits = np.concatenate([bits[:1], bits[1:] - bits[:-1]])  # wraps around, and back when it is read
    offset = len(arrays)
    arrays += bits.reshape(-1).view(np.uint8).reshape(-1, size).T.tobytes()
    return [offset, kept.dtype.str, *array.shape]


def _read_array(plain: Plain, arrays: memoryview) -> Floats:
    offset, form, *shape = plain
    kind, count = np.dtype(form), prod(shape)
    size = kind.itemsize
    apart = np.frombuffer(arrays, np.uint8, count * size, offset).reshape(size, count)
    bits = np.ascontiguousarray(apart.T).reshape(-1).view(_INTEGERS[size]).reshape(shape)
    if bits.ndim > 1:
        bits = np.add.accumulate(bits, axis=0, dtype=bits.dtype)
    return _frozen(bits.view(kind).astype(np.float64))


def _read_array_1(plain: Plain, arrays: memoryview) -> Floats:
    offset, form, *shape = plain
    return _frozen(np.frombuffer(arrays, form, prod(shape), offset).reshape(shape).astype(np.float64))


def _frozen(array: Floats) -> Floats:
    array.flags.writeable = False
    return array
