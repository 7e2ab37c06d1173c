"""The field of an object as a lever: fields that are not there, switches kept as text, several levers on one object."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from connectors.kube.connection import KubeConnection
from connectors.levers.access import Checkable, Tried
from connectors.levers.kubernetes_field import MARK, KubernetesFieldLeverConfig
from connectors.levers.registry import open_levers
from forecaster.errors import TargetForbidden, TargetRefused
from forecaster.ladder import LeverValue
from forecaster.ports import Lever
from tests.kube_api import KubeApi

NOW = datetime(2026, 3, 2, 7, 30, tzinfo=UTC)
UNTIL = NOW + timedelta(hours=1)


@pytest.fixture
def api() -> Iterator[KubeApi]:
    with KubeApi() as server:
        server.define("inferenceobjectives", kind="InferenceObjective", api_version="inference.networking.x-k8s.io/v1alpha2")
        server.put("inferenceobjectives", "serving", "batch", metadata={}, spec={"priority": 0, "poolRef": {"name": "llm"}})
        server.put("configmaps", "serving", "engine", metadata={}, data={"cache": "false", "note": "mind me"})
        yield server


def lever(api: KubeApi, field: str, *, kind: str = "InferenceObjective") -> Lever:
    config = KubernetesFieldLeverConfig(
        type="kubernetes-field",
        api_version="v1" if kind == "ConfigMap" else "inference.networking.x-k8s.io/v1alpha2",
        kind=kind,
        namespace="serving",
        name="engine" if kind == "ConfigMap" else "batch",
        field=field,
        cluster=KubeConnection(server=api.url),
    )
    return open_levers({"it": config})["it"]


def stand(of: Lever, value: LeverValue) -> None:
    of.set(value, UNTIL, of.observe(NOW))


def let_go(of: Lever) -> None:
    of.release(of.observe(NOW))


def objective(api: KubeApi) -> dict[str, Any]:
    return api.look("inferenceobjectives", "serving", "batch")


def test_a_field_that_was_not_there_is_taken_away_again(api: KubeApi) -> None:
    of = lever(api, "spec.shed")
    stand(of, value=True)
    assert objective(api)["spec"] == {"priority": 0, "poolRef": {"name": "llm"}, "shed": True}
    let_go(of)
    assert objective(api)["spec"] == {"priority": 0, "poolRef": {"name": "llm"}}


def test_a_negative_priority_sheds_and_zero_is_an_original_like_any_other(api: KubeApi) -> None:
    of = lever(api, "spec.priority")
    stand(of, -10)
    assert objective(api)["spec"]["priority"] == -10
    let_go(of)
    assert objective(api)["spec"]["priority"] == 0


def test_a_switch_in_a_configmap_is_kept_as_text_and_the_other_keys_are_left_alone(api: KubeApi) -> None:
    of = lever(api, "data.cache", kind="ConfigMap")
    stand(of, value=True)
    assert api.look("configmaps", "serving", "engine")["data"] == {"cache": "true", "note": "mind me"}
    assert of.observe(NOW).value is True
    let_go(of)
    assert api.look("configmaps", "serving", "engine")["data"] == {"cache": "false", "note": "mind me"}


def test_two_levers_on_one_object_have_marks_of_their_own(api: KubeApi) -> None:
    one, other = lever(api, "spec.priority"), lever(api, "spec.shed")
    stand(one, -10)
    stand(other, value=True)
    let_go(one)
    assert objective(api)["spec"] == {"priority": 0, "poolRef": {"name": "llm"}, "shed": True}
    assert [key.startswith(MARK) for key in objective(api)["metadata"]["annotations"]] == [True]


@pytest.mark.parametrize("text", ["", "7", "[]", '{"original": 1}', "not json"])
def test_a_mark_that_does_not_say_the_original_stops_us_before_we_guess(api: KubeApi, text: str) -> None:
    of = lever(api, "spec.priority")
    stand(of, -10)
    (key,) = objective(api)["metadata"]["annotations"]
    api.change("inferenceobjectives", "serving", "batch", {"metadata": {"annotations": {key: text}}})
    with pytest.raises(TargetRefused, match=r"does not say what spec\.priority was before us"):
        of.observe(NOW)


def test_a_field_that_holds_more_than_one_value_is_refused(api: KubeApi) -> None:
    with pytest.raises(TargetRefused, match=r"has a dict in spec\.poolRef, not one value"):
        lever(api, "spec.poolRef").observe(NOW)


def test_a_missing_right_is_told_as_the_rule_to_add(api: KubeApi) -> None:
    api.forbid("patch", "inferenceobjectives")
    with pytest.raises(TargetForbidden, match=r"resources: \[inferenceobjectives\], verbs: \[patch\]"):
        stand(lever(api, "spec.priority"), -10)


def test_of_the_core_group_configmaps_alone_are_levers() -> None:
    with pytest.raises(ValidationError, match="only ConfigMaps are moved"):
        KubernetesFieldLeverConfig(type="kubernetes-field", api_version="v1", kind="Pod", namespace="a", name="b", field="spec.c")


def test_neither_our_marks_nor_a_persons_pause_are_moved() -> None:
    for field in ("metadata.annotations['forecaster/paused']", "metadata.annotations['forecaster/lever-0']"):
        with pytest.raises(ValidationError, match="is a mark of ours or a person's pause"):
            KubernetesFieldLeverConfig(type="kubernetes-field", api_version="a.b/v1", kind="Thing", name="b", field=field)


@pytest.mark.parametrize("field", ["status.ready", "metadata", "kind", "metadata.name", "metadata.finalizers.0", "metadata.annotations"])
def test_what_is_not_for_us_to_write_is_refused(field: str) -> None:
    with pytest.raises(ValidationError, match="is not for us to write"):
        KubernetesFieldLeverConfig(type="kubernetes-field", api_version="a.b/v1", kind="Thing", name="b", field=field)


def test_a_rehearsal_is_the_servers_and_writes_nothing(api: KubeApi) -> None:
    of = lever(api, "data.max_batch", kind="ConfigMap")
    assert isinstance(of, Tried)
    of.try_set(8, UNTIL, of.observe(NOW))
    of.try_release(of.observe(NOW))
    assert api.writes == ()
    assert [request.query.get("dryRun") for request in api.requests if request.verb == "patch"] == ["All", "All"]


def test_before_it_is_moved_a_missing_right_is_told_without_a_write(api: KubeApi) -> None:
    of = lever(api, "data.max_batch", kind="ConfigMap")
    assert isinstance(of, Checkable)
    of.check_write(of.observe(NOW))
    api.forbid("patch", "configmaps")
    with pytest.raises(TargetForbidden, match=r"resources: \[configmaps\], verbs: \[patch\]"):
        of.check_write(of.observe(NOW))
