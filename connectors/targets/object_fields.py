"""One number field of an API object: where it stands, what an absent one means, and how it is written back.

spec.minReplicas                                            a number
spec.services.decode.replicas                               a number
metadata.annotations['autoscaling.knative.dev/min-scale']   a number as text, as annotations and labels keep it
"""

from dataclasses import dataclass

from connectors.kube.cluster import Json
from connectors.kube.paths import Path, spell
from forecaster.errors import TargetRefused

_TEXTS = (("metadata", "annotations"), ("metadata", "labels"))


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
