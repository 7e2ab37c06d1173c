"""Killed between the two writes of an object whose API has no versions: the original is remembered once and right, and comes back."""

import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.aws import AWS_ENV, REGION, Aws, aws_to_ask
from tests.aws_fleets import add_service, asg, register, scalable
from tests.end_to_end.desk import Desk
from tests.end_to_end.fleets import HPA, Config, on_csv
from tests.end_to_end.service import clock
from tests.kube_api import KubeApi

AT, LATER, NEXT = clock("07:30"), clock("07:31"), clock("07:32")
_POLL_S = 0.005
SERVICE, DIMENSION = "service/prod/llm", "ecs:service:DesiredCount"


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """An object found at 1: what moves it, its minimum and marks, and its two writes in the order of a raise."""

    target: Config
    minimum: Callable[[], int]
    marks: Callable[[], dict[str, str]]
    writes: tuple[str, str]


def group(aws: Aws) -> Held:
    aws.add_group("gpu", minimum=1, desired=2, maximum=30, in_service=2)
    return Held(
        target={"type": "asg", "group": "gpu", "region": REGION, "endpoint_url": "${AWS}"},
        minimum=lambda: int(asg("gpu").min_size),
        marks=lambda: ours({tag["Key"]: tag["Value"] for tag in asg("gpu").tags}),
        writes=("CreateOrUpdateTags", "UpdateAutoScalingGroup"),
    )


def service(aws: Aws) -> Held:
    add_service("prod", "llm", tasks=3)
    register("ecs", DIMENSION, SERVICE, minimum=1, maximum=30)
    arn = scalable(DIMENSION, SERVICE).arn
    return Held(
        target={"type": "ecs", "cluster": "prod", "service": "llm", "region": REGION, "endpoint_url": "${AWS}"},
        minimum=lambda: int(scalable(DIMENSION, SERVICE).min_capacity),
        marks=lambda: ours(aws.gaps.tags.get(arn, {})),
        writes=("TagResource", "RegisterScalableTarget"),
    )


def nodes(aws: Aws) -> Held:
    aws.add_nodegroup("prod", "gpu", minimum=1, desired=2, maximum=30)
    return Held(
        target={"type": "eks-nodegroup", "cluster": "prod", "nodegroup": "gpu", "region": REGION, "endpoint_url": "${AWS}"},
        minimum=lambda: aws.size("prod", "gpu")["minSize"],
        marks=lambda: ours(aws.tags("prod", "gpu")),
        writes=("TagResource", "UpdateNodegroupConfig"),
    )


def ours(texts: dict[str, str]) -> dict[str, str]:
    return {key: text for key, text in texts.items() if key.startswith("forecaster/")}


@pytest.fixture
def aws() -> Iterator[Aws]:
    with aws_to_ask() as server:
        yield server


@pytest.fixture
def desk(foreseen: Path, tmp_path: Path, aws: Aws) -> Desk:
    return Desk.after(foreseen, tmp_path / "desk", AWS=aws.url, **AWS_ENV)


def killed_after(aws: Aws, operation: str, desk: Desk, *words: str) -> None:
    """Run a command that is killed once AWS has carried out an operation, before the answer leaves."""
    running: list[subprocess.Popen[str]] = []

    def kill() -> None:
        running[0].kill()

    aws.after_next(operation, kill)
    running.append(desk.start(*words, at=AT))
    running[0].communicate()
    assert running[0].returncode < 0, "it ended before it was killed"


@pytest.mark.parametrize("write", [0, 1], ids=["after the marks", "after the minimum"])
@pytest.mark.parametrize("kind", [group, service, nodes])
def test_k37_killed_between_the_writes_of_a_raise_and_run_again(desk: Desk, aws: Aws, kind: Callable[[Aws], Held], write: int) -> None:
    held = kind(aws)
    desk.configure(on_csv(target=held.target))
    killed_after(aws, held.writes[write], desk, "apply")
    assert (held.minimum() > 1, held.marks()["forecaster/original"]) == (write == 1, "1")
    again = desk.done("apply", at=LATER)
    assert "also writes the floor" not in again.out  # what stands there was ours
    assert held.minimum() > 2
    assert held.marks()["forecaster/original"] == "1"
    desk.done("release", "chat", "-m", "handing back", at=NEXT)
    assert (held.minimum(), held.marks()) == (1, {})


@pytest.mark.parametrize("kind", [group, service])
def test_k37_killed_between_the_writes_of_a_release_and_run_again(desk: Desk, aws: Aws, kind: Callable[[Aws], Held]) -> None:
    held = kind(aws)
    desk.configure(on_csv(target=held.target))
    desk.done("apply", at=AT)
    killed_after(aws, held.writes[1], desk, "release", "chat", "-m", "handing back")
    assert (held.minimum(), held.marks()["forecaster/original"]) == (1, "1")
    desk.run("release", "chat", "-m", "handing back", at=LATER)
    assert (held.minimum(), held.marks()) == (1, {})


def test_k37_killed_between_the_marks_and_the_count_of_a_scale_subresource_and_run_again(
    foreseen: Path, tmp_path: Path, kube: KubeApi
) -> None:
    kube.put("deployments", "serving", "chat", metadata={}, spec={"replicas": 2}, status={"readyReplicas": 2})
    desk = Desk.after(foreseen, tmp_path / "desk", KUBE=kube.url)
    desk.configure(on_csv(target={**HPA, "type": "kubernetes-scale", "kind": "Deployment"}))
    kube.delete_hpa("serving", "chat")
    kube.fail_next("hang", verb="patch", plural="scale")
    process = desk.start("apply", at=AT)
    while process.poll() is None and not any(request.path.endswith("/scale") and request.verb == "patch" for request in kube.requests):
        time.sleep(_POLL_S)
    process.kill()
    process.communicate()
    body = kube.look("deployments", "serving", "chat")
    assert (body["spec"]["replicas"], body["metadata"]["annotations"]["forecaster/original"]) == (2, "2")
    desk.done("apply", at=LATER)
    body = kube.look("deployments", "serving", "chat")
    assert body["spec"]["replicas"] > 8
    assert body["metadata"]["annotations"]["forecaster/original"] == "2"
    desk.done("release", "chat", "-m", "handing back", at=NEXT)
    body = kube.look("deployments", "serving", "chat")
    assert (body["spec"]["replicas"], ours(body["metadata"].get("annotations") or {})) == (2, {})
