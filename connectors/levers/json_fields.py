"""One value inside of a JSON document: where it is, and the merge patch (RFC 7386) that writes it and nothing else."""

from typing import Any

from connectors.kube.paths import Path
from forecaster.errors import TargetRefused
from forecaster.ladder import LeverValue


def found_at(value: object, path: Path) -> object:
    """What stands there, None where nothing does; a number in the path is the entry of a list, from 0."""
    for key in path:
        match value:
            case dict():
                value = value.get(key)
            case list() if key.isdigit() and int(key) < len(value):
                value = value[int(key)]
            case _:
                return None
    return value


def patch_of(path: Path, value: LeverValue | None, whole: Any) -> Any:  # noqa: ANN401  # any part of an object
    """A merge patch that writes the value (None removes it) and nothing else; a list on the way is written anew, the rest as in `whole`."""
    if not path:
        return value
    key, rest = path[0], path[1:]
    if isinstance(whole, list):
        if not key.isdigit() or int(key) >= len(whole) or (not rest and value is None):
            msg = f"there is no entry {key} in a list of {len(whole)} that could be written: correct the path in the configuration"
            raise TargetRefused(msg)
        return [_replaced(entry, rest, value) if i == int(key) else entry for i, entry in enumerate(whole)]
    return {key: patch_of(rest, value, whole.get(key) if isinstance(whole, dict) else None)}


def _replaced(entry: Any, path: Path, value: LeverValue | None) -> Any:  # noqa: ANN401  # any part of an object
    """The part with the value in it, whole: inside of a list nothing is merged."""
    if not path:
        return value
    key, rest = path[0], path[1:]
    if isinstance(entry, list):
        return patch_of(path, value, entry)
    inside = dict(entry) if isinstance(entry, dict) else {}
    inside[key] = _replaced(inside.get(key), rest, value)
    return {name: part for name, part in inside.items() if part is not None}
