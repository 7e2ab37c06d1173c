"""What a person asked to be proven, sorted out of the words of a command."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from connectors.kube.connection import KubeConnection
from connectors.sources.csv import CsvConfig
from connectors.sources.prometheus import PrometheusConfig
from connectors.targets.kubernetes_hpa import KubernetesHpaConfig
from forecaster.backtest.settings import Settings
from forecaster.errors import ConfigRejected
from forecaster.workload import Policy
from jobs.backtest import CONTRACT_POLICY, Columns
from jobs.config.paths import beside
from jobs.config.reading import config_path, read_config
from jobs.config.workloads import WorkloadSection

_SERVERS = ("http://", "https://")
_ADDRESS = re.compile(r"[^/\\]+:\d+(/.*)?")
"""`prometheus:9090`: more likely an address without its scheme than a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One proof: the load out of `csv` or out of `prometheus`, and what it is replayed under.

    bounded: whether the bounds come from a configuration, which then outrank those of the HPA; told_lead_time: whether the lead time does.
    """

    csv: Path | None = None
    columns: Columns = field(default_factory=Columns)
    prometheus: PrometheusConfig | None = None
    cluster: KubeConnection = field(default_factory=KubeConnection)
    hpa: str | None = None
    query: str | None = None
    policy: Policy = CONTRACT_POLICY
    settings: Settings = field(default_factory=Settings)
    capacity_rpm: float | None = None
    bounded: bool = False
    told_lead_time: bool = False


def asked(*, load: Sequence[str], hpa: str | None, query: str | None, config: Path | None, workload: str | None) -> Asked:
    """The proof that a command line asks for. Raises ConfigRejected where it names no load, two of them, or what does not fit."""
    for option, word in (("--csv or --prometheus", load[0] if load else None), ("--hpa", hpa), ("--query", query)):
        if word is not None and not word.strip():
            raise ConfigRejected(f"{option} is blank; name what it stands for, or leave it out")
    if len(load) != 1:
        raise ConfigRejected("name the load once: --csv TRACE, or --prometheus URL with --hpa NAMESPACE/NAME or --query PROMQL")
    if workload is not None and config is None:
        raise ConfigRejected(f"workload {workload} is one of a configuration: name that with --config")
    base = Asked() if config is None else _lent(config, workload)
    if load[0].startswith(_SERVERS):
        if hpa is None and query is None:
            raise ConfigRejected("--prometheus needs --hpa NAMESPACE/NAME, whose metric is the load, or --query PROMQL, or both")
        return replace(base, prometheus=_server(load[0], base.prometheus), hpa=hpa, query=query)
    if "://" in load[0] or _ADDRESS.fullmatch(load[0]):
        address = load[0].rpartition("@")[2]  # a password may stand before it
        raise ConfigRejected(f"{address} is no file and no address of a Prometheus: write http:// or https:// before HOST:PORT")
    if hpa is not None:
        raise ConfigRejected(f"--hpa needs --prometheus URL for the load; {load[0]} is a file, or an address without http:// before it")
    columns = base.columns if query is None else replace(base.columns, value=query)
    return replace(base, csv=Path(load[0]), columns=columns, prometheus=None)


def _server(url: str, lent: PrometheusConfig | None) -> PrometheusConfig:
    """The server at an address, with the credentials of the configuration where that knows the same server."""
    try:
        named = PrometheusConfig(type="prometheus", url=url)
    except ValueError as error:
        raise ConfigRejected(f"--prometheus: {_reason(error)}") from error  # without the address: a password may stand in it
    return lent if lent is not None and lent.url == named.url else named


def _reason(error: ValueError) -> str:
    last = str(error).splitlines()[-2 if "For further information" in str(error) else -1]
    return last.strip().removeprefix("Value error, ").partition(" [type=")[0]


def _lent(config: Path, name: str | None) -> Asked:
    """What a workload of a configuration says of model, lead time, policy, columns and the ways in."""
    path = config_path(config)
    document = read_config(path)
    chosen = next((w for w in document.workloads if name is None or w.name == name), None)
    if chosen is None:
        known = ", ".join(w.name for w in document.workloads) or "none at all"
        missing = "there is no workload" if name is None else f"there is no workload {name!r}, there is: {known}"
        raise ConfigRejected(f"{path}: {missing}; name one of it, or leave --config out")
    core, folder = chosen.to_core(), path.absolute().parent
    settings = Settings(
        model=document.forecast.model,
        fallback=document.forecast.fallback,
        lead_time_s=max(pool.lead_time.plan_s for pool in core.pools),
        history_s=int(document.forecast.history),
    )
    source = beside(document.sources[chosen.source], folder)
    clusters = [target.cluster for pool in chosen.pools for target in pool.targets if isinstance(target, KubernetesHpaConfig)]
    return Asked(
        columns=_columns(source, chosen),
        prometheus=source if isinstance(source, PrometheusConfig) else None,
        cluster=beside(clusters[0], folder) if clusters else KubeConnection(),
        policy=replace(core.policy, minimum=core.policy.minimum or 1, allow_below_original=True),
        settings=settings,
        capacity_rpm=core.pools[0].capacity.rpm if len(core.pools) == 1 else None,
        bounded=core.policy.minimum is not None or core.policy.maximum is not None,
        told_lead_time=True,
    )


def _columns(source: object, workload: WorkloadSection) -> Columns:
    """What the workload calls the columns of its own recorded file; the usual names where it reads its requests elsewhere."""
    requests = workload.signals.get("rpm")
    if not isinstance(source, CsvConfig) or requests is None:
        return Columns()
    return Columns(value=requests.query, timestamp=source.timestamp)
