"""How long a replica takes from request to ready."""

from dataclasses import dataclass
from datetime import datetime

from forecaster.units import MINUTE_S, check_instant, check_not_negative, check_positive


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known of a pool's starts, whether or not it is enough to replace the configured lead time.

    starts, cold: how many were seen since `since`, and how many of them waited for a node. pending: how many have not ended yet.
    enough: the configured value gave way. late: how many of the last ten took longer than the lead time would have been, 0 = it was
    not widened. node_s, image_s, load_s: medians of requested to scheduled, to containers at work, to ready; None = not seen.
    configured_s: the longer part of the configuration.
    """

    starts: int
    cold: int
    pending: int
    since: datetime
    enough: bool
    late: int
    configured_s: float
    node_s: float | None = None
    image_s: float | None = None
    load_s: float | None = None

    def __post_init__(self) -> None:
        check_positive("evidence.starts", self.starts, "starts")
        check_instant("evidence.since", self.since)
        check_not_negative("evidence.configured_s", self.configured_s, "seconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadTime:
    """Request-to-ready in seconds at P90: on a node that is up (`warm_s`) and with a node to be provisioned (`cold_s`).

    Plans use the longer one: whether a node will be there is not known hours ahead. Where nodes have a floor of their own (nodes_first)
    it is written as much earlier as a node takes, and the floor of the replicas needs the warm part only. `source` says who
    measured it. evidence: the starts that were seen, None = none.
    """

    warm_s: float
    cold_s: float
    source: str = "configured"
    evidence: Evidence | None = None
    nodes_first: bool = False

    def __post_init__(self) -> None:
        check_not_negative("lead_time.warm_s", self.warm_s, "seconds")
        check_not_negative("lead_time.cold_s", self.cold_s, "seconds")

    @property
    def plan_s(self) -> float:
        """The lead time that floors are shifted by."""
        return self.warm_s if self.nodes_first else max(self.warm_s, self.cold_s)

    @property
    def nodes_ahead_s(self) -> float:
        """How much earlier than the replicas nodes are asked for; 0 where they have no floor of their own."""
        return max(self.cold_s - self.warm_s, 0.0) if self.nodes_first else 0.0

    def window_steps(self, step_s: int) -> int:
        """Buckets in [t, t + lead time + one step), rounded up: what a floor at t has to cover."""
        return max(1, int(-(-(self.plan_s + step_s) // step_s)))

    @property
    def told(self) -> str:
        """Where it comes from: `12 min: P90 of 41 starts since 2 Nov (node 2.1, image 0.6, load 3.2), cold 12 of 17; configured 5`."""
        seen, whole = self.evidence, f"{_minutes(self.plan_s)} min"
        if seen is None:
            return f"{whole}, as configured{self._nodes}"
        since = f"since {seen.since.day} {seen.since:%b}"
        cold = f", cold {_minutes(self.cold_s)} of {seen.cold}" if seen.cold else ", no cold one"
        if seen.enough:
            said = f"{whole}: P90 of {_counted(seen.starts)} {since}{_phases(seen)}{cold}; configured {_minutes(seen.configured_s)}"
        else:
            so_far = f"{_counted(seen.starts)} {since} are too few to measure it"
            said = f"{whole}, configured {_minutes(seen.configured_s)}: {so_far}{cold}"
        pending = f"; {seen.pending} of them not ready yet" if seen.pending else ""
        return f"{said}{self._nodes}{pending}{f'; {self.widened}' if self.widened else ''}"

    @property
    def _nodes(self) -> str:
        return f", nodes {_minutes(self.nodes_ahead_s)} min earlier" if self.nodes_first else ""

    @property
    def widened(self) -> str:
        """Why it is longer than the starts of the last weeks let expect, in words; empty where it is not."""
        seen = self.evidence
        return f"widened, since {seen.late} of the last 10 starts took longer" if seen is not None and seen.late else ""


def _phases(seen: Evidence) -> str:
    known = (("node", seen.node_s), ("image", seen.image_s), ("load", seen.load_s))
    parts = [f"{name} {_minutes(span_s)}" for name, span_s in known if span_s is not None]
    return f" ({', '.join(parts)})" if parts else ""


def _counted(starts: int) -> str:
    return f"{starts} start{'' if starts == 1 else 's'}"


def _minutes(span_s: float) -> str:
    return f"{span_s / MINUTE_S:.2g}" if span_s < 10 * MINUTE_S else f"{span_s / MINUTE_S:.0f}"
