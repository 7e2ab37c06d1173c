"""What one metric is."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What Prometheus may do with a metric's numbers."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One metric. help: one sentence that ends with the unit where the name does not say it."""

    name: str
    kind: Kind
    labels: tuple[str, ...] = ()
    help: str
