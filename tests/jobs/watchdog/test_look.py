"""What the watchdog finds and gives back: by the marks on the objects alone, and by the very code of the targets."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from connectors.targets.marks import OURS
from forecaster.errors import ConfigRejected
from jobs.give_back import give_back_expired
from jobs.watchdog.configured import configured_targets
from jobs.watchdog.kinds import kind_of
from tests.connectors.targets.object_subjects import ObjectSubject
from tests.connectors.targets.scale_subjects import PlaceholderSubject, ScaleSubject
from tests.connectors.targets.subjects import FOUND, NOW, UNTIL, HpaSubject, Subject, stand
from tests.jobs.watchdog.watching import looked, watch
from tests.kube_api import KubeApi

AFTER = UNTIL + timedelta(minutes=1)
KINDS = {
    "kubernetes-hpa": "kubernetes-hpa",
    "keda-scaledobject": "keda-scaledobject",
    "kserve": "kserve",
    "kserve-serverless": "knative",
    "knative": "knative",
    "aibrix": "aibrix",
    "dynamo": "dynamo",
    "dynamo-service": "kubernetes-field:nvidia.com/v1alpha1/dynamographdeployments:spec.services.decode.replicas",
    "capacity-buffer": "capacity-buffer",
    "kubernetes-field": "kubernetes-field:keda.sh/v1alpha1/scaledobjects:spec.minReplicaCount",
    "kubernetes-scale": "kubernetes-scale:Deployment",
    "placeholder-pods": "kubernetes-scale:Deployment",
}
"""By whose floor it was: under which name the watchdog finds it."""


@pytest.fixture
def api() -> Iterator[KubeApi]:
    with KubeApi() as server:
        yield server


def subject_of(api: KubeApi, kind: str) -> Subject:
    match kind:
        case "kubernetes-hpa":
            return HpaSubject(api=api)
        case "kubernetes-scale":
            return ScaleSubject(api=api)
        case "placeholder-pods":
            return PlaceholderSubject(api=api)
        case _:
            return ObjectSubject(api=api, kind=kind)


@pytest.mark.parametrize("kind", KINDS)
def test_what_has_outlived_its_word_is_as_it_was_and_carries_no_mark_of_ours(api: KubeApi, kind: str) -> None:
    subject = subject_of(api, kind)
    before = subject.floor()
    stand(subject.open(), 8)
    assert subject.floor() != before
    (outcome,) = watch(api.url, KINDS[kind], now=AFTER)
    assert (": released, floor " in outcome.sentence, outcome.failed) == (True, False), outcome
    assert (subject.floor(), subject.marks()) == (before, {})
    assert watch(api.url, KINDS[kind], now=AFTER) == ()


@pytest.mark.parametrize("kind", KINDS)
def test_what_our_word_still_stands_for_is_not_even_read(api: KubeApi, kind: str) -> None:
    subject = subject_of(api, kind)
    stand(subject.open(), 8)
    floor = subject.floor()
    api.requests.clear()
    seen = looked(api.url, [KINDS[kind]], UNTIL - timedelta(seconds=1))
    assert (seen.good, seen.expired, seen.failures) == (1, {}, ())
    assert [request.verb for request in api.requests] == ["list"]
    assert subject.floor() == floor


def test_an_object_without_our_marks_is_nobodys_business(api: KubeApi) -> None:
    HpaSubject(api=api)
    assert looked(api.url, ["kubernetes-hpa"], AFTER).good == 0
    assert watch(api.url, "kubernetes-hpa", now=AFTER) == ()


def test_an_object_on_hold_is_left_as_it_is_and_the_sentence_says_who_holds_it(api: KubeApi) -> None:
    subject = HpaSubject(api=api)
    stand(subject.open(), 8)
    subject.mark("forecaster/paused", "hold")
    (outcome,) = watch(api.url, "kubernetes-hpa", now=AFTER)
    assert (subject.floor(), outcome.failed) == (8, False)
    assert "the annotation forecaster/paused holds it: floor 8 stays" in outcome.sentence
    subject.mark("forecaster/paused", "release")
    watch(api.url, "kubernetes-hpa", now=AFTER)
    assert subject.floor() == FOUND


def test_a_hold_is_obeyed_by_release_expired_too(api: KubeApi) -> None:
    subject = HpaSubject(api=api)
    stand(subject.open(), 8)
    subject.mark("forecaster/paused", "hold")
    outcome = give_back_expired("llm", subject.open(), AFTER)
    assert outcome is not None
    assert not outcome.failed
    assert subject.floor() == 8


def test_a_mark_without_a_readable_end_counts_as_ended(api: KubeApi) -> None:
    subject = HpaSubject(api=api)
    stand(subject.open(), 8)
    subject.mark("forecaster/valid-until", "tomorrow")
    watch(api.url, "kubernetes-hpa", now=NOW)
    assert (subject.floor(), subject.marks()) == (FOUND, {})


def test_marks_that_do_not_tell_the_original_are_a_failure_that_says_what_to_write(api: KubeApi) -> None:
    subject = HpaSubject(api=api)
    stand(subject.open(), 8)
    subject.mark("forecaster/original", "two")
    (outcome,) = watch(api.url, "kubernetes-hpa", now=AFTER)
    assert outcome.failed
    assert "forecaster/original" in outcome.sentence
    assert subject.floor() == 8


def test_who_wrote_the_field_after_us_does_not_keep_the_original_away(api: KubeApi) -> None:
    subject = HpaSubject(api=api)
    stand(subject.open(), 8)
    subject.meddle(5)
    watch(api.url, "kubernetes-hpa", now=AFTER)
    assert (subject.floor(), subject.marks()) == (FOUND, {})


def test_a_floor_that_is_renewed_between_the_look_and_the_write_stays(api: KubeApi) -> None:
    subject = HpaSubject(api=api)
    stand(subject.open(), 8)
    expired = looked(api.url, ["kubernetes-hpa"], AFTER).expired
    stand(subject.open(), 9, valid_until=AFTER + timedelta(hours=1))  # Forecaster is back
    assert [give_back_expired(name, target, AFTER) for name, target in expired.items()] == [None]
    assert subject.floor() == 9


def test_a_write_of_somebody_else_in_between_is_looked_at_again(api: KubeApi) -> None:
    subject = HpaSubject(api=api)
    stand(subject.open(), 8)
    api.fail_next(409, verb="patch")
    (outcome,) = watch(api.url, "kubernetes-hpa", now=AFTER)
    assert (outcome.failed, subject.floor()) == (False, FOUND)


def test_one_object_that_fails_stops_no_other(api: KubeApi) -> None:
    first, second = HpaSubject(api=api), HpaSubject(api=api)
    for subject in (first, second):
        stand(subject.open(), 8)
    api.fail_next(422, verb="patch")
    outcomes = watch(api.url, "kubernetes-hpa", now=AFTER)
    assert sorted(outcome.failed for outcome in outcomes) == [False, True]
    assert sorted([first.floor(), second.floor()]) == [FOUND, 8]


def test_a_kind_that_may_not_be_listed_is_named_with_the_rule_and_stops_no_other(api: KubeApi) -> None:
    subject = HpaSubject(api=api)
    stand(subject.open(), 8)
    api.forbid("list", "scaledobjects")
    seen = looked(api.url, ["keda-scaledobject", "kubernetes-hpa"], AFTER, namespaces=("inference",))
    (failure,) = seen.failures
    assert "resources: [scaledobjects], verbs: [list]" in failure.sentence
    assert list(seen.expired) == [subject.open().name]


def test_a_kind_that_the_cluster_does_not_have_is_a_failure_only_where_it_was_asked_for(api: KubeApi) -> None:
    (failure,) = looked(api.url, ["aibrix"], AFTER).failures
    assert "serves no podautoscalers" in failure.sentence
    assert looked(api.url, ["aibrix"], AFTER, lenient=True).failures == ()


def test_only_the_namespaces_that_are_named_are_looked_into(api: KubeApi) -> None:
    stand(HpaSubject(api=api).open(), 8)
    assert looked(api.url, ["kubernetes-hpa"], AFTER, namespaces=("elsewhere",)).expired == {}


def test_a_dry_run_says_what_would_be_put_back_and_writes_nothing(api: KubeApi) -> None:
    subject = HpaSubject(api=api)
    stand(subject.open(), 8)
    (outcome,) = watch(api.url, "kubernetes-hpa", now=AFTER, rehearsed=True)
    assert "would be released, floor 8 -> 2" in outcome.sentence
    assert (subject.floor(), set(subject.marks())) == (8, set(OURS))


@pytest.mark.parametrize("text", ["hpa", "kubernetes-scale", "kubernetes-scale:Pod", "kubernetes-field:", "kubernetes-field:pods:spec.x"])
def test_a_kind_that_is_none_is_refused_with_those_there_are(text: str) -> None:
    with pytest.raises(ConfigRejected, match=r"kubernetes-field:GROUP/VERSION/PLURAL:FIELD"):
        kind_of(text)


def test_a_configuration_gives_its_targets_and_its_store_and_sources_are_not_even_read(
    api: KubeApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = HpaSubject(api=api)
    stand(subject.open(), 8)
    monkeypatch.setenv("KUBE", api.url)
    path = tmp_path / "forecaster.yaml"
    path.write_text("store: postgresql://x:${NOT_SET}@gone/x\nsources: {metrics: {type: gone}}\ninclude: [teams/*.yaml]\n")
    (tmp_path / "teams").mkdir()
    (tmp_path / "teams" / "chat.yaml").write_text(
        "workloads:\n"
        "  - name: chat\n"
        "    pools:\n"
        f"      - targets: [{{type: kubernetes-hpa, namespace: inference, name: {subject.name}, cluster: {{server: '${{KUBE}}'}}}}]\n"
    )
    ((name, target),) = configured_targets(path).items()
    outcome = give_back_expired(name, target, AFTER)
    assert outcome is not None
    assert "released, floor 8 -> 2" in outcome.sentence


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("{type: kubernetes-hpa, namespace: a}", r"workloads\[0\]\.pools\[0\]\.targets\[0\]\.name: "),
        ("{type: kubernetes-hpa, namespace: a, name: '${NOT_SET}'}", r"targets\[0\]: the environment variable NOT_SET is not set"),
    ],
)
def test_a_target_that_is_none_is_named_with_its_place(tmp_path: Path, target: str, said: str) -> None:
    path = tmp_path / "forecaster.yaml"
    path.write_text(f"workloads: [{{pools: [{{targets: [{target}]}}]}}]\n")
    with pytest.raises(ConfigRejected, match=said):
        configured_targets(path)
