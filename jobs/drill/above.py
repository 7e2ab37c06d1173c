"""What goes on scaling above a floor when Forecaster is gone, by kind of target."""

from collections.abc import Mapping

from connectors.targets.access import Looped
from connectors.targets.recording import Rehearsed
from forecaster.decision import Seen
from forecaster.errors import TargetError
from jobs.drill.outcome import Found, broken, doubtful, idle, kept

LOOPS: Mapping[str, str] = {
    "kubernetes-hpa": "the HPA",
    "keda-scaledobject": "KEDA's HPA",
    "kserve": "the autoscaler of the InferenceService",
    "knative": "Knative's autoscaler",
    "aibrix": "the AIBrix PodAutoscaler",
    "sagemaker": "Application Auto Scaling",
    "ecs": "Application Auto Scaling",
    "eks-nodegroup": "the cluster autoscaler or Karpenter, if one runs,",
    "asg": "the scaling policies of the group, or the cluster autoscaler, if there are any,",
    "gke-nodepool": "the cluster autoscaler of GKE",
    "aks-agentpool": "the cluster autoscaler of AKS",
    "capacity-buffer": "the cluster autoscaler",
    "webhook": "whatever is behind the receiver",
}
"""The kinds with an autoscaler above the floor, and what it is."""
ALONE: Mapping[str, str] = {
    "kubernetes-scale": "nothing scales it above us",
    "dynamo": "nothing scales it above us but the planner of the graph, if it is on",
    "kubernetes-field": "what goes on above the field is not known here",
    "placeholder-pods": "placeholders have no load, and replicas push them aside",
}
"""The kinds of which nobody can say that there is one, and why."""


def above(name: str, asked: Rehearsed, seen: Seen) -> Found:
    """What would happen to the target if every process of ours died now."""
    kind = name.partition(":")[0]
    if kind == "recording":
        return idle("there is no object behind it")
    stands = f"the floor of {seen.floor} stays" if seen.valid_until is not None else "a floor of ours would stay"
    ends = f"{stands} until it has expired and the watchdog puts {seen.original} back"
    if kind in ALONE:
        return doubtful(f"{ALONE[kind]}; {ends}")
    try:
        stuck = asked.stuck() if isinstance(asked, Looped) else None
    except TargetError as error:
        return doubtful(f"whether {LOOPS[kind]} scales is not known ({error}); {ends}")
    if stuck is not None:
        return broken(f"{LOOPS[kind]} does not scale now ({stuck}): nothing would come on top of the floor; put that right first")
    most = "" if seen.ceiling is None else f" up to {seen.ceiling}"
    return kept(f"{LOOPS[kind]} goes on{most}; {ends}")
