"""Values of the vocabulary as compact bytes, and back, equal.

A payload is one byte of codec version, then zlib over: the length of a JSON text (4 bytes, little-endian), the text, the raw
little-endian arrays. The text names fields as the types do, so a field that is added later with a default reads from old payloads,
and one that is taken away is passed over. A field that is renamed, or changes its meaning, needs the next version.
"""

import json
import types
import zlib
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from datetime import date, datetime
from enum import StrEnum
from functools import cache
from typing import Any, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from forecaster.errors import StoreError
from forecaster.series import Floats

VERSION = 1

_LENGTH_BYTES = 4

_PRESET = (
    b'"min-binds""max-binds""load-unknown""plan-stale""awaits-approval""live-above-plan""hold""eks-nodegroup:""kubernetes-hpa:'
    b'{"at":"2026-01-01T00:00:00+00:00","mode":"auto","decision":{"at":"2026-01-01T00:00:00+00:00","workload":"","pool":"",'
    b'"target":"","action":"leave","floor":,"last":,"since":"2026-01-01T00:00:00+00:00","valid_until":"2026-01-01T00:00:00+00:00",'
    b'"plan_id":"","reasons":[{"code":"plan-followed","detail":"","before":null,"after":null}]},'
    b'"applied":{"target":"","before":,"after":,"written":false,"reasons":[]},"error":null,"sentence":"'
)
"""What a cycle record looks like, so that one of 760 bytes takes 220 instead of 360: records are most of what a store holds.
Old payloads need the very same bytes: it changes with VERSION only."""

Value = TypeVar("Value")
Plain: TypeAlias = Any
"""What JSON can say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """How one type is written: `write` appends arrays to the buffer and answers plain JSON, `read` finds them there again."""

    write: Callable[[Any, bytearray], Plain]
    read: Callable[[Plain, memoryview], Any]


def encode(value: object) -> bytes:
    """The payload of a dataclass of the vocabulary: equal values give equal bytes."""
    arrays = bytearray()
    kind: Any = type(value)
    plain = _form(kind).write(value, arrays)
    text = json.dumps(plain, separators=(",", ":")).encode()
    body = len(text).to_bytes(_LENGTH_BYTES, "little") + text + bytes(arrays)
    deflate = zlib.compressobj(zdict=_PRESET)
    return bytes([VERSION]) + deflate.compress(body) + deflate.flush()


def decode(kind: type[Value], payload: bytes) -> Value:
    """The value of type `kind` that was encoded. Raises StoreError when the payload is of another codec version, or damaged."""
    if payload[:1] != bytes([VERSION]):
        found = payload[0] if payload else "none"
        msg = f"the store holds a {kind.__name__} in codec version {found}, and this release reads version {VERSION}: upgrade Forecaster"
        raise StoreError(msg)
    hint: Any = kind
    form = _form(hint)
    try:
        body = _inflated(payload[1:])
        end = _LENGTH_BYTES + int.from_bytes(body[:_LENGTH_BYTES], "little")
        value: Value = form.read(json.loads(body[_LENGTH_BYTES:end]), memoryview(body)[end:])
    except (zlib.error, ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        msg = f"the store holds a {kind.__name__} that cannot be read ({error}): restore the store from a backup"
        raise StoreError(msg) from error
    return value


def _inflated(payload: bytes) -> bytes:
    inflate = zlib.decompressobj(zdict=_PRESET)
    body = inflate.decompress(payload)
    if not inflate.eof:
        msg = "it is cut off"
        raise ValueError(msg)
    return body


_LEAVES: dict[object, _Form] = {
    datetime: _Form(write=lambda value, _: value.isoformat(), read=lambda plain, _: datetime.fromisoformat(plain)),
    date: _Form(write=lambda value, _: value.isoformat(), read=lambda plain, _: date.fromisoformat(plain)),
}


@cache
def _form(hint: Any) -> _Form:  # noqa: ANN401  a type hint has no narrower type
    """How values of an annotated type are written. Raises TypeError for a type that the vocabulary does not use."""
    origin = get_origin(hint)
    if origin is types.UnionType:
        form = _optional(hint)
    elif origin is tuple:
        form = _sequence(hint)
    elif origin is np.ndarray:
        form = _Form(write=_write_array, read=_read_array)
    elif is_dataclass(hint) and isinstance(hint, type):
        form = _record(hint)
    elif hint in _LEAVES:
        form = _LEAVES[hint]
    elif isinstance(hint, type) and issubclass(hint, StrEnum):
        form = _Form(write=lambda value, _: value.value, read=lambda plain, _: hint(plain))
    elif hint in {bool, int, float, str}:
        form = _Form(write=lambda value, _: hint(value), read=lambda plain, _: hint(plain))  # numpy's scalars become Python's
    else:
        msg = f"the codec has no form for {hint}"
        raise TypeError(msg)
    return form


def _optional(hint: types.UnionType) -> _Form:
    (inner,) = (_form(member) for member in get_args(hint) if member is not types.NoneType)
    return _Form(
        write=lambda value, arrays: None if value is None else inner.write(value, arrays),
        read=lambda plain, arrays: None if plain is None else inner.read(plain, arrays),
    )


def _sequence(hint: Any) -> _Form:  # noqa: ANN401  a type hint has no narrower type
    member, rest = get_args(hint)
    if rest is not Ellipsis:
        msg = f"the codec has no form for {hint}, only for tuples of one type"
        raise TypeError(msg)
    item = _form(member)
    return _Form(
        write=lambda values, arrays: [item.write(value, arrays) for value in values],
        read=lambda plain, arrays: tuple([item.read(value, arrays) for value in plain]),
    )


def _record(kind: type) -> _Form:
    hints = get_type_hints(kind)
    forms = tuple((field.name, _form(hints[field.name])) for field in fields(kind))
    return _Form(
        write=lambda value, arrays: {name: form.write(getattr(value, name), arrays) for name, form in forms},
        read=lambda plain, arrays: kind(**{name: form.read(plain[name], arrays) for name, form in forms if name in plain}),
    )


def _write_array(array: Floats, arrays: bytearray) -> Plain:
    """Where the array lies in the buffer, its number format and shape; 4 bytes a number where these lose nothing."""
    with np.errstate(over="ignore"):  # a number too large for 4 bytes becomes infinite there and so is kept in 8
        narrow = array.astype("<f4")
    kept = narrow if np.array_equal(narrow, array, equal_nan=True) else array.astype("<f8")
    offset = len(arrays)
    arrays += kept.tobytes()
    return [offset, kept.dtype.str, *array.shape]


def _read_array(plain: Plain, arrays: memoryview) -> Floats:
    offset, form, *shape = plain
    array = np.frombuffer(arrays, dtype=form, count=int(np.prod(shape)), offset=offset).reshape(shape).astype(np.float64)
    array.flags.writeable = False
    return array
