"""One number field of an API object: where it stands, what an absent one means, and how it is written back.

spec.minReplicas                                            a number
spec.services.decode.replicas                               a number
metadata.annotations['autoscaling.knative.dev/min-scale']   a number as text, as annotations and labels keep it
"""

import re
from dataclasses import dataclass

from connectors.kube.cluster import Json
from forecaster.errors import TargetRefused

Path = tuple[str, ...]
"""The keys from the root of an object to a field."""

_TEXTS = (("metadata", "annotations"), ("metadata", "labels"))
_KEY = re.compile(r"""\.?([^.\['"\]]+)|\[(?:'([^']+)'|"([^"]+)")\]""")
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class CountField:
    """A field that holds a count. absent: what it means where it is not written, None = it has to be. least: the smallest sound value."""

    path: Path
    absent: int | None = None
    least: int = 0

    @property
    def name(self) -> str:
        """The last key: what people call the field."""
        return self.path[-1]

    def __str__(self) -> str:
        return spell(self.path)


def parse(text: str) -> Path:
    """The path of `spec.minReplicas` or `metadata.annotations['a.b/c']`. Raises ValueError where it is none."""
    keys: list[str] = []
    at = 0
    while at < len(text) or not keys:
        found = _KEY.match(text, at)
        if found is None or (at == 0 and text.startswith(".")):
            msg = f"{text!r} is no path of a field: write keys with dots between them, and ['KEY'] where a key itself has dots"
            raise ValueError(msg)
        keys.append(next(group for group in found.groups() if group is not None))
        at = found.end()
    return tuple(keys)


def spell(path: Path) -> str:
    """The path as `parse` reads it."""
    first, *rest = path
    return first + "".join(f".{key}" if _PLAIN.fullmatch(key) else f"['{key}']" for key in rest)


def pointer(path: Path) -> str:
    """The path as a JSON pointer (RFC 6901)."""
    return "".join("/" + key.replace("~", "~0").replace("/", "~1") for key in path)


def count_of(value: Json, field: CountField, where: str) -> int:
    """The count in the field of an object. Raises TargetRefused where there is none: it is not written, or is no count."""
    found = _found(value, field.path)
    if found is None and field.absent is not None:
        return field.absent
    if is_text(field.path) and isinstance(found, str) and found.isascii() and found.isdigit():
        found = int(found)
    if isinstance(found, int) and not isinstance(found, bool) and found >= field.least:
        return found
    there = "is not there" if found is None else f"is {found!r}"
    msg = f"{where} has no usable {field}, which {there}: correct the kind or the path in the configuration, or write a count there"
    raise TargetRefused(msg)


def optional_count(value: Json, field: CountField, where: str) -> int | None:
    """The same, None where the field is not written and an absent one means that there is none."""
    return None if field.absent is None and _found(value, field.path) is None else count_of(value, field, where)


def patch_of(path: Path, count: int) -> Json:
    """A merge patch that writes the count and nothing else."""
    patch: Json = {path[-1]: str(count) if is_text(path) else count}
    for key in reversed(path[:-1]):
        patch = {key: patch}
    return patch


def is_text(path: Path) -> bool:
    """Whether counts stand there as text."""
    return path[:2] in _TEXTS


def _found(value: object, path: Path) -> object:
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value
