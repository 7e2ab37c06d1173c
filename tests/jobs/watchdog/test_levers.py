"""Levers that have outlived their end are put back by what stands on their objects, whatever became of Forecaster."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml
from pydantic import TypeAdapter

from connectors.kube.connection import KubeConnection
from connectors.levers.kubernetes_field import MARK
from connectors.levers.registry import LeverConfig, open_levers
from forecaster.errors import ConfigRejected
from forecaster.ladder import LeverValue
from jobs.give_back import Released
from jobs.watchdog.configured import configured_levers
from jobs.watchdog.levers import LeverLook, lever_kind, look_at_levers, put_back
from tests.jobs.watchdog.watching import command, kubeconfig
from tests.kube_api import KubeApi
from tests.lever_receiver import SECRET, LeverReceiver

NOW = datetime(2026, 3, 2, 7, 30, tzinfo=UTC)
UNTIL = NOW + timedelta(hours=1)
AFTER = UNTIL + timedelta(minutes=1)
CONFIG_MAPS, OBJECTIVES = "lever:v1/configmaps", "lever:inference.networking.x-k8s.io/v1alpha2/inferenceobjectives"
BATCH = "kubernetes-field:serving/configmaps/engine/data.max_batch"


@pytest.fixture
def api() -> Iterator[KubeApi]:
    with KubeApi() as server:
        server.define("inferenceobjectives", kind="InferenceObjective", api_version="inference.networking.x-k8s.io/v1alpha2")
        server.put("inferenceobjectives", "serving", "free", metadata={}, spec={"priority": 0})
        server.put("configmaps", "serving", "engine", metadata={}, data={"max_batch": "32", "cache": "false"})
        server.put("configmaps", "other", "engine", metadata={}, data={"max_batch": "32"})
        yield server


def held(api: KubeApi, field: str, value: LeverValue, *, kind: str = "ConfigMap", namespace: str = "serving") -> None:
    config = {
        "type": "kubernetes-field",
        "api_version": "v1" if kind == "ConfigMap" else "inference.networking.x-k8s.io/v1alpha2",
        "kind": kind,
        "namespace": namespace,
        "name": "engine" if kind == "ConfigMap" else "free",
        "field": field,
        "cluster": {"server": api.url},
    }
    (lever,) = open_levers({"it": TypeAdapter(LeverConfig).validate_python(config)}).values()
    lever.set(value, UNTIL, lever.observe(NOW))


def looked(api: KubeApi, *kinds: str, now: datetime = AFTER, namespaces: tuple[str, ...] = ("serving",)) -> LeverLook:
    return look_at_levers([lever_kind(kind) for kind in kinds], namespaces, KubeConnection(server=api.url), now)


def watch(api: KubeApi, *kinds: str, now: datetime = AFTER, rehearsed: bool = False) -> tuple[Released, ...]:
    return put_back(looked(api, *kinds, now=now).expired, now, rehearsed=rehearsed)


def engine(api: KubeApi) -> dict[str, str]:
    data: dict[str, str] = api.look("configmaps", "serving", "engine")["data"]
    return data


def test_every_field_that_has_outlived_its_end_is_as_it_was_and_carries_no_mark(api: KubeApi) -> None:
    held(api, "data.max_batch", 8)
    held(api, "data.cache", value=True)
    held(api, "data.extra", 1)
    held(api, "spec.priority", -10, kind="InferenceObjective")
    outcomes = watch(api, CONFIG_MAPS, OBJECTIVES)
    assert f"{BATCH}: put back, 8 -> 32" in [outcome.sentence for outcome in outcomes]
    assert [outcome.failed for outcome in outcomes] == [False] * 4
    assert engine(api) == {"max_batch": "32", "cache": "false"}
    assert api.look("inferenceobjectives", "serving", "free")["spec"] == {"priority": 0}
    for plural, name in (("configmaps", "engine"), ("inferenceobjectives", "free")):
        annotations = api.look(plural, "serving", name)["metadata"].get("annotations") or {}
        assert not [key for key in annotations if key.startswith(MARK)]
    assert watch(api, CONFIG_MAPS, OBJECTIVES) == ()


def test_a_lever_whose_end_has_not_come_is_not_even_read(api: KubeApi) -> None:
    held(api, "data.max_batch", 8)
    api.requests.clear()
    seen = looked(api, CONFIG_MAPS, now=UNTIL - timedelta(seconds=1))
    assert (seen.good, seen.expired, seen.failures) == (1, {}, ())
    assert [request.verb for request in api.requests] == ["list"]


def test_a_rehearsal_tells_and_writes_nothing(api: KubeApi) -> None:
    held(api, "data.max_batch", 8)
    (outcome,) = watch(api, CONFIG_MAPS, rehearsed=True)
    assert outcome.sentence == f"{BATCH}: would be put back, 8 -> 32"
    assert engine(api)["max_batch"] == "8"


def test_other_namespaces_are_left_alone_and_what_somebody_else_set_stays(api: KubeApi) -> None:
    held(api, "data.max_batch", 8, namespace="other")
    held(api, "data.max_batch", 8)
    api.put("configmaps", "serving", "engine", metadata=api.look("configmaps", "serving", "engine")["metadata"], data={"max_batch": "16"})
    (outcome,) = watch(api, CONFIG_MAPS)
    assert outcome.sentence == f"{BATCH}: put back, 16 -> 16; {BATCH} stays at 16, which somebody else set after us"
    assert api.look("configmaps", "other", "engine")["data"]["max_batch"] == "8"


def test_a_namespace_that_may_not_be_listed_and_a_mark_that_cannot_be_read_are_told_and_stop_no_other(api: KubeApi) -> None:
    held(api, "data.max_batch", 8)
    api.put("configmaps", "serving", "torn", metadata={"annotations": {f"{MARK}0123456789": "{"}}, data={})
    seen = looked(api, CONFIG_MAPS, "lever:example.com/v1/engines")
    assert list(seen.expired) == [BATCH]
    assert [failure.failed for failure in seen.failures] == [True, True]
    assert (
        "the annotation forecaster/lever-0123456789 of configmaps serving/torn does not say what to put back" in seen.failures[0].sentence
    )
    assert "the API server serves no engines in version v1 of example.com" in seen.failures[1].sentence


@pytest.mark.parametrize("text", ["lever:configmaps", "lever:v1/secrets", "lever:", "lever:a/b/c/d"])
def test_what_is_no_kind_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ConfigRejected, match="write lever:GROUP/VERSION/PLURAL, as in lever:gateway"):
        lever_kind(text)


def test_the_command_puts_back_levers_of_every_kind_that_a_configuration_names(api: KubeApi, tmp_path: Path) -> None:
    with LeverReceiver() as gateway:
        gateway.values["rate"] = 900
        rate = {"type": "webhook", "name": "rate", "url": gateway.url, "secret": SECRET}
        batch = {"type": "kubernetes-field", "api_version": "v1", "kind": "ConfigMap", "namespace": "serving", "name": "engine"}
        batch |= {"field": "data.max_batch", "cluster": {"server": api.url}}  # type: ignore[dict-item]  # YAML takes any value
        path = tmp_path / "forecaster.yaml"
        path.write_text(yaml.safe_dump({"tiers": {"levers": {"rate": rate, "batch": batch}}}))
        for lever, value in zip(configured_levers(path).values(), (8, 60), strict=True):
            lever.set(value, UNTIL, lever.observe(NOW))
        assert (engine(api)["max_batch"], gateway.values["rate"]) == ("8", 60)
        dry = command("--config", str(path), "--dry-run")
        assert (dry.code, engine(api)["max_batch"]) == (0, "8")
        ended = command("--config", str(path))
        assert (ended.code, ended.err) == (0, "")
        assert ended.out.splitlines() == [f"{BATCH}: put back, 8 -> 32", "webhook:rate: put back, 60 -> 900"]
        assert (engine(api)["max_batch"], gateway.values["rate"]) == ("32", 900)
        again = command("--config", str(path))
        told = f"nothing to give back; of 2 targets and levers in {path} none is ours any longer than it should be\n"
        assert (again.code, again.out, again.err) == (0, "", told)


def test_the_command_looks_for_levers_on_a_kind_without_any_configuration(api: KubeApi, tmp_path: Path) -> None:
    held(api, "data.max_batch", 8)
    ended = command("--namespace", "serving", "--kind", CONFIG_MAPS, kubeconfig=kubeconfig(tmp_path, api.url))
    assert (ended.code, ended.out) == (0, f"{BATCH}: put back, 8 -> 32\n")
    assert engine(api)["max_batch"] == "32"
