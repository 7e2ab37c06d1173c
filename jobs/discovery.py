"""What serves requests, as the metrics of a Prometheus tell: engines, gateways and queues, a service each."""

import re
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from connectors.sources.metric_index import MetricIndex
from connectors.sources.presets.catalogue import PRESETS
from connectors.sources.presets.expression import metric_names
from connectors.sources.presets.preset import Preset
from connectors.sources.prometheus import PrometheusConfig
from forecaster.errors import ConfigRejected
from jobs.config.document import Config
from jobs.config.paths import beside
from jobs.config.reading import config_path, read_config

GIVEN = "prometheus"
"""What a server is called that only its address is known of."""
_HASHES = re.compile(r"-[a-z0-9]{6,10}-[a-z0-9]{5}$|-\d+$")  # of a Deployment's pods; of a StatefulSet's


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A Prometheus to look at. named: it stands in a configuration under that name already."""

    name: str
    config: PrometheusConfig
    named: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """One service that a preset recognises: the labels that tell it from others, how many series speak of it, and what its pods are of."""

    server: str
    preset: Preset
    match: Mapping[str, str]
    series: int
    owners: tuple[str, ...] = field(default=())

    @property
    def namespace(self) -> str | None:
        """Its namespace, where scraping tells it."""
        return self.match.get("namespace")


def servers(config: Path | None, url: str | None) -> tuple[Server, ...]:
    """The Prometheus at an address, with the credentials of a configuration that knows it; or all that the configuration names.

    Raises ConfigRejected where there is none.
    """
    known = _configured(config) if url is None or config is not None else ()
    if url is None:
        if not known:
            raise ConfigRejected("there is no source of type prometheus to look at; name one: `forecaster check --discover URL`")
        return known
    try:
        asked = PrometheusConfig(type="prometheus", url=url)
    except ValueError as error:  # without the address: a password may stand in it
        raise ConfigRejected("the Prometheus must be an address such as http://prometheus.monitoring:9090, without /api/v1") from error
    lent = next((server for server in known if server.config.url == asked.url), None)
    return (lent or Server(name=GIVEN, config=asked, named=False),)


def look_at(found: Iterable[Server], now: datetime) -> tuple[Service, ...]:
    """Every service that the servers had in the day before `now`, engines before gateways. Raises as a source does."""
    services: list[Service] = []
    for server in found:
        with ExitStack() as closing:
            index = MetricIndex(server.config.endpoint(), server.config.parameters)
            closing.callback(index.close)
            services += [replace(service, server=server.name) for service in _services(index, now)]
    return tuple(services)


def _configured(config: Path | None) -> tuple[Server, ...]:
    path = config_path(config).absolute()
    document: Config = read_config(path)
    return tuple(
        Server(name=name, config=beside(source, path.parent), named=True)
        for name, source in document.sources.items()
        if isinstance(source, PrometheusConfig)
    )


def _services(index: MetricIndex, now: datetime) -> Iterable[Service]:
    presets = [preset for preset in PRESETS.values() if preset.source == "prometheus"]
    names = {preset.name: metric_names(preset) for preset in presets}
    there = set(index.names("|".join(name for tried in names.values() for name in tried), now))
    for preset in presets:
        present = [name for name in names[preset.name] if name in there]
        if present:
            yield from _grouped(preset, index.series(f'{{__name__=~"{"|".join(present)}"}}', now))


def _grouped(preset: Preset, series: Iterable[Mapping[str, str]]) -> Iterable[Service]:
    groups: dict[tuple[tuple[str, str], ...], list[Mapping[str, str]]] = {}
    for labels in series:
        match = _match(preset, labels)
        if match:
            groups.setdefault(tuple(match.items()), []).append(labels)
    for key, found in sorted(groups.items()):
        pods = {_HASHES.sub("", labels["pod"]) for labels in found if "pod" in labels}
        yield Service(server="", preset=preset, match=dict(key), series=len(found), owners=tuple(sorted(pods)))


def _match(preset: Preset, labels: Mapping[str, str]) -> dict[str, str]:
    """The labels that tell a series' service: those of the preset, and the namespace where none of them is one; else what scraping says."""
    told = {}
    for label in preset.identity if any("namespace" in label for label in preset.identity) else (*preset.identity, "namespace"):
        moved = labels.get(f"exported_{label}") if label in preset.clashing else None
        value = moved or labels.get(label)
        if value:
            told[label] = value
    own = [label for label in preset.identity if label in told]
    if own:
        return told
    stand_in = next((label for label in ("service", "job", "instance") if labels.get(label)), None)
    return told if stand_in is None else {stand_in: labels[stand_in], **told}
