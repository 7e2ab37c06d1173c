"""Values of the vocabulary as compact bytes, and back, equal.

A payload is one byte of codec version, then zlib over: the length of a JSON text (4 bytes, little-endian), the text, the arrays
(`forms`). The text names fields as the types do, so a field that is added later with a default reads from old payloads, and one that
is taken away is passed over. A field that is renamed, or changes its meaning, needs the next version; every version is read for ever.
"""

import json
import zlib
from collections.abc import Callable
from typing import Any, TypeVar

from connectors.stores.forms import Plain, form_of
from forecaster.errors import StoreError

VERSION = 2

_LENGTH_BYTES = 4
_LEVEL = 1
"""Of compression: the highest takes twice the time for a twentieth less."""

_PRESET_1 = (
    b'"min-binds""max-binds""load-unknown""plan-stale""awaits-approval""live-above-plan""hold""eks-nodegroup:""kubernetes-hpa:'
    b'{"at":"2026-01-01T00:00:00+00:00","mode":"auto","decision":{"at":"2026-01-01T00:00:00+00:00","workload":"","pool":"",'
    b'"target":"","action":"leave","floor":,"last":,"since":"2026-01-01T00:00:00+00:00","valid_until":"2026-01-01T00:00:00+00:00",'
    b'"plan_id":"","reasons":[{"code":"plan-followed","detail":"","before":null,"after":null}]},'
    b'"applied":{"target":"","before":,"after":,"written":false,"reasons":[]},"error":null,"sentence":"'
)
"""What a cycle record looks like, so that one of 760 bytes takes 220 instead of 360: records are most of what a store holds.
Old payloads need the very same bytes: each version has its own."""
_PRESET_2 = _PRESET_1.replace(
    b'[{"code":"plan-followed","detail":"","before":null,"after":null}]',
    b'{"code":["plan-followed"],"detail":[""],"before":[null],"after":[null]}',
).replace(b'"reasons":[]', b'"reasons":{"code":[],"detail":[],"before":[],"after":[]}')
_PRESETS = {1: _PRESET_1, VERSION: _PRESET_2}

Value = TypeVar("Value")


def encode(value: object) -> bytes:
    """The payload of a dataclass of the vocabulary: equal values give equal bytes."""
    arrays = bytearray()
    kind: Any = type(value)
    plain = form_of(kind, VERSION).write(value, arrays)
    text = json.dumps(plain, separators=(",", ":")).encode()
    body = len(text).to_bytes(_LENGTH_BYTES, "little") + text + bytes(arrays)
    deflate = zlib.compressobj(_LEVEL, zdict=_PRESETS[VERSION])
    return bytes([VERSION]) + deflate.compress(body) + deflate.flush()


def decode(kind: type[Value], payload: bytes, of: Callable[[Plain], Plain] | None = None) -> Value:
    """The value of type `kind` that was encoded; of: what is to be read of its text. A payload of version 1 is read whole.

    Raises StoreError when the payload is of a newer codec version, or damaged.
    """
    version = payload[0] if payload else None
    if version not in _PRESETS:
        found = "none" if version is None else version
        msg = f"the store holds a {kind.__name__} in codec version {found}, and this release reads up to {VERSION}: upgrade Forecaster"
        raise StoreError(msg)
    hint: Any = kind
    form = form_of(hint, version)
    try:
        body = _inflated(payload, _PRESETS[version])
        end = _LENGTH_BYTES + int.from_bytes(body[:_LENGTH_BYTES], "little")
        plain = json.loads(body[_LENGTH_BYTES:end])
        value: Value = form.read(of(plain) if of is not None and version > 1 else plain, memoryview(body)[end:])
    except (zlib.error, ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError) as error:
        msg = f"the store holds a {kind.__name__} that cannot be read ({error}): restore the store from a backup"
        raise StoreError(msg) from error
    return value


def _inflated(payload: bytes, preset: bytes) -> bytes:
    inflate = zlib.decompressobj(zdict=preset)
    body = inflate.decompress(memoryview(payload)[1:])
    if not inflate.eof:
        msg = "it is cut off"
        raise ValueError(msg)
    return body
