"""The patch of a HPA's target."""

from typing import Any

import pytest

from forecaster.errors import ConfigRejected
from jobs.export.hpa import target_patch
from jobs.export.kept import KeptHpa, KeptScaled
from tests.jobs.proof.hpas import cpu, external, pods


def hpa(*metrics: dict[str, Any], metric: str | None, target: float | None = 0.7) -> KeptHpa:
    return KeptHpa(
        namespace="inference",
        name="chat",
        scales=KeptScaled(kind="Deployment", name="chat"),
        min_replicas=2,
        max_replicas=40,
        metric=metric,
        target_utilisation=target,
        spec_metrics=metrics,
    )


def test_only_the_replayed_metric_moves_and_the_others_stay_in_the_list() -> None:
    patch = target_patch(hpa(pods("load", "7"), cpu(60), metric="load"), 0.9)
    assert patch == {"spec": {"metrics": [pods("load", "9"), cpu(60)]}}


@pytest.mark.parametrize(
    ("metric", "moved"),
    [(pods("x", "1500m"), pods("x", "1930m")), (external("x", "2k"), external("x", "2570")), (cpu(70), cpu(90))],
    ids=["thousandths", "thousands", "utilisation"],
)
def test_values_are_written_as_kubernetes_writes_them(metric: dict[str, Any], moved: dict[str, Any]) -> None:
    name = "cpu" if metric["type"] == "Resource" else "x"
    assert target_patch(hpa(metric, metric=name), 0.9) == {"spec": {"metrics": [moved]}}


def test_what_was_read_is_left_as_it_was() -> None:
    metric = pods("load", "7")
    target_patch(hpa(metric, metric="load"), 0.9)
    assert metric == pods("load", "7")


def test_a_total_cannot_be_moved_by_a_share() -> None:
    with pytest.raises(ConfigRejected, match="set its target by hand"):
        target_patch(hpa(metric="x", target=None), 0.9)
