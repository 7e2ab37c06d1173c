"""What each preset of a workload supplies now, or what it looked for in vain and what the server has instead."""

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from datetime import datetime, timedelta

import numpy as np

from connectors.sources.metric_index import MetricIndex
from connectors.sources.presets.expression import Use, selectors, sought
from connectors.sources.presets.preset import Role
from connectors.sources.presets.quantity import Quantity
from connectors.sources.prometheus import PrometheusConfig
from connectors.sources.registry import OpenedSource, SourceConfig
from forecaster.errors import SourceError, SourceUnavailable
from forecaster.series import LOAD_SIGNALS, Window
from forecaster.units import HOUR_S, MINUTE_S, floor_to
from jobs.checking.finding import Finding, State
from jobs.config.presets import Supply
from jobs.config.workloads import WorkloadSection

_SHOWN = 5


class PresetCheck:
    """The presets of one workload and the server that they ask."""

    def __init__(self, section: WorkloadSection, config: SourceConfig, source: OpenedSource, now: datetime) -> None:
        self._section = section
        self._config = config
        self._source = source
        self._now = now

    def answered(self, supply: Supply) -> tuple[Finding, float | None]:
        """Whether a supply is answered, and its last number of the hour in the unit that people are told it in.

        None = there is none; NaN = nobody answered whether there is.
        """
        end = floor_to(self._now, MINUTE_S)
        where = f"{self._section.name}: {supply.quantity.value}"
        try:
            hour = self._source.fetch(supply.query, Window(start=end - timedelta(seconds=HOUR_S), end=end), MINUTE_S).mean
            measured = np.flatnonzero(~np.isnan(hour))
            if not measured.size:
                state, sentence = self._silence(supply)
                return Finding(what="query", where=where, state=state, sentence=sentence), None
        except SourceError as error:
            unknown = math.nan if isinstance(error, SourceUnavailable) else None
            return Finding(what="query", where=where, state=State.FAILED, sentence=str(error)), unknown
        last = float(hour[measured[-1]])
        counts = f" ({supply.preset.counted})" if supply.quantity is Quantity.RPM else ""
        told = f"{last:.6g} {supply.quantity.told_in} in the last measured minute, {measured.size} of the last 60 were measured"
        return Finding(what="query", where=where, state=State.OK, sentence=f"preset {supply.preset.name}{counts}: {told}"), last

    def summary(self, told: Sequence[tuple[Supply, float | None]]) -> Finding:
        """One finding on which quantity comes from where; not well where nothing was measured of any."""
        from_presets = {supply.quantity: _source_of(supply, last) for supply, last in told}
        state = State.OK if any(last is not None and not math.isnan(last) for _, last in told) else State.WARNING
        parts = [
            f"{quantity.words}: {'signals' if quantity.value in self._section.signals else from_presets.get(quantity, 'not supplied')}"
            for quantity in Quantity
        ]
        return Finding(what="presets", where=self._section.name, state=state, sentence=", ".join(parts))

    def doubts(self) -> Iterator[Finding]:
        """Series that may be counted twice, or that belong to others, as the engines' labels tell."""
        for preset in self._section.presets:
            if preset.use.preset.role is Role.ENGINE and isinstance(self._config, PrometheusConfig):
                for doubt in self._doubts(preset.use):
                    yield Finding(what="presets", where=self._section.name, state=State.WARNING, sentence=f"preset {preset.name}: {doubt}")

    def _silence(self, supply: Supply) -> tuple[State, str]:
        """What to say of a query that answered nothing for an hour."""
        if isinstance(self._config, PrometheusConfig):
            with closing(MetricIndex(self._config.endpoint(), self._config.parameters)) as index:
                missing = self._missing(supply, index)
        else:
            missing = self._source.probe(supply.query, self._now)  # raises where a week has nothing
        needed = supply.quantity.signal in LOAD_SIGNALS
        if missing is None:
            idle = f"preset {supply.preset.name}: its series are there and give no number in the last hour, so it is unknown, not 0"
            return (State.WARNING if needed else State.OK), idle
        return (State.FAILED if needed else State.WARNING), missing

    def _missing(self, supply: Supply, index: MetricIndex) -> str | None:
        """Which metrics are not there, and what is; None where all are."""
        use = supply.use
        absent = [one for one in sought(use, supply.quantity) if not self._is_there(index, one.selectors)]
        if not absent:
            return None
        tried = tuple(dict.fromkeys(name for one in absent for name in one.names))
        looked = f"preset {use.preset.name} finds no {' or '.join(tried[:_SHOWN])}{' or older names' if len(tried) > _SHOWN else ''}"
        matched = next((one for one in absent if one.fixed and self._is_there(index, one.matched)), None)
        if matched is not None:
            return f"{looked} with {use.shown} and {matched.fixed}, though with other values than that: not supplied"
        there = index.names("|".join(tried), self._now)
        if there:
            return f"{looked} with {use.shown}; {there[0]} is there with {_values(index, there[0], use, self._now)}; correct match"
        prefix = _prefix(tried[0])
        alike = index.names(f"{prefix}.*", self._now) if prefix else ()
        has = (
            f"of {prefix}... it has {', '.join(alike[:_SHOWN])}{' and more' if len(alike) > _SHOWN else ''}"
            if alike
            else "it has nothing alike"
        )
        return f"{looked}, and {index.where} has none of them under any label; {has}: not supplied"

    def _is_there(self, index: MetricIndex, selectors: Iterable[str]) -> bool:
        return any(index.series(selector, self._now) for selector in selectors)

    def _doubts(self, use: Use) -> Iterator[str]:
        assert isinstance(self._config, PrometheusConfig)  # noqa: S101 - as its only caller asked
        first = next(iter(use.preset.metrics))
        try:
            with closing(MetricIndex(self._config.endpoint(), self._config.parameters)) as index:
                found = [labels for selector in selectors(use, first) for labels in index.series(selector, self._now)]
        except SourceError:
            return  # its queries say so already
        namespaces = sorted({labels["namespace"] for labels in found if "namespace" in labels})
        if len(namespaces) > 1 and "namespace" not in use.match:
            yield f"adds up the namespaces {', '.join(namespaces[:_SHOWN])}; put the workload's own into match"
        jobs: dict[str, set[str]] = {}
        for labels in found:
            if "job" in labels and "instance" in labels:
                jobs.setdefault(labels["instance"], set()).add(labels["job"])
        twice = next((sorted(names) for names in jobs.values() if len(names) > 1), None)
        if twice is not None and "job" not in use.match:
            yield f"the same instance is scraped as {' and as '.join(twice)}, so its load is counted twice; put one job into match"


def _source_of(supply: Supply, last: float | None) -> str:
    counted = f" ({supply.preset.counted})" if supply.quantity is Quantity.RPM else ""
    number = "nothing measured" if last is None else "unknown" if math.isnan(last) else f"{last:.4g} {supply.quantity.told_in}"
    return f"{supply.preset.name}{counted} {number}"


def _values(index: MetricIndex, name: str, use: Use, now: datetime) -> str:
    """The values that the labels have which were matched."""
    series = index.series(f'{{__name__="{name}"}}', now)
    told = []
    for label in use.match:
        values = sorted({labels[label] for labels in series if label in labels})
        shown = ", ".join(values[:_SHOWN]) + (", ..." if len(values) > _SHOWN else "")
        told.append(f"{label} {shown}" if values else f"no label {label}")
    return " and ".join(told)


def _prefix(name: str) -> str:
    """What names of the same system begin with, empty where they begin with nothing of their own."""
    for mark in (":", "_"):
        head, found, _ = name.partition(mark)
        if found:
            return head + found
    return ""
