"""One preset: which metric says what, under which labels, and how older versions called it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from connectors.sources.presets.quantity import Counted, Quantity
from forecaster.ports import Unit
from forecaster.series import LOAD_SIGNALS

SCRAPED = ("namespace", "pod", "container", "service", "job", "instance", "cluster")
"""Labels that scraping adds, whatever is scraped."""
_RATES = frozenset({Quantity.RPM, Quantity.TOKENS, Quantity.REFUSED})


class Role(StrEnum):
    """Where in the path of a request something stands."""

    GATEWAY = "gateway"
    ENGINE = "engine"
    QUEUE = "queue"
    HARDWARE = "hardware"


@dataclass(frozen=True, slots=True, kw_only=True)
class Renamed:
    """Metrics whose names begin with `new`, or end with it after a *, and begin or end with `old` at other times.

    when: `before 0.9`, in words. where: a matcher that the old name needs.
    """

    new: str
    old: str
    when: str
    where: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """Metrics whose names begin with `metric` call a label otherwise, or have no need of it (""): they count for all of its values."""

    metric: str
    label: str
    instead: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lacking:
    """Metrics whose names begin with `metric` do not have these labels: whoever matches one is not supplied by them."""

    metric: str
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """What one system measures.

    source: the kind of source whose language it is written in. metrics: PromQL as it stands, with today's names, `[2m]` as the window and
    `{...}` after every name, where `expression` puts matchers, older names and copies; or metric math of CloudWatch with `{}` in place of
    dimensions. identity: labels that tell one service from another. labels: further ones of its own that may be matched, beside those of
    scraping. presence: the metric whose series tell that it is there. clashing: own labels that scraping moves to `exported_...`.
    copies: labels that tell equal series apart. second: what another preset of the same workload says better.
    """

    name: str
    title: str
    source: Literal["prometheus", "cloudwatch"] = "prometheus"
    role: Role
    presence: str
    identity: tuple[str, ...]
    metrics: Mapping[Quantity, str] = field(repr=False)
    labels: tuple[str, ...] = ()
    counted: Counted | None = None
    renamed: tuple[Renamed, ...] = ()
    spellings: tuple[Spelling, ...] = ()
    lacking: tuple[Lacking, ...] = ()
    clashing: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    second: frozenset[Quantity] = frozenset()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (Quantity.RPM in self.metrics) != (self.counted is not None):
            msg = f"preset {self.name} must say what its rpm counts, and only where it has one"
            raise ValueError(msg)

    @property
    def known_labels(self) -> tuple[str, ...]:
        """Every label that may be matched, its own first."""
        return tuple(dict.fromkeys((*self.identity, *self.labels, *(SCRAPED if self.source == "prometheus" else ()))))

    def unit(self, quantity: Quantity) -> Unit:
        """What the numbers of a quantity's expression mean."""
        if quantity not in _RATES:
            return Unit.COUNT
        return Unit.PER_SECOND if self.source == "prometheus" else Unit.COUNT

    @property
    def counts_waiting(self) -> bool:
        """Whether its concurrency holds the very requests that its queue depth counts: the queue must not be added to it again."""
        queue, concurrency = self.metrics.get(Quantity.QUEUE_DEPTH), self.metrics.get(Quantity.CONCURRENCY)
        return queue is not None and concurrency is not None and queue in concurrency

    @property
    def gives_load(self) -> bool:
        """Whether a floor can rest on it."""
        return any(quantity.signal in LOAD_SIGNALS for quantity in self.metrics)
