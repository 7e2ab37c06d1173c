"""From a YAML file to a checked configuration, or to one sentence for each thing that is wrong with it."""

import os
import re
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from forecaster.errors import ConfigRejected
from jobs.config.document import Config, Included

DEFAULT_FILE = "forecaster.yaml"
Section = TypeVar("Section", bound=BaseModel)
_VARIABLE = re.compile(r"\$(\$?)\{([A-Za-z_][A-Za-z0-9_]*)\}")


def config_path(given: Path | None) -> Path:
    """The file to read: the one given, else $FORECASTER_CONFIG, else ./forecaster.yaml. Raises ConfigRejected when it is not there."""
    path = given if given is not None else Path(os.environ.get("FORECASTER_CONFIG") or DEFAULT_FILE)
    if not path.is_file():
        remedy = "write one with `forecaster init`, or name it with --config or FORECASTER_CONFIG"
        raise ConfigRejected(f"{path}: there is no configuration file; {remedy}")
    return path


def read_config(path: Path) -> Config:
    """The configuration in a file, its includes merged. Relative paths in it are relative to the file. Raises ConfigRejected."""
    document = _checked(Config, _load(path), path)
    included = [
        w for pattern in document.include for file in _matches(path, pattern) for w in _checked(Included, _load(file), file).workloads
    ]
    if not included:
        return document
    merged = {name: getattr(document, name) for name in Config.model_fields} | {
        "workloads": (*document.workloads, *included),
        "include": (),
    }
    try:
        return Config(**merged)
    except ValidationError as error:
        raise ConfigRejected("\n".join(_sentences(error, path))) from error


def _matches(path: Path, pattern: str) -> list[Path]:
    files = sorted(path.parent.glob(pattern)) if not Path(pattern).is_absolute() else [Path(pattern)]
    if not files:
        raise ConfigRejected(f"{path}: include {pattern!r} matches no file beside {path.name}")
    return files


class _OnceLoader(yaml.SafeLoader):
    """YAML's safe loader, which lets a repeated key win silently; this one refuses it."""


def _once(loader: yaml.SafeLoader, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - PyYAML's own call
    keys = [loader.construct_object(key, deep=True) for key, _ in node.value]
    for i, key in enumerate(keys):
        if key in keys[:i]:
            raise yaml.constructor.ConstructorError(None, None, f"the key {key!r} is there twice", node.value[i][0].start_mark)
    mapping: dict[Any, Any] = loader.construct_mapping(node, deep=deep)
    return mapping


_OnceLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _once)


def _load(path: Path) -> dict[str, Any]:
    try:
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=_OnceLoader)  # noqa: S506 - a SafeLoader
    except OSError as error:
        raise ConfigRejected(f"{path}: cannot be read ({error.strerror}); check its permissions") from error
    except UnicodeDecodeError as error:
        raise ConfigRejected(f"{path}: is not UTF-8 text; save it as UTF-8") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" line {mark.line + 1}, column {mark.column + 1}" if mark is not None else ""
        raise ConfigRejected(f"{path}:{where} {getattr(error, 'problem', error)}; it must be YAML") from error
    if not isinstance(data, dict):
        raise ConfigRejected(f"{path}: is {'empty' if data is None else 'not a mapping'}; `forecaster init` writes a commented example")
    expanded: dict[str, Any] = _expanded(data, path, ())
    return expanded


def _expanded(value: Any, path: Path, at: tuple[str | int, ...]) -> Any:  # noqa: ANN401 - any YAML value
    match value:
        case dict():
            return {key: _expanded(item, path, (*at, key)) for key, item in value.items()}
        case list():
            return [_expanded(item, path, (*at, i)) for i, item in enumerate(value)]
        case str():
            return _VARIABLE.sub(lambda found: _variable(found, path, at), value)
        case _:
            return value


def _variable(found: re.Match[str], path: Path, at: tuple[str | int, ...]) -> str:
    escaped, name = found.groups()
    if escaped:
        return f"${{{name}}}"
    if name not in os.environ:
        raise ConfigRejected(
            f"{path}: {_spell(at)}: the environment variable {name} is not set; set it, or write $${{{name}}} for the text itself"
        )
    return os.environ[name]


def _checked(section: type[Section], data: dict[str, Any], path: Path) -> Section:
    try:
        return section.model_validate(data)
    except ValidationError as error:
        raise ConfigRejected("\n".join(_sentences(error, path))) from error


def _sentences(error: ValidationError, path: Path) -> list[str]:
    """One sentence a fault: the file, the path to the key, what is wrong and what may be meant."""
    schema = Config.model_json_schema(by_alias=True)
    sections = [schema, *schema["$defs"].values()]
    keys = {key for section in sections for key in section.get("properties", ())}
    tags = {section["properties"]["type"]["const"] for section in sections if "const" in section.get("properties", {}).get("type", {})}
    return [f"{path}: {_spell(tuple(part for part in fault['loc'] if part not in tags))}{_fault(fault, keys)}" for fault in error.errors()]


def _fault(fault: Any, keys: set[str]) -> str:  # noqa: ANN401 - pydantic's own mapping of a fault
    match fault["type"]:
        case "extra_forbidden":
            close = get_close_matches(str(fault["loc"][-1]), keys, n=1)
            return ": is no known key" + (f"; did you mean {close[0]}?" if close else "; `forecaster init --schema` lists the known ones")
        case "missing":
            return ": is missing"
        case "value_error":
            return f": {fault['ctx']['error']}"
        case _:
            secret = any(word in str(fault["loc"][-1:]) for word in ("token", "password", "secret", "key"))
            shown = f", got {fault['input']!r}" if isinstance(fault["input"], str | int | float) and not secret else ""
            return f": {fault['msg'][0].lower()}{fault['msg'][1:]}{shown}"


def _spell(at: tuple[str | int, ...]) -> str:
    """How the path to a key is written: workloads[0].policy.level."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in at).lstrip(".")
