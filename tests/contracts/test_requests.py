"""What a target costs the API behind it in one apply cycle: the table of docs/scale.md, counted at every kind's counterpart."""

from itertools import pairwise
from pathlib import Path

import pytest

from tests.connectors.targets.subjects import stand
from tests.contracts.test_targets import SUBJECTS, account, aks, api, aws, gke, hook
from tests.kube_api import Request

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"
_COUNTERPARTS = ("api", "aws", "gke", "aks", "hook")
_SHARED = ("/configmaps/", "/customresourcedefinitions/", "/horizontalpodautoscalers", "/scaledobjects", "/podautoscalers")
"""What many targets ask for together, which is asked once for all of them."""

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
    still, moved = (after - before for before, after in pairwise(counts))
    assert (still, moved) == table()[kind]
