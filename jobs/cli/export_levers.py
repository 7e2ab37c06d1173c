"""The commands `export lever-rights` and `export lever-policy`: what the levers of a configuration need on an API server, printed."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from jobs.cli.options import ConfigFile

if TYPE_CHECKING:
    from connectors.levers.kubernetes_field import KubernetesFieldLeverConfig


def lever_rights(config: ConfigFile = None) -> None:
    """Print Roles and bindings (YAML): get and patch on each object that has a lever of type kubernetes-field, and nothing else.

    Example: forecaster export lever-rights
    """
    from jobs.export.lever_rights import lever_roles

    _print(lever_roles(dict.fromkeys(lever.ref for lever in _levers(config))))


def lever_policy(config: ConfigFile = None) -> None:
    """Print a kustomize component (YAML) for deploy/kustomize/admission: which fields of which objects levers may change.

    Example: forecaster export lever-policy > levers/kustomization.yaml
    """
    from connectors.kube.paths import parse
    from jobs.cli.show import say
    from jobs.export.lever_policy import lever_expression, policy_component

    fields = [(lever, parse(lever.field)) for lever in _levers(config)]
    for lever, path in fields:
        if path[0] == "metadata":
            say(f"left out: {lever.lever}: the policy lets us change no label, and no annotation but our own")
    expression = lever_expression((lever.ref, path) for lever, path in fields if path[0] != "metadata")
    _print([policy_component(expression)])


def _levers(config: Path | None) -> "list[KubernetesFieldLeverConfig]":
    """Those that live on an API server. Raises ConfigRejected where there are none."""
    from connectors.levers.kubernetes_field import KubernetesFieldLeverConfig
    from forecaster.errors import ConfigRejected
    from jobs.config.reading import config_path, read_config

    path = config_path(config)
    tiers = read_config(path).tiers
    found = [] if tiers is None else [lever for lever in tiers.levers.values() if isinstance(lever, KubernetesFieldLeverConfig)]
    if not found:
        raise ConfigRejected(f"there is no lever of type kubernetes-field in {path}, so nothing is needed on an API server")
    return found


def _print(documents: list[dict[str, object]]) -> None:
    import yaml

    typer.echo(yaml.safe_dump_all(documents, sort_keys=False, width=120), nl=False)
