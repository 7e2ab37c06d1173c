"""A write that is only tried: the API has its say on all of it, and keeps nothing."""

from collections.abc import Callable, Iterator

import pytest

from connectors.targets.access import Tried
from connectors.targets.writers import Owned
from forecaster.errors import TargetConflict, TargetForbidden
from tests.connectors.targets import object_subjects
from tests.connectors.targets.scale_subjects import PlaceholderSubject, ScaleSubject
from tests.connectors.targets.subjects import NOW, HpaSubject, Subject, decided, stand
from tests.kube_api import KubeApi


def an_object(kind: str) -> Callable[[KubeApi], Subject]:
    return lambda api: object_subjects.ObjectSubject(api=api, kind=kind)


SUBJECTS: dict[str, Callable[[KubeApi], Subject]] = {
    "kubernetes-hpa": lambda api: HpaSubject(api=api),
    **{kind: an_object(kind) for kind in object_subjects.KINDS},
    "kubernetes-scale": lambda api: ScaleSubject(api=api),
    "placeholder-pods": lambda api: PlaceholderSubject(api=api),
}


@pytest.fixture
def api() -> Iterator[KubeApi]:
    with KubeApi() as api:
        yield api


@pytest.fixture(params=SUBJECTS)
def subject(request: pytest.FixtureRequest, api: KubeApi) -> Subject:
    return SUBJECTS[request.param](api)


def tried(subject: Subject) -> Tried:
    target = subject.open()
    assert isinstance(target, Tried)
    return target


def test_a_floor_that_is_tried_is_asked_of_the_api_and_not_kept(subject: Subject, api: KubeApi) -> None:
    target = subject.open()
    before = subject.floor(), subject.marks(), target.observe(NOW).version
    tried(subject).try_floor(decided(target.name, 8), target.observe(NOW))
    assert (subject.floor(), subject.marks(), target.observe(NOW).version) == before
    assert subject.writes() == 0
    rehearsals = [request for request in api.requests if request.verb == "patch"]
    assert rehearsals
    assert all((request.query["dryRun"], request.manager) == ("All", "forecaster") for request in rehearsals)


def test_a_release_that_is_tried_leaves_the_floor_and_its_marks(subject: Subject) -> None:
    target = subject.open()
    stand(target, 8)
    standing = subject.floor(), subject.marks(), subject.writes()
    tried(subject).try_release(target.observe(NOW))
    assert (subject.floor(), subject.marks(), subject.writes()) == standing


def test_what_changed_since_it_was_seen_is_a_conflict_as_of_a_write(subject: Subject) -> None:
    target = subject.open()
    seen = target.observe(NOW)
    stand(target, 5)
    with pytest.raises(TargetConflict):
        tried(subject).try_floor(decided(target.name, 8), seen)


def test_without_the_right_to_patch_nothing_is_tried(subject: Subject, api: KubeApi) -> None:
    target = subject.open()
    seen = target.observe(NOW)
    for plural in {request.path.rpartition("/")[0].rpartition("/")[2] for request in api.requests}:
        api.forbid("patch", plural)
    with pytest.raises(TargetForbidden, match="patch"):
        tried(subject).try_floor(decided(target.name, 8), seen)


def test_rights_that_no_target_needs_are_named_until_they_are_taken_away(subject: Subject, api: KubeApi) -> None:
    assert {"get secrets", "delete pods", "create pods/exec"} <= set(tried(subject).excess())
    for verb, plural in (("get", "secrets"), ("delete", "pods"), ("create", "pods/exec")):
        api.forbid(verb, plural)
    assert {what.partition(" ")[0] for what in tried(subject).excess()} <= {"create", "delete"}
    assert len(tried(subject).excess()) == 2


def test_whoever_wrote_the_field_last_is_its_owner_until_we_do(subject: Subject) -> None:
    target = subject.open()
    assert isinstance(target, Owned)
    found = target.owner()
    assert found is not None
    assert (found.name, found.repeats) == ("kubectl-create", False)
    stand(target, 8)
    assert target.owner() is None
