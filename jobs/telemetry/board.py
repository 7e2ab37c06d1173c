"""The numbers that stand right now, as the registry collects them."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from threading import Lock
from typing import TypeAlias

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from jobs.telemetry.catalogue import METRICS
from jobs.telemetry.metric import Kind, Metric
from jobs.telemetry.readings import Reading
from jobs.telemetry.runs import Half

Labels: TypeAlias = tuple[str, ...]
Family: TypeAlias = CounterMetricFamily | GaugeMetricFamily


class Board(Collector):
    """Counts that only grow, marks that are set, and what the last run of each half read. Safe for threads.

    The readings of a run replace those of the one before it, so that what it did not read is gone by itself.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._numbers: dict[tuple[Metric, Labels], float] = defaultdict(float)
        self._readings: dict[Half, tuple[Reading, ...]] = {}
        self._asked: tuple[Callable[[], tuple[Reading, ...]], ...] = ()

    def count(self, metric: Metric, labels: Labels, by: float = 1) -> None:
        """Add to a counter; by 0 it is there from then on."""
        with self._lock:
            self._numbers[metric, labels] += by

    def mark(self, metric: Metric, labels: Labels, value: float) -> None:
        """Set a gauge."""
        with self._lock:
            self._numbers[metric, labels] = value

    def show(self, half: Half, readings: tuple[Reading, ...]) -> None:
        """Replace what the half's last run read."""
        with self._lock:
            self._readings[half] = readings

    def ask(self, read: Callable[[], tuple[Reading, ...]]) -> None:
        """Ask for further readings whenever the numbers are collected."""
        with self._lock:
            self._asked = (*self._asked, read)

    def keep_only(self, workloads: frozenset[str]) -> None:
        """Forget every number of any other workload."""
        with self._lock:
            for metric, labels in [key for key in self._numbers if not _of(*key, workloads)]:
                del self._numbers[metric, labels]
            self._readings = {half: tuple(r for r in kept if _of(r.metric, r.labels, workloads)) for half, kept in self._readings.items()}

    def collect(self) -> Iterator[Family]:
        """Every metric of the catalogue that is a counter or a gauge, with what stands."""
        families: Mapping[Metric, Family] = {metric: _family(metric) for metric in METRICS if metric.kind is not Kind.HISTOGRAM}
        with self._lock:
            numbers = list(self._numbers.items())
            readings = [reading for kept in self._readings.values() for reading in kept]
            asked = self._asked
        readings += [reading for read in asked for reading in read()]
        for (metric, labels), value in numbers:
            families[metric].add_metric(labels, value)
        for reading in readings:
            families[reading.metric].add_metric(reading.labels, reading.value)
        yield from families.values()


def _of(metric: Metric, labels: Labels, workloads: frozenset[str]) -> bool:
    named = dict(zip(metric.labels, labels, strict=True)).get("workload")
    return named is None or named in workloads


def _family(metric: Metric) -> Family:
    kind = CounterMetricFamily if metric.kind is Kind.COUNTER else GaugeMetricFamily
    return kind(metric.name, metric.help, labels=metric.labels)
