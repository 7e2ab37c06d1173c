"""How a person sets the target that is recommended: the patch of their HPA where there is one. Printed, never applied."""

import json

from forecaster.units import spell_number
from jobs.aims import Dial
from jobs.export.hpa import part_of, written

_MOVABLE = frozenset({"Pods", "External", "Object"})


def how_to_set(dial: Dial | None, target: float) -> str:
    """A command where the HPA's metric is a load a replica, else what to do in words.

    It is a JSON patch that tests the metric's name first: a merge would put back a whole list of metrics as it was on the day of the
    replay. https://www.rfc-editor.org/rfc/rfc6902
    """
    if dial is None:
        return f"set what its autoscaler aims at to {target:.0%} of what a replica carries"
    value, hpa = written(target * dial.full), dial.hpa
    if hpa.keda is not None:
        where = f"the threshold of {dial.metric.name} in the ScaledObject {hpa.namespace}/{hpa.keda}"
        return f"set {where} to {value}: KEDA undoes a patch of its HPA"
    index = hpa.metrics.index(dial.metric)
    if dial.metric.kind not in _MOVABLE or index >= len(hpa.spec_metrics):
        return f"set {dial.metric.name} of HPA {hpa} to {spell_number(target * dial.full)} a replica"
    part = f"/spec/metrics/{index}/{part_of(dial.metric.kind)}"
    steps = [
        {"op": "test", "path": f"{part}/metric/name", "value": dial.metric.name},
        {"op": "replace", "path": f"{part}/target/averageValue", "value": value},
    ]
    context = "" if dial.context is None else f" --context {dial.context}"
    return f"kubectl{context} -n {hpa.namespace} patch hpa {hpa.name} --type json -p '{json.dumps(steps, separators=(',', ':'))}'"
