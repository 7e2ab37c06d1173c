"""Pieces of PromQL that many presets share."""

from collections.abc import Mapping

from connectors.sources.presets.quantity import Quantity


def mean(metric: str) -> str:
    """The mean of what a histogram or a summary observed. Without observations it is 0 / 0, which is unknown."""
    return f"sum(rate({metric}_sum{{}}[2m])) / sum(rate({metric}_count{{}}[2m]))"


def quantile(level: float, metric: str, where: str = "") -> str:
    """The quantile of a histogram over all replicas: buckets add up, quantiles do not."""
    return f"histogram_quantile({level:g}, sum by (le) (rate({metric}_bucket{{{where}}}[2m])))"


def latencies(metric: str, per_second: int = 1) -> Mapping[Quantity, str]:
    """Three quantiles in seconds of a histogram that counts `per_second` to the second."""
    scale = "" if per_second == 1 else f" / {per_second}"
    levels = ((Quantity.LATENCY_P50, 0.5), (Quantity.LATENCY_P95, 0.95), (Quantity.LATENCY_P99, 0.99))
    return {quantity: quantile(level, metric) + scale for quantity, level in levels}


def or_zero(some: str, every: str) -> str:
    """The rate of some requests, 0 where none of them was ever seen and all requests are measured."""
    return f"(sum(rate({some}[2m])) or 0 * sum(rate({every}[2m])))"


def share(some: str, every: str) -> str:
    """Some requests as a share of all."""
    return f"{or_zero(some, every)} / sum(rate({every}[2m]))"
