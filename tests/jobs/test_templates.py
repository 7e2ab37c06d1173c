"""Templates become workloads of the fleet, and what goes wrong with one stops no other."""

from pathlib import Path

import yaml

from jobs.config.document import Config
from jobs.config.reading import read_config
from jobs.fleet import Fleet
from jobs.templates import Expanded, expand
from jobs.wiring import open_fleet
from tests.kube_api import KubeApi
from tests.services import free_port

TARGET: dict[str, object] = {"type": "kubernetes-hpa", "namespace": "{namespace}", "name": "{name}"}


def template(api_url: str, selector: str = "forecaster=on", name: str = "{namespace}.{name}", **changes: object) -> dict[str, object]:
    cluster = {"server": api_url, "timeout_s": 1}
    return {
        "for_each": {"type": "kubernetes-hpa", "label_selector": selector, "cluster": cluster},
        "workload": workload(name, TARGET) | changes,
    }


def workload(name: str, target: dict[str, object]) -> dict[str, object]:
    return {
        "name": name,
        "source": "trace",
        "signals": {"rpm": {"query": "value", "unit": "count"}},
        "pools": [{"name": "gpu", "capacity": {"rpm": 60}, "targets": [target]}],
    }


def written(folder: Path, **sections: object) -> Config:
    path = folder / "forecaster.yaml"
    path.write_text(yaml.safe_dump({"store": "memory:", "sources": {"trace": {"type": "csv", "path": "load.csv"}}, **sections}))
    return read_config(path)


def names(expanded: Expanded) -> list[str]:
    return [section.name for section in expanded.workloads]


def members(fleet: Fleet) -> list[str]:
    return [member.workload.name for member in fleet.members]


def test_one_workload_for_each_object_joins_those_written_by_hand(tmp_path: Path) -> None:
    with KubeApi() as api:
        for name in ("code", "chat"):
            api.add_hpa("inference", name, labels={"forecaster": "on"})
        by_hand = workload("by-hand", {"type": "recording", "name": "by-hand"})
        config = written(tmp_path, workloads=[by_hand], templates=[template(api.url)])
        with open_fleet(config, tmp_path) as fleet:
            assert members(fleet) == ["by-hand", "inference.chat", "inference.code"]
            assert list(fleet.members[1].targets) == ["kubernetes-hpa:inference/chat"]
            assert fleet.problems == ()


def test_an_unreachable_cluster_is_a_problem_and_workloads_written_by_hand_go_on(tmp_path: Path) -> None:
    by_hand = workload("by-hand", {"type": "recording", "name": "by-hand"})
    config = written(tmp_path, workloads=[by_hand], templates=[template(f"http://127.0.0.1:{free_port()}")])
    with open_fleet(config, tmp_path) as fleet:
        assert members(fleet) == ["by-hand"]
        (problem,) = fleet.problems
        assert problem.startswith("the HPAs with forecaster=on are unknown: cannot list horizontalpodautoscalers.autoscaling in all")
        assert problem.endswith("try again later")


def test_an_object_without_the_label_is_left_out_with_a_sentence(tmp_path: Path) -> None:
    with KubeApi() as api:
        api.add_hpa("inference", "chat", labels={"forecaster": "on", "zone": "Europe/Paris"})
        api.add_hpa("inference", "code", labels={"forecaster": "on"})
        api.add_hpa("inference", "mars", labels={"forecaster": "on", "zone": "Mars"})
        (expanded,) = expand(written(tmp_path, templates=[template(api.url, zone="{label:zone}")]), tmp_path)
    assert names(expanded) == ["inference.chat"]
    assert expanded.problems == (
        "the HPA inference/code is left out: it has no label zone, which the template asks for; add the label, or narrow label_selector",
        "the HPA inference/mars is left out: templates[0].workload.zone: must be an IANA time zone such as Europe/Paris or UTC, got 'Mars'",
    )


def test_who_names_an_object_first_has_it(tmp_path: Path) -> None:
    with KubeApi() as api:
        api.add_hpa("inference", "chat", labels={"forecaster": "on", "special": "yes"})
        api.add_hpa("inference", "code", labels={"forecaster": "on"})
        api.add_hpa("inference", "mine", labels={"forecaster": "on"})
        mine = workload("mine", {**TARGET, "namespace": "inference", "name": "mine", "cluster": {"server": api.url, "timeout_s": 1}})
        templates = [template(api.url, "special=yes"), template(api.url, name="all.{name}")]
        special, general = expand(written(tmp_path, workloads=[mine], templates=templates), tmp_path)
    assert names(special) == ["inference.chat"]
    assert names(general) == ["all.code"]
    assert (general.found, general.earlier, general.problems) == (3, 2, ())


def test_objects_of_one_name_in_two_namespaces_need_two_names(tmp_path: Path) -> None:
    with KubeApi() as api:
        for namespace in ("a", "b"):
            api.add_hpa(namespace, "llm", labels={"forecaster": "on"})
        (expanded,) = expand(written(tmp_path, templates=[template(api.url, name="{name}")]), tmp_path)
    assert names(expanded) == ["llm"]
    assert expanded.problems == (
        "the HPA b/llm is left out: another workload is called llm; put {namespace} and {name} into the template's name",
    )


def test_an_object_of_the_same_name_in_another_cluster_is_not_taken_for_the_first(tmp_path: Path) -> None:
    with KubeApi() as one, KubeApi() as other:
        for api in (one, other):
            api.add_hpa("inference", "chat", labels={"forecaster": "on"})
        templates = [template(one.url), template(other.url, name="other.{name}")]
        _, second = expand(written(tmp_path, templates=templates), tmp_path)
    assert names(second) == []
    assert "another workload writes to kubernetes-hpa:inference/chat" in second.problems[0]


def test_a_source_that_is_not_there_leaves_only_that_object_out(tmp_path: Path) -> None:
    with KubeApi() as api:
        api.add_hpa("inference", "chat", labels={"forecaster": "on", "source": "trace"})
        api.add_hpa("inference", "code", labels={"forecaster": "on", "source": "other"})
        (expanded,) = expand(written(tmp_path, templates=[template(api.url, source="{label:source}")]), tmp_path)
    assert names(expanded) == ["inference.chat"]
    assert expanded.problems == ("the HPA inference/code is left out: there is no source 'other'; there is trace",)


def test_nothing_that_carries_the_label_is_no_problem_of_the_fleet(tmp_path: Path) -> None:
    with KubeApi() as api:
        (expanded,) = expand(written(tmp_path, templates=[template(api.url)]), tmp_path)
    assert (expanded.found, expanded.workloads, expanded.problems) == (0, (), ())
