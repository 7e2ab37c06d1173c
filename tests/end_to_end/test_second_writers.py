"""Somebody else writes the floor as well: named with what to change wherever a person looks, outlasted, and then left alone."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.aws import AWS_ENV, REGION, Aws, aws_to_ask
from tests.aws_fleets import asg, tag_asg
from tests.end_to_end.desk import Desk
from tests.end_to_end.fleets import on_csv
from tests.end_to_end.service import CARRY_RPM, clock
from tests.kube_api import KubeApi

MINUTE = timedelta(minutes=1)
GROUP = {"type": "asg", "group": "gpu", "region": REGION, "endpoint_url": "${AWS}"}


@pytest.fixture
def desk(foreseen: Path, tmp_path: Path, kube: KubeApi) -> Desk:
    return Desk.after(foreseen, tmp_path / "desk", KUBE=kube.url)


@pytest.mark.parametrize(
    ("manager", "texts", "remedy"),
    [
        (
            "argocd-controller",
            {"argocd.argoproj.io/tracking-id": "serving-apps:autoscaling/HorizontalPodAutoscaler:serving/chat"},
            'Application serving-apps: {group: "autoscaling", kind: HorizontalPodAutoscaler, jsonPointers: ["/spec/minReplicas"]}',
        ),
        ("kustomize-controller", {}, "kustomize.toolkit.fluxcd.io/ssa: IfNotPresent"),
        ("helm", {"meta.helm.sh/release-name": "chat"}, "leave spec.minReplicas out of the values of the Helm release chat"),
        ("HashiCorp", {}, "lifecycle.ignore_changes of the Terraform resource"),
        ("kubectl-edit", {}, "kubectl annotate horizontalpodautoscaler chat -n serving forecaster/floor-"),
    ],
    ids=["argocd", "flux", "helm", "terraform", "person"],
)
def test_l31_who_lowers_a_floor_is_named_with_what_to_change_by_apply_and_status(
    desk: Desk, kube: KubeApi, manager: str, texts: dict[str, str | None], remedy: str
) -> None:
    desk.done("apply", at=clock("07:30"))
    ours = kube.min_replicas("serving", "chat")
    kube.edit("serving", "chat", manager=manager, annotations=texts, minReplicas=3)
    applied = desk.done("apply", at=clock("07:31"))
    said = desk.done("status", at=clock("07:31"))
    for words in (applied.out, said.out):
        flat = " ".join(words.split())
        assert manager in flat
        assert remedy in flat
    assert kube.min_replicas("serving", "chat") == ours


def test_l31_a_hpa_that_keda_made_is_refused_with_the_scaled_object_to_name_instead(desk: Desk, kube: KubeApi) -> None:
    kube.add_hpa("serving", "chat", min_replicas=2, max_replicas=40, owner=("ScaledObject", "chat-so"))
    for command in ("check", "apply"):
        told = desk.run(command, at=clock("07:30"))
        assert told.code in {1, 3}
        assert "belongs to the KEDA ScaledObject serving/chat-so" in " ".join((told.out + told.err).split())
        assert "make that the target (type keda-scaledobject" in " ".join((told.out + told.err).split())
    assert kube.writes == ()


@pytest.fixture
def aws() -> Iterator[Aws]:
    with aws_to_ask() as server:
        yield server


def test_l31_a_group_of_terraform_names_it_with_the_attributes_to_ignore(foreseen: Path, tmp_path: Path, aws: Aws) -> None:
    aws.add_group("gpu", minimum=1, desired=2, maximum=30, in_service=2)
    tag_asg("gpu", "ManagedBy", "terraform")
    desk = Desk.after(foreseen, tmp_path / "desk", AWS=aws.url, **AWS_ENV)
    desk.configure(on_csv(target=GROUP))
    desk.done("apply", at=clock("07:30"))
    asg("gpu").min_size = 1
    again = desk.done("apply", at=clock("07:31"))
    assert "Terraform also writes the floor and set 1: add lifecycle { ignore_changes = [min_size, desired_capacity, tag] }" in again.out
    assert asg("gpu").min_size > 8


def test_k34_a_floor_that_is_undone_is_written_again_five_times_an_hour_then_let_go_with_an_alert_and_tried_again(
    desk: Desk, kube: KubeApi
) -> None:
    now, floors = clock("09:00"), []
    desk.done("apply", at=now)
    ours = kube.min_replicas("serving", "chat")
    for _ in range(6):
        now += 5 * MINUTE
        kube.edit("serving", "chat", manager="argocd-controller", minReplicas=2)
        said = desk.done("apply", at=now).out
        floors.append(kube.min_replicas("serving", "chat"))
    assert [floor > 2 for floor in floors] == [True] * 5 + [False]
    assert min(floors[:5]) >= ours - 1
    assert "left alone at 2; argocd-controller has undone the floor 5 times within the hour" in said
    assert "ignoreDifferences" in desk.done("status", at=now).out
    desk.done("apply", at=clock("09:55"))
    assert kube.min_replicas("serving", "chat") == 2
    desk.done("apply", at=clock("10:10"))  # an hour after the first time
    assert kube.min_replicas("serving", "chat") >= ours - 1


def test_two_forecasters_of_equal_floors_say_so_and_do_not_renew_their_marks_in_turn(foreseen: Path, tmp_path: Path, kube: KubeApi) -> None:
    one, other = (Desk.after(foreseen, tmp_path / name, KUBE=kube.url) for name in ("one", "other"))
    (other.folder / "forecaster.db").unlink()
    other.done("forecast", at=clock("06:31"))
    for desk in (one, other, one):  # each comes to know of the other
        desk.done("apply", at=clock("08:30"))
    before = len(kube.writes)
    words = [desk.done("apply", at=clock("08:30") + minute * MINUTE).out for minute in (1, 2, 3) for desk in (one, other)]
    assert any("another Forecaster also writes the floor" in said for said in words)
    assert len(kube.writes) - before <= 1, words
    for at in ("23:15", "23:40"):
        for desk in (one, other):
            desk.done("apply", at=clock(at))
    assert kube.min_replicas("serving", "chat") <= 3  # the one that holds it lowers it, and it is lowered once


def test_l31_of_two_forecasters_on_one_object_each_names_the_other_and_the_higher_floor_stands(
    foreseen: Path, tmp_path: Path, kube: KubeApi
) -> None:
    high, low = (Desk.after(foreseen, tmp_path / name, KUBE=kube.url) for name in ("high", "low"))
    config = on_csv()
    config["workloads"][0]["pools"][0]["capacity"] = {"rpm": 2 * CARRY_RPM}
    low.configure(config)
    (low.folder / "forecaster.db").unlink()
    low.done("forecast", at=clock("06:30"))
    low.done("apply", at=clock("08:30"))
    floors, words = [], []
    for minute in (1, 2, 3):
        for desk in (high, low):
            words.append(desk.done("apply", at=clock("08:30") + minute * MINUTE).out)
            floors.append(kube.min_replicas("serving", "chat"))
    assert min(floors[1:]) == max(floors[1:]) >= 10, floors
    assert "another Forecaster" in words[1]
    assert "name this object in the configuration of one installation only" in words[1]
    assert "left alone" in words[-1]
    # at night the one that holds it lowers it
    for at in ("23:15", "23:40"):
        for desk in (high, low):
            desk.done("apply", at=clock(at))
    assert kube.min_replicas("serving", "chat") <= 3
    assert kube.annotations("serving", "chat")["forecaster/original"] == "2"
    for desk in (low, high):
        desk.done("release", "chat", "-m", "handing back", at=clock("23:50"))
    assert kube.min_replicas("serving", "chat") == 2
