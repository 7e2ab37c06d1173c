"""Targets that count machines: how many replicas one carries, and a floor in whole machines."""

from typing import Annotated, TypeAlias

from pydantic import Field

from connectors.targets.taken import floor_taken, within_bounds
from forecaster.decision import Applied, Decision, Seen

ReplicasPerNode: TypeAlias = Annotated[
    int,
    Field(
        ge=1,
        description="Replicas that fit on one node; floors are rounded up to whole nodes. Default 1: a large model fills its node.",
    ),
]


def whole_nodes_taken(decision: Decision, seen: Seen, *, per_node: int, ceiling: str) -> Applied:
    """The outcome of writing a floor, in replicas, to what takes multiples of `per_node`. `ceiling` is what the API calls its largest."""
    whole, reasons = within_bounds(-(-decision.floor // per_node) * per_node, seen, ceiling=ceiling)
    return floor_taken(decision, seen, whole=whole, reasons=reasons)
