"""What of a HPA a replay can show, and the sentence where it cannot."""

import pytest

from forecaster.errors import ReplayUnsupported
from forecaster.simulate.autoscaler import KUBERNETES_DOWN, KUBERNETES_UP, HpaBehavior, HpaMetric, HpaSpec, ScalingRules, modelled

CPU = HpaMetric(type="Resource", name="cpu", utilization_percent=70)
IN_FLIGHT = HpaMetric(type="Pods", name="requests_in_flight", average_value=12)


def spec(*metrics: HpaMetric, up: ScalingRules | None = None) -> HpaSpec:
    return HpaSpec(name="llm/chat", metrics=metrics, minimum=2, maximum=40, up=up)


def test_a_utilisation_is_the_target_and_cannot_say_more_than_ready_replicas_carry() -> None:
    hpa = modelled(spec(CPU))
    assert hpa.target == 0.7
    assert hpa.behavior == HpaBehavior(minimum=2, maximum=40, capped=True)


def test_what_the_object_leaves_out_is_as_kubernetes_has_it() -> None:
    behavior = modelled(spec(CPU)).behavior
    assert (behavior.up, behavior.down) == (KUBERNETES_UP, KUBERNETES_DOWN)
    assert (behavior.sync_s, behavior.up.stabilization_s, behavior.down.stabilization_s) == (15, 0, 300)
    assert behavior.up.tolerance_ratio == behavior.down.tolerance_ratio == 0.1


def test_what_the_object_says_is_taken() -> None:
    calm = ScalingRules(stabilization_s=120, tolerance_ratio=0.02)
    assert modelled(spec(CPU, up=calm)).behavior.up == calm


@pytest.mark.parametrize("kind", ["Pods", "External"])
def test_an_average_value_is_a_share_of_what_it_reads_at_capacity_and_counts_what_waits(kind: str) -> None:
    metric = HpaMetric(type=kind, name="requests_in_flight", average_value=12)
    hpa = modelled(spec(metric), full_value=16)
    assert hpa.target == 0.75
    assert not hpa.behavior.capped


@pytest.mark.parametrize(
    ("metrics", "sentence"),
    [
        ((), "scales on no metric"),
        ((CPU, IN_FLIGHT), r"on 2 metrics \(cpu, requests_in_flight\), and a replay knows one load"),
        ((HpaMetric(type="Object", name="queue", average_value=3),), r"queue \(Object\), a value of something else"),
        ((HpaMetric(type="External", name="queue", value=30),), r"queue \(External\), a value of something else"),
        ((HpaMetric(type="Resource", name="memory", utilization_percent=80),), "memory .* does not follow requests"),
        ((IN_FLIGHT,), "nobody said what that reads when a replica carries all that it can: name the target utilisation"),
    ],
)
def test_what_cannot_be_replayed_is_said_in_one_sentence_that_names_the_hpa(metrics: tuple[HpaMetric, ...], sentence: str) -> None:
    with pytest.raises(ReplayUnsupported, match=rf"the HPA llm/chat scales .*{sentence.removeprefix('scales ')}"):
        modelled(spec(*metrics))


def test_bounds_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ValueError, match=r"at least hpa\.minimum, 5 replicas, got 3"):
        HpaBehavior(minimum=5, maximum=3)
