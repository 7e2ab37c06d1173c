"""A YAML file as plain data, read as YAML 1.2 reads it, so that editors and we agree: `18:00`, `no` and `2024-05-18` are texts."""

import re
from pathlib import Path
from typing import Any

import yaml

from forecaster.errors import ConfigRejected

try:
    from yaml import CSafeLoader as _SafeLoader  # ten times as fast: a fleet of thousands is one long file
except ImportError:  # a PyYAML without libyaml
    from yaml import SafeLoader as _SafeLoader  # type: ignore[assignment]  # the same interface

_REMEDIES = {
    "cannot start any token": "indent with spaces and quote texts that begin with a special character",
    "mapping values are not allowed": "quote texts that hold a colon and a space, and check the indentation",
    "could not find expected ':'": "end each key with a colon and a space",
    "found undefined alias": "define the anchor above its first use, or quote the text",
    "found unknown escape": "use single quotes where a text holds backslashes",
    "did not find expected ',' or": "close the bracket, and quote texts that hold { } [ ] or a comma inside of it, as ${NAME} does",
    "is there twice": "keep one of them",
    "found another document": "keep one document a file, and use `include` for more",
    "exceeded maximum nesting depth": "check the brackets",
}
_FIX = "correct the YAML there"
_PATH_CHARS = 200
_KINDS = {
    "bool": (r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    "int": (r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$", "-+0123456789"),
    "float": (
        r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$",
        "-+0123456789.",
    ),
    "null": (r"^(?:~|null|Null|NULL|)$", "~nN\0"),
    "merge": (r"^<<$", "<"),
}
"""YAML 1.2's core schema: what an unquoted text is, and how it may begin (a null byte stands for the empty text)."""


def load_yaml(path: Path) -> dict[str, Any]:
    """The mapping in a file. Raises ConfigRejected naming file, line and remedy: unreadable, no text, no YAML, no mapping, a key twice."""
    text = _text(path)
    try:
        data = yaml.load(text, Loader=_Loader)  # noqa: S506 - a safe loader
    except yaml.MarkedYAMLError as error:
        raise ConfigRejected(_sentence(path, error)) from error
    except yaml.YAMLError as error:  # the reader's own: it has no line to name
        raise ConfigRejected(f"{path}: is not text, it holds control characters; `forecaster init` writes a commented example") from error
    except (ValueError, KeyError, AttributeError) as error:  # PyYAML's, for values that do not fit their tag
        raise ConfigRejected(f"{path}: holds a value that cannot be what it says to be ({error}); write it as plain text") from error
    except RecursionError as error:
        raise ConfigRejected(f"{path}: is nested too deeply to be a configuration; check its indentation and brackets") from error
    if not isinstance(data, dict):
        what = "is empty" if data is None else "does not hold keys and values"
        raise ConfigRejected(f"{path}: {what}; `forecaster init` writes a commented example")
    return data


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigRejected(f"{path}: is not UTF-8 text; save it as UTF-8") from error
    except IsADirectoryError as error:
        raise ConfigRejected(f"{path}: is a directory; name the file in it") from error
    except (OSError, ValueError) as error:  # ValueError: a null byte in the path
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigRejected(f"{str(path)[:_PATH_CHARS]}: cannot be read ({reason}); check the path and its permissions") from error


def _sentence(path: Path, error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or error.context or "is no YAML"
    remedy = next((remedy for sign, remedy in _REMEDIES.items() if sign in problem), _FIX)
    mark = error.problem_mark or error.context_mark
    where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark is not None else ""
    return f"{path}: {where}{problem}; {remedy}"


class _Loader(_SafeLoader):
    """PyYAML's safe loader with YAML 1.2's core schema, which refuses a repeated key instead of letting the last one win."""


def _mapping(loader: yaml.SafeLoader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen = set()
    for key, _ in node.value:
        spelled = (key.tag, key.value) if isinstance(key, yaml.ScalarNode) else None
        if spelled in seen:
            raise yaml.constructor.ConstructorError(None, None, f"the key {key.value} is there twice", key.start_mark)
        if spelled is not None:
            seen.add(spelled)
    mapping: dict[Any, Any] = loader.construct_mapping(node, deep=True)
    return mapping


def _integer(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int:
    text = str(loader.construct_scalar(node))
    return int(text, 0) if text[:2] in {"0o", "0x"} else int(text)


_Loader.yaml_implicit_resolvers = {}
_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)
_Loader.add_constructor("tag:yaml.org,2002:int", _integer)
for _kind, (_pattern, _first) in _KINDS.items():
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_kind}", re.compile(_pattern), ["" if char == "\0" else char for char in _first])
