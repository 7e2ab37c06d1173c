"""How far replicas may go down where no autoscaler stands above us: pure rules over what was read of the pods.

| what stands in the way                     | how far down                                        |
|--------------------------------------------|-----------------------------------------------------|
| nothing                                    | all the way                                         |
| replicas whose pods never ran              | these go in any case: they serve nothing            |
| pods told to go that still have time       | no further until they have gone                     |
| less than `drain` since the last lowering  | no further until then                               |
| PodDisruptionBudgets                       | as many at once as the tightest of them allows      |

In-flight load is in the wanted number already: a decision never goes below what live load needs.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from connectors.kube.cluster import Json
from forecaster.units import iso

_ENDED = frozenset({"Failed", "Succeeded"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaving:
    """What a lowering has to respect, in replicas.

    replicas: asked for now. idle: those that never ran and go first. draining: pods that were told to go and still have time.
    allowed: those that PodDisruptionBudgets let go now, None = no budget covers them. last: when we last lowered, None = never.
    """

    replicas: int
    idle: int
    draining: int
    allowed: int | None
    last: datetime | None

    def __post_init__(self) -> None:
        if min(self.replicas, self.idle, self.draining, self.allowed or 0) < 0:
            msg = f"leaving.replicas, idle, draining and allowed must not be negative, got {self}"
            raise ValueError(msg)


def lowest(leaving: Leaving, *, drain_s: float, now: datetime) -> tuple[int, str | None]:
    """The fewest replicas that may be asked for now, and what stands in the way of fewer, None = nothing does."""
    without_idle = max(leaving.replicas - leaving.idle, 0)
    if leaving.draining:
        return without_idle, f"{leaving.draining} of its pods were told to go and still finish what they serve"
    if leaving.last is not None and now < leaving.last + timedelta(seconds=drain_s):
        return without_idle, f"replicas were told to go at {iso(leaving.last)} and are given {drain_s:g} s to finish what they serve"
    if leaving.allowed is not None and leaving.allowed < without_idle:
        return without_idle - leaving.allowed, f"its PodDisruptionBudgets let {leaving.allowed} of them go now"
    return 0, None


def idle_pods(pods: Iterable[Json]) -> int:
    """Pods that never ran a container and were not told to go: they wait for a node or an image."""
    return sum(_phase(pod) == "Pending" and "deletionTimestamp" not in _metadata(pod) for pod in pods)


def draining_pods(pods: Iterable[Json], now: datetime) -> int:
    """Pods that were told to go and whose time to finish is not over. One that outlives it hangs on a lost node and serves nothing."""
    return sum(_phase(pod) not in _ENDED and _has_time(_metadata(pod).get("deletionTimestamp"), now) for pod in pods)


def disruptions_allowed(budgets: Iterable[Json], pods: Iterable[Json]) -> int | None:
    """Pods that may go at once by all PodDisruptionBudgets (policy/v1) over any of the pods, None = there is none.

    A budget that its controller has not looked at yet, or not since it changed, allows nothing.
    """
    labels = [_metadata(pod).get("labels") or {} for pod in pods]
    over = [budget for budget in budgets if any(selects((budget.get("spec") or {}).get("selector"), each) for each in labels)]
    return min((_allowed(budget) for budget in over), default=None)


def selects(selector: Json | None, labels: Mapping[str, str]) -> bool:
    """Whether a label selector takes an object with these labels: an empty one takes all, none at all takes nothing."""
    if selector is None:
        return False
    plain = all(labels.get(key) == value for key, value in (selector.get("matchLabels") or {}).items())
    return plain and all(_holds(rule, labels) for rule in selector.get("matchExpressions") or ())


def _holds(rule: Json, labels: Mapping[str, str]) -> bool:
    key, values = rule.get("key", ""), rule.get("values") or ()
    match rule.get("operator"):
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
        case _:
            return True  # an operator of tomorrow: a budget too many slows us, one too few breaks somebody's promise


def _allowed(budget: Json) -> int:
    status = budget.get("status") or {}
    known = status.get("observedGeneration", 0) >= _metadata(budget).get("generation", 0)
    return max(int(status.get("disruptionsAllowed", 0)), 0) if known else 0


def _has_time(deletion: str | None, now: datetime) -> bool:
    return deletion is not None and datetime.fromisoformat(deletion) > now


def _metadata(value: Json) -> Json:
    return value.get("metadata") or {}


def _phase(pod: Json) -> str | None:
    phase: str | None = (pod.get("status") or {}).get("phase")
    return phase
