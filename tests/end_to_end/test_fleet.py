"""Many targets, and targets of several kinds, in one pass of the command."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.aws import AWS_ENV, REGION, Aws, aws_to_ask
from tests.end_to_end.desk import Desk
from tests.end_to_end.fleets import HPA, Config, on_csv
from tests.end_to_end.service import clock, trace_csv
from tests.kube_api import KubeApi

FLEET = 200
REQUESTS_A_TARGET = 3  # the HPA, the Deployment behind it, one patch


@pytest.fixture
def desk(tmp_path: Path, kube: KubeApi) -> Desk:
    """A folder with two weeks of load, without a configuration yet."""
    desk = Desk(folder=tmp_path / "desk", env={"KUBE": kube.url} | AWS_ENV)
    desk.folder.mkdir()
    (desk.folder / "load.csv").write_text(trace_csv(days=15))
    return desk


@pytest.fixture
def aws() -> Iterator[Aws]:
    with aws_to_ask() as server:
        yield server


def one_workload_a_label() -> Config:
    """A template: whatever HPA carries the label is a workload, on an hourly grid."""
    workload = on_csv()["workloads"][0]
    target = HPA | {"namespace": "{namespace}", "name": "{name}"}
    body = workload | {"name": "{namespace}-{name}", "step": "1h", "pools": [workload["pools"][0] | {"targets": [target]}]}
    for_each = {"type": "kubernetes-hpa", "label_selector": "forecaster=yes", "cluster": HPA["cluster"]}
    return {
        "sources": on_csv()["sources"],
        "forecast": {"history": "4d", "horizon": "1d", "watched": []},
        "templates": [{"for_each": for_each, "workload": body}],
    }


def test_k38_one_pass_serves_hundreds_of_targets_and_one_that_fails_stops_no_other(desk: Desk, kube: KubeApi) -> None:
    names = [(f"team-{i % 7}", f"model-{i}") for i in range(FLEET)]
    for namespace, name in names:
        kube.add_hpa(namespace, name, min_replicas=2, max_replicas=40, labels={"forecaster": "yes"})
    desk.configure(one_workload_a_label())
    desk.done("forecast", at=clock("07:00"))
    asked = len(kube.requests)
    kube.fail_next(403, verb="patch")
    applied = desk.run("apply", at=clock("07:30"))
    assert applied.code == 3
    (sentence,) = applied.sentences
    assert "verbs: [patch]} to our role in namespace team-" in sentence
    raised = Counter(kube.min_replicas(namespace, name) > 2 for namespace, name in names)
    assert raised == {True: FLEET - 1, False: 1}
    why = 2  # whether what was denied is served at all, and whether its namespace is there
    assert len(kube.requests) - asked <= FLEET * REQUESTS_A_TARGET + 1 + why  # and one list
    made_up = desk.done("apply", at=clock("07:31"))  # a missed minute is caught up
    assert made_up.sentences == []
    assert all(kube.min_replicas(namespace, name) > 2 for namespace, name in names)


def test_a_template_that_cannot_be_looked_up_is_told_once_and_stops_no_other_workload(desk: Desk, kube: KubeApi) -> None:
    template = one_workload_a_label()["templates"][0]
    desk.configure(on_csv() | {"templates": [template]})
    kube.fail_next(403, verb="list")
    partly = desk.run("run", at=clock("07:30"))
    assert (partly.code, len(partly.sentences)) == (3, 1), partly.err
    assert "the HPAs with forecaster=yes are unknown" in partly.err
    assert kube.min_replicas("serving", "chat") > 2
    desk.configure({**on_csv(), "workloads": [], "templates": [template]})
    kube.fail_next(403, verb="list")
    assert desk.run("apply", at=clock("07:31")).code == 1


def test_l34_a_partial_failure_across_fifty_targets_is_told_target_by_target_and_made_up_for(desk: Desk, kube: KubeApi) -> None:
    names = [f"replica-set-{i}" for i in range(50)]
    for name in names:
        kube.add_hpa("serving", name, min_replicas=2, max_replicas=40)
    kube.delete_hpa("serving", names[7])
    config = on_csv()
    config["workloads"][0]["pools"][0]["targets"] = [HPA | {"name": name} for name in names]
    desk.configure(config)
    for fault in (403, 429, 500):
        kube.fail_next(fault, verb="patch")
    partly = desk.run("run", at=clock("07:30"))
    assert partly.code == 3
    assert len(partly.sentences) == 4, partly.err
    assert all("kubernetes-hpa:serving/replica-set-" in sentence for sentence in partly.sentences)
    assert "serving/replica-set-7" in partly.err
    there = [name for name in names if name != names[7]]
    assert Counter(kube.min_replicas("serving", name) > 2 for name in there) == {True: 46, False: 3}
    assert len(desk.run("apply", at=clock("07:31")).sentences) == 1
    assert all(kube.min_replicas("serving", name) > 2 for name in there)


def node_group(aws: Aws) -> dict[str, Any]:
    """The node group prod/gpu, one replica a node."""
    return {"type": "eks-nodegroup", "cluster": "prod", "nodegroup": "gpu", "region": REGION, "endpoint_url": aws.url}


def test_the_nodes_of_an_eks_node_group_are_up_before_the_ramp_and_given_back(desk: Desk, aws: Aws) -> None:
    aws.add_nodegroup("prod", "gpu", minimum=1, desired=2, maximum=30)
    desk.configure(on_csv(target=node_group(aws)))
    ran = desk.done("run", at=clock("07:30"))
    size = aws.size("prod", "gpu")
    assert size["minSize"] == size["desiredSize"] >= 9
    assert f"floor 1 -> {size['minSize']}" in ran.out
    assert aws.tags("prod", "gpu")["forecaster/original"] == "1"
    desk.done("apply", at=clock("23:30"))
    desk.done("apply", at=clock("23:45"))
    night = aws.size("prod", "gpu")
    assert night["minSize"] < size["minSize"]
    assert night["desiredSize"] == size["desiredSize"]  # ending nodes is the cluster autoscaler's part
    desk.done("release", "chat", "-m", "handing back", at=clock("23:50"))
    assert aws.size("prod", "gpu")["minSize"] == 1
    assert not [tag for tag in aws.tags("prod", "gpu") if tag.startswith("forecaster/")]


def test_k41_nodes_that_do_not_come_never_ratchet_the_floor_up(desk: Desk, aws: Aws) -> None:
    aws.add_nodegroup("prod", "gpu", minimum=1, desired=2, maximum=30, in_service=2)
    desk.configure(on_csv(target=node_group(aws)))
    desk.done("run", at=clock("08:30"))
    first = aws.size("prod", "gpu")
    for minutes in (1, 2):
        desk.done("apply", at=clock("08:30") + timedelta(minutes=minutes))
    assert aws.size("prod", "gpu") == first
    assert aws.writes.count("UpdateNodegroupConfig") == 1


def test_a_workload_on_replicas_and_nodes_raises_both(desk: Desk, kube: KubeApi, aws: Aws) -> None:
    aws.add_nodegroup("prod", "gpu", minimum=1, desired=1, maximum=30)
    config = on_csv()
    config["workloads"][0]["pools"][0]["targets"] = [HPA, node_group(aws) | {"replicas_per_node": 2}]
    desk.configure(config)
    (workload,) = desk.done("run", "--json", at=clock("08:30")).json["workloads"]
    replicas = kube.min_replicas("serving", "chat")
    assert [decision["floor"] for decision in workload["decisions"]] == [replicas, replicas]
    assert aws.size("prod", "gpu")["minSize"] == -(-replicas // 2)
