"""What a target costs the API behind it in one apply cycle: the table of docs/scale.md, counted at every kind's counterpart."""

from itertools import pairwise
from pathlib import Path

import pytest

from forecaster.errors import TargetConflict
from tests.connectors.targets.subjects import NOW, decided, stand
from tests.contracts.test_targets import SUBJECTS, account, aks, api, aws, gke, hook
from tests.kube_wire import Request

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"
_COUNTERPARTS = ("api", "aws", "gke", "aks", "hook")
_SHARED = ("/configmaps/", "/customresourcedefinitions/", "/horizontalpodautoscalers", "/scaledobjects", "/podautoscalers")
"""What many targets ask for together, which is asked once for all of them."""
_TOGETHER = {
    "asg": "DescribeAutoScalingGroups",
    "eks-nodegroup": "DescribeAutoScalingGroups",
    "sagemaker": "DescribeScalableTargets",
    "ecs": "DescribeScalableTargets",
}
"""What is asked at AWS once for all targets of an account and region that are observed in one cycle."""
_MANY = 5

__all__ = ("account", "aks", "api", "aws", "gke", "hook")


def table() -> dict[str, tuple[int, int]]:
    """By kind: requests of a cycle that changes nothing, and of one that moves the floor."""
    rows = [line.split("|")[1:4] for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    told = [(kinds, still, moved) for kinds, still, moved in rows if still.strip().isdigit() and moved.strip().isdigit()]
    return {kind.strip(" `"): (int(still), int(moved)) for kinds, still, moved in told for kind in kinds.split(",")}


def asked(request: pytest.FixtureRequest) -> int:
    """Requests of all counterparts so far, without those that are shared."""
    kube, aws_api, *others = (request.getfixturevalue(name) for name in _COUNTERPARTS)
    return sum(map(_is_its_own, kube.requests)) + len(aws_api.operations) + sum(len(one.asked) for one in others)


def _is_its_own(request: Request) -> bool:
    return not any(part in request.path and (request.verb == "list" or part.endswith("/")) for part in _SHARED)


def test_the_table_has_every_kind() -> None:
    assert set(table()) == set(SUBJECTS)


@pytest.mark.parametrize("kind", SUBJECTS)
def test_a_cycle_asks_as_often_as_the_table_says(request: pytest.FixtureRequest, kind: str) -> None:
    target = SUBJECTS[kind](request).open()
    stand(target, 8)
    counts = [asked(request)]
    for floor in (8, 9):
        stand(target, floor)
        counts.append(asked(request))
    still, moved = (after - before - (kind in _TOGETHER) for before, after in pairwise(counts))
    assert (still, moved) == table()[kind]


@pytest.mark.parametrize("kind", _TOGETHER)
def test_targets_of_one_account_and_region_that_are_observed_in_one_cycle_are_described_together(
    request: pytest.FixtureRequest, kind: str
) -> None:
    targets = [SUBJECTS[kind](request).open() for _ in range(_MANY)]
    operations = request.getfixturevalue("aws").operations
    for _ in range(2):  # the groups behind a node group are known once it was looked at
        operations.clear()
        for target in targets:
            target.observe(NOW)
    still, _ = table()[kind]
    assert operations.count(_TOGETHER[kind]) == 1
    assert len(operations) <= _MANY * still + 1


@pytest.mark.parametrize("kind", _TOGETHER)
def test_what_is_written_rests_on_a_description_of_its_own(request: pytest.FixtureRequest, kind: str) -> None:
    subjects = [SUBJECTS[kind](request) for _ in range(2)]
    here, beside = (subject.open() for subject in subjects)
    seen = here.observe(NOW)
    beside.observe(NOW)
    subjects[0].meddle(seen.floor + 3)
    with pytest.raises(TargetConflict, match="changed since it was observed"):
        here.set_floor(decided(here.name, 8), seen)
    assert here.observe(NOW).floor == seen.floor + 3  # who looks again looks anew
