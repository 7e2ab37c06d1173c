"""What was discovered, as a configuration to begin with: a person fills in capacities and targets."""

import json
import re
from collections.abc import Iterator, Sequence

import yaml

from connectors.sources.presets.preset import Role
from jobs.discovery import Server, Service

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9._/-]*")
_WORDS = {"true", "false", "null", "yes", "no", "on", "off"}
_NO_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_SHOWN = 5
_VARIABLE = "PROMETHEUS_PASSWORD"
_CAPACITY = "{}  # <-- what one replica carries inside its SLO: rpm, concurrency or tokens; without one the pool is held where it is"


def proposal(servers: Sequence[Server], services: Sequence[Service]) -> str:
    """YAML with a workload for each engine; where no engine is, for each service behind a gateway. Empty where neither is."""
    engines = [service for service in services if service.preset.role is Role.ENGINE]
    gateways = [service for service in services if service.preset.role is Role.GATEWAY]
    leading = engines or gateways
    if not leading:
        return ""
    names = _names(leading)
    lines = [*_sources(servers), "workloads:"]
    for service, name in zip(leading, names, strict=True):
        lines += _workload(service, name, services if engines else ())
    return "\n".join([*lines, *_others(services), ""])


def proposal_json(servers: Sequence[Server], services: Sequence[Service]) -> dict[str, object]:
    """Where was looked, every service that was found, and the proposal as it would be read from its YAML; null where there is none."""
    text = proposal(servers, services)
    return {
        "servers": [{"name": server.name, "url": server.config.url, "configured": server.named} for server in servers],
        "services": [
            {
                "server": service.server,
                "preset": service.preset.name,
                "role": service.preset.role,
                "namespace": service.namespace,
                "match": dict(service.match),
                "series": service.series,
                "owners": list(service.owners),
            }
            for service in services
        ],
        "proposal": yaml.safe_load(text) if text else None,
    }


def told(services: Sequence[Service]) -> str:
    """How many services of which preset were found, in one line."""
    counts: dict[str, int] = {}
    for service in services:
        counts[service.preset.name] = counts.get(service.preset.name, 0) + 1
    return ", ".join(f"{name} {n}" for name, n in counts.items())


def _sources(servers: Sequence[Server]) -> Iterator[str]:
    """The sources that no configuration has yet; their credentials are for the person to add."""
    new = [server for server in servers if not server.named]
    if not new:
        yield f"# In your configuration already: {', '.join(f'sources.{server.name}' for server in servers)}."
        return
    yield "sources:"
    for server in new:
        login, note = _login(server)
        yield f"  {server.name}: {{type: prometheus, url: {_text(server.config.url)}{login}}}{note}"


def _login(server: Server) -> tuple[str, str]:
    """The login that stood in the address, its password by the name of a variable: what was looked at needs it again."""
    basic = server.config.basic_auth
    if basic is None:
        return "", ""
    return (
        f', basic_auth: {{username: {_text(basic.username)}, password: "${{{_VARIABLE}}}"}}',
        f"  # <-- set {_VARIABLE} in the environment",
    )


def _workload(service: Service, name: str, services: Sequence[Service]) -> Iterator[str]:
    yield f"  - name: {_text(name)}"
    yield f"    source: {_text(service.server)}"
    yield "    presets:"
    beside = [other for other in services if other.server == service.server]
    yield from _gateways(service, beside)
    yield f"      - {_preset(service)}  # {service.series} series"
    if any(other.preset.role is Role.HARDWARE and other.namespace == service.namespace for other in beside):
        yield f"      - {{name: dcgm, match: {{namespace: {_text(service.namespace or '')}}}}}  # GPUs of the pods above"
    yield "    pools:"
    yield "      - name: gpu"
    yield f"        capacity: {_CAPACITY}"
    yield "        targets:"
    yield f"          - {{type: recording, name: {_text(name)}}}  # <-- writes nowhere{_fitting(service)}"


def _gateways(service: Service, beside: Sequence[Service]) -> Iterator[str]:
    """The gateways that may stand in front, the likely ones first: which one does, only a person knows."""
    values = set(service.match.values()) | set(service.owners)
    found = [other for other in beside if other.preset.role is Role.GATEWAY]
    likely = sorted(found, key=lambda other: -len(values & set(other.match.values())))
    if likely:
        yield "      # <-- the gateway in front belongs first, since it counts what arrives and not what was served; there is"
        for other in likely[:_SHOWN]:
            yield f"      # - {_preset(other)}"
        if len(likely) > _SHOWN:
            yield f"      # and {len(likely) - _SHOWN} more"


def _fitting(service: Service) -> str:
    if service.preset.role is not Role.ENGINE or service.namespace is None or len(service.owners) != 1:
        return "; name the HPA, ScaledObject or node group that scales it"
    hpa = f"{{type: kubernetes-hpa, namespace: {_text(service.namespace)}, name: {_text(service.owners[0])}}}"
    return f"; its pods are of {service.owners[0]}, so look for {hpa}"


def _others(services: Sequence[Service]) -> Iterator[str]:
    queues = [service for service in services if service.preset.role is Role.QUEUE]
    if queues:
        yield "# Queues are there too; the one that a workload takes its requests from tells its backlog:"
        yield from (f"# - {_preset(queue)}" for queue in queues[:_SHOWN])
        if len(queues) > _SHOWN:
            yield f"# and {len(queues) - _SHOWN} more"


def _preset(service: Service) -> str:
    match = ", ".join(f"{label}: {_text(value)}" for label, value in service.match.items())
    return f"{{name: {service.preset.name}, match: {{{match}}}}}"


def _names(services: Sequence[Service]) -> list[str]:
    """A name for each, of what tells it from others, unique."""
    taken: set[str] = set()
    names = []
    for service in services:
        own = [value for label, value in service.match.items() if label != "namespace"]
        words = dict.fromkeys((*((service.namespace,) if service.namespace else ()), *own))
        name = _NO_NAME.sub("-", ".".join(words)).strip("-._") or service.preset.name
        unique, n = name[:100], 2
        while unique in taken:
            unique, n = f"{name[:100]}-{n}", n + 1
        taken.add(unique)
        names.append(unique)
    return names


def _text(value: str) -> str:
    """A text as YAML takes it inside of braces."""
    return value if _PLAIN.fullmatch(value) and value.lower() not in _WORDS else json.dumps(value)
