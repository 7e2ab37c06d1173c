"""From a YAML file to a checked configuration, or to one sentence for each thing that is wrong with it."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from glob import glob
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from forecaster.errors import ConfigRejected
from jobs.config.budgets import without_budget
from jobs.config.contradictions import contradictions, placed
from jobs.config.document import Config, Included
from jobs.config.faults import sentences, spell
from jobs.config.scalars import short
from jobs.config.schema import config_schema, included_schema
from jobs.config.variables import expanded, leaves, masked, variables_in
from jobs.config.yaml_file import load_yaml

DEFAULT_FILE = "forecaster.yaml"
Section = TypeVar("Section", bound=BaseModel)


def config_path(given: Path | None) -> Path:
    """The file to read: the one given, else $FORECASTER_CONFIG, else ./forecaster.yaml. Raises ConfigRejected when it is not there."""
    path = given if given is not None else Path(os.environ.get("FORECASTER_CONFIG") or DEFAULT_FILE)
    try:
        is_file, is_folder = path.is_file(), path.is_dir()
    except OSError:  # a name too long to ask for
        is_file = is_folder = False
    if is_folder:
        raise ConfigRejected(f"{path}: is a directory; name the file in it with --config or FORECASTER_CONFIG")
    if not is_file:
        remedy = "write one with `forecaster init`, or name it with --config or FORECASTER_CONFIG"
        raise ConfigRejected(f"{str(path)[:200]}: there is no configuration file; {remedy}")
    return path


def read_config(path: Path) -> Config:
    """The configuration in a file, its includes merged. Raises ConfigRejected.

    The error holds one sentence a line, each naming the file and the path to the key; values of variables never show in it.
    """
    file = _read(path)
    document = _checked(Config, file)
    if not document.include:
        return document
    others = [_read(other) for other in _included(file, document.include)]
    parts = [_checked(Included, other) for other in others]
    sections: list[tuple[str, Config | Included]] = [
        (f"{path}: ", document),
        *((f"{other.path}: ", part) for other, part in zip(others, parts, strict=True)),
    ]
    workloads = [each for place, part in sections for each in placed(place, "workloads", part.workloads)]
    found = contradictions(
        document.sources,
        workloads,
        [each for place, part in sections for each in placed(place, "templates", part.templates)],
        [each for place, part in sections for each in placed(place, "events", part.events)],
        priced=document.prices is not None,
    )
    found += without_budget(document.budgets, workloads, f"{path}: ")
    if found:
        raise _rejected(found, (file, *others))
    return document.model_copy(
        update={
            "workloads": (*document.workloads, *(workload for part in parts for workload in part.workloads)),
            "templates": (*document.templates, *(template for part in parts for template in part.templates)),
            "events": (*document.events, *(event for part in parts for event in part.events)),
            "include": (),
        }
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """One file as read: its data with the variables in place, and the names of those."""

    path: Path
    data: dict[str, Any]
    variables: tuple[str, ...]


def _read(path: Path) -> _File:
    data = load_yaml(path)
    variables = tuple(variables_in(data))
    faults = [
        f"{path}: {spell(at)}: the environment variable {name} is not set; set it, or write $${{{name}}} for the text itself"
        for at, name in variables
        if name not in os.environ
    ]
    faults += [
        f"{path}: {spell(at)}: must be a finite number, got {leaf}"
        for at, leaf in leaves(data)
        if isinstance(leaf, float) and not isfinite(leaf)
    ]
    if faults:
        raise ConfigRejected("\n".join(faults))
    return _File(path=path, data=expanded(data, os.environ), variables=tuple(name for _, name in variables))


def _included(file: _File, patterns: Iterable[str]) -> list[Path]:
    """The files that the patterns match, each once, in order; never the one that includes them."""
    files: dict[Path, None] = {}
    for pattern in patterns:
        matches = sorted(Path(match) for match in glob(str(file.path.parent / pattern), recursive=True))  # noqa: PTH207 - absolute ones too
        if not matches:
            fault = f"{file.path}: include: {short(pattern)} matches no file; name one, or a pattern such as teams/*.yaml"
            raise _rejected([fault], (file,))
        files.update(dict.fromkeys(match for match in matches if not match.samefile(file.path)))
    return list(files)


def _checked(section: type[Section], file: _File) -> Section:
    """The data as that section of the configuration. Only the names that the reference lists are keys, not those of our code."""
    try:
        return section.model_validate(file.data, by_alias=True, by_name=False)
    except ValidationError as error:
        schema = config_schema() if section is Config else included_schema()
        faults = [f"{file.path}: {sentence}" for sentence in sentences(error.errors(), schema)]
        raise _rejected(faults, (file,)) from error


def _rejected(faults: list[str], files: Iterable[_File]) -> ConfigRejected:
    """The error for these faults, in which values of variables are names again."""
    names = [name for file in files for name in file.variables]
    return ConfigRejected("\n".join(masked(fault, names, os.environ) for fault in faults))
