"""The contract suite of targets once more, on the real API server: the rules are those of tests/contracts, the objects are real."""

from collections.abc import Callable, Iterator, Mapping
from itertools import count
from types import FunctionType

import httpx2
import pytest

from tests.cluster.control_plane import ControlPlane
from tests.cluster.subjects import RealSubject, hpa_subject, revision_subject, scale_subject
from tests.connectors.targets.subjects import Rehearsal, Subject
from tests.contracts import test_targets as contract

SUBJECTS: Mapping[str, Callable[[ControlPlane, httpx2.Client, str, str], RealSubject]] = {
    "kubernetes-hpa": hpa_subject,
    "knative": revision_subject,
    "kubernetes-scale": scale_subject,
}
REHEARSED = frozenset({"kubernetes-hpa"})
"""A rehearsal observes and computes, on every kind alike."""
WITHOUT_PODS = frozenset({"knative"})
"""Whoever counts their replicas has other tests."""
_READY = "test_an_object_that_was_never_written_is_seen_as_it_stands"
_numbers = count(1)


@pytest.fixture(scope="module")
def space(cluster: ControlPlane) -> Iterator[tuple[httpx2.Client, str]]:
    """A namespace for all objects of the suite, and a client."""
    with cluster.http() as http:
        http.post("/api/v1/namespaces", json={"metadata": {"name": "contract"}}).raise_for_status()
        cluster.kubectl("label", "--overwrite", "crd", "revisions.serving.knative.dev", "app.kubernetes.io/version=1.21.0")
        yield http, "contract"
        http.delete("/api/v1/namespaces/contract").raise_for_status()


@pytest.fixture
def subject(request: pytest.FixtureRequest, cluster: ControlPlane, space: tuple[httpx2.Client, str]) -> Iterator[Subject]:
    rehearsed, _, kind = request.param.rpartition(" ")
    real = SUBJECTS[kind](cluster, *space, f"llm-{next(_numbers)}")
    yield Rehearsal(real=real) if rehearsed else real
    space[0].delete(real.path)  # else its controller would look at it to the end of the session


def _on_real_objects(rule: FunctionType) -> FunctionType:
    """The rule with those of its parameters that have a real object here."""
    here = FunctionType(rule.__code__, rule.__globals__, rule.__name__, rule.__defaults__, rule.__closure__)
    here.__annotations__, here.__module__ = rule.__annotations__, __name__
    marks = [_narrowed(mark, rule.__name__) if mark.args[:1] == ("subject",) else mark for mark in getattr(rule, "pytestmark", ())]
    here.pytestmark = marks  # type: ignore[attr-defined]  # where pytest keeps the marks of a function
    return here


def _narrowed(mark: pytest.Mark, rule: str) -> pytest.Mark:
    without = WITHOUT_PODS if rule == _READY else frozenset()
    kinds = [kind for kind in mark.args[1] if kind in SUBJECTS or (kind.rpartition(" ")[2] in REHEARSED)]
    return pytest.mark.parametrize("subject", [kind for kind in kinds if kind not in without], indirect=True).mark


for _name, _rule in vars(contract).items():
    if _name.startswith("test_") and isinstance(_rule, FunctionType):
        globals()[_name] = _on_real_objects(_rule)
