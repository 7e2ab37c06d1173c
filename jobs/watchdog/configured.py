"""The targets and levers that a configuration names, and nothing else of it: no store, no source, no secret but theirs."""

import os
from collections.abc import Iterator
from glob import glob
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from connectors.levers.registry import LeverConfig, lever_name, open_levers
from connectors.targets.registry import Target, TargetConfig, open_targets
from forecaster.errors import ConfigRejected
from forecaster.ports import Lever
from jobs.config.faults import sentences, spell
from jobs.config.paths import beside
from jobs.config.schema import config_schema
from jobs.config.variables import KeyPath, expanded, masked, variables_in
from jobs.config.yaml_file import load_yaml

_TARGET: TypeAdapter[TargetConfig] = TypeAdapter(TargetConfig)
_LEVER: TypeAdapter[LeverConfig] = TypeAdapter(LeverConfig)
Configured = TypeVar("Configured")


def configured_targets(path: Path) -> dict[str, Target]:
    """The targets of the workloads in the file and in those that it includes, by name; templates name none. Raises ConfigRejected."""
    document = load_yaml(path)
    files = [(path, document), *((other, load_yaml(other)) for other in _included(path, document))]
    return open_targets(beside(_read(_TARGET, file, at, data), file.parent) for file, found in files for at, data in _named(found))


def configured_levers(path: Path) -> dict[str, Lever]:
    """The levers of the section `tiers`, by the names that they have in records. Raises ConfigRejected."""
    tiers = load_yaml(path).get("tiers")
    levers = tiers.get("levers") if isinstance(tiers, dict) else None
    named = levers.items() if isinstance(levers, dict) else ()
    configs = [beside(_read(_LEVER, path, ("tiers", "levers", name), data), path.parent) for name, data in named]
    return open_levers({lever_name(config): config for config in configs})


def _included(path: Path, document: dict[str, Any]) -> list[Path]:
    patterns = document.get("include") or []
    matches = [Path(match) for pattern in patterns for match in glob(str(path.parent / str(pattern)), recursive=True)]  # noqa: PTH207 - absolute ones too
    return [match for match in sorted(set(matches)) if not match.samefile(path)]


def _named(document: dict[str, Any]) -> Iterator[tuple[KeyPath, Any]]:
    """Every target with the path to it; what has another shape names none."""
    for i, workload in _entries(document, "workloads"):
        for j, pool in _entries(workload, "pools"):
            for k, target in _entries(pool, "targets"):
                yield ("workloads", i, "pools", j, "targets", k), target


def _entries(section: Any, key: str) -> Iterator[tuple[int, Any]]:  # noqa: ANN401 - any YAML value
    listed = section.get(key) if isinstance(section, dict) else None
    yield from enumerate(listed if isinstance(listed, list) else ())


def _read(kind: TypeAdapter[Configured], path: Path, at: KeyPath, data: Any) -> Configured:  # noqa: ANN401 - any YAML value
    names = [name for _, name in variables_in(data)]
    lacking = next((name for name in names if name not in os.environ), None)
    if lacking is not None:
        raise ConfigRejected(f"{path}: {spell(at)}: the environment variable {lacking} is not set")
    try:
        return kind.validate_python(expanded(data, os.environ), by_alias=True, by_name=False)
    except ValidationError as error:
        faults = [f"{path}: {sentence}" for sentence in sentences(error.errors(), config_schema(), at)]
        raise ConfigRejected("\n".join(masked(fault, names, os.environ) for fault in faults)) from error
