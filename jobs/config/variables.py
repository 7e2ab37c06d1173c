"""`${NAME}` in the configuration: values from the environment, and names again in whatever people get to read."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

KeyPath: TypeAlias = tuple[str | int, ...]
"""How one gets to a value: keys of mappings and places in lists."""
_VARIABLE = re.compile(r"\$(\$?)\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SECRET_CHARS = 4
"""Shorter values are no secrets, and their few letters stand in every sentence."""


def variables_in(data: Any) -> Iterator[tuple[KeyPath, str]]:  # noqa: ANN401 - any YAML value
    """Where a text names a variable, and which; `$${NAME}` is the text itself."""
    for path, leaf in leaves(data):
        if isinstance(leaf, str):
            yield from ((path, found[2]) for found in _VARIABLE.finditer(leaf) if not found[1])


def expanded(data: Any, environment: Mapping[str, str]) -> Any:  # noqa: ANN401 - any YAML value
    """The data with every variable's value in its place. Raises KeyError for one that is not set."""
    match data:
        case dict():
            return {key: expanded(value, environment) for key, value in data.items()}
        case list():
            return [expanded(value, environment) for value in data]
        case str():
            return _VARIABLE.sub(lambda found: f"${{{found[2]}}}" if found[1] else environment[found[2]], data)
        case _:
            return data


def masked(sentence: str, names: Iterable[str], environment: Mapping[str, str]) -> str:
    """The sentence with `${NAME}` wherever the value of a variable would show."""
    values = sorted(((environment[name], name) for name in set(names)), key=lambda pair: -len(pair[0]))
    for value, name in values:
        if len(value) >= _SECRET_CHARS:
            for spelled in (value, repr(value)[1:-1]):
                sentence = sentence.replace(spelled, f"${{{name}}}")
    return sentence


def leaves(data: Any, at: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:  # noqa: ANN401 - any YAML value
    """Every value that is neither a mapping nor a list, with its path."""
    match data:
        case dict():
            for key, value in data.items():
                yield from leaves(value, (*at, key))
        case list():
            for i, value in enumerate(data):
                yield from leaves(value, (*at, i))
        case _:
            yield at, data
