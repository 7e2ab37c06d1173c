"""What `forecaster.ports.ScaleTarget` promises, over every kind of target and its counterpart."""

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from functools import partial

import pytest

from connectors.aws import AwsAccount
from connectors.targets.recording import RecordingTarget
from forecaster.decision import Paused
from forecaster.errors import TargetConflict, TargetMissing, TargetRefused
from forecaster.reasons import Code
from forecaster.units import iso
from tests.aks_api import AksApi, aks_to_ask
from tests.aws import Aws, aws_to_ask
from tests.connectors.targets import object_subjects
from tests.connectors.targets.aws_subjects import AsgSubject, ScalableSubject
from tests.connectors.targets.cloud_subjects import AksSubject, GkeSubject, WebhookSubject
from tests.connectors.targets.scale_subjects import PlaceholderSubject, ScaleSubject
from tests.connectors.targets.subjects import (
    CEILING,
    FOUND,
    NOW,
    UNTIL,
    EksSubject,
    HpaSubject,
    Rehearsal,
    Subject,
    account_of,
    codes,
    decided,
    let_go,
    stand,
)
from tests.gke_api import GkeApi, gke_to_ask
from tests.kube_api import KubeApi
from tests.webhook_receiver import WebhookReceiver


def _scalable(request: pytest.FixtureRequest, kind: str) -> Subject:
    return ScalableSubject(aws=request.getfixturevalue("aws"), account=request.getfixturevalue("account"), kind=kind)


def _object(kind: str, request: pytest.FixtureRequest) -> Subject:
    return object_subjects.ObjectSubject(api=request.getfixturevalue("api"), kind=kind)


SUBJECTS: Mapping[str, Callable[[pytest.FixtureRequest], Subject]] = {
    "kubernetes-hpa": lambda request: HpaSubject(api=request.getfixturevalue("api")),
    **{kind: partial(_object, kind) for kind in object_subjects.KINDS},
    "kubernetes-scale": lambda request: ScaleSubject(api=request.getfixturevalue("api")),
    "placeholder-pods": lambda request: PlaceholderSubject(api=request.getfixturevalue("api")),
    "eks-nodegroup": lambda request: EksSubject(aws=request.getfixturevalue("aws"), account=request.getfixturevalue("account")),
    "asg": lambda request: AsgSubject(aws=request.getfixturevalue("aws"), account=request.getfixturevalue("account")),
    "sagemaker": lambda request: _scalable(request, "sagemaker"),
    "ecs": lambda request: _scalable(request, "ecs"),
    "gke-nodepool": lambda request: GkeSubject(gke=request.getfixturevalue("gke")),
    "aks-agentpool": lambda request: AksSubject(aks=request.getfixturevalue("aks")),
    "webhook": lambda request: WebhookSubject(hook=request.getfixturevalue("hook")),
}
"""A row a kind: the object behind it, found at 2 of at most 20 replicas."""
UNBOUNDED = frozenset({"kubernetes-scale", "placeholder-pods"}) | object_subjects.UNBOUNDED
"""The kinds whose objects have no ceiling of their own."""

WRITERS = tuple(SUBJECTS)
REHEARSALS = tuple(f"rehearsed {kind}" for kind in SUBJECTS)
BOUNDED = tuple(kind for kind in SUBJECTS if kind not in UNBOUNDED)


@pytest.fixture(scope="module")
def api() -> Iterator[KubeApi]:
    with KubeApi() as server:
        yield server


@pytest.fixture(scope="module")
def aws() -> Iterator[Aws]:
    with aws_to_ask() as server:
        yield server


@pytest.fixture(scope="module")
def account(aws: Aws) -> AwsAccount:
    return account_of(aws)


@pytest.fixture(scope="module")
def gke() -> Iterator[GkeApi]:
    with gke_to_ask() as server:
        yield server


@pytest.fixture(scope="module")
def aks() -> Iterator[AksApi]:
    with aks_to_ask() as server:
        yield server


@pytest.fixture(scope="module")
def hook() -> Iterator[WebhookReceiver]:
    with WebhookReceiver(NOW) as server:
        yield server


@pytest.fixture
def subject(request: pytest.FixtureRequest) -> Subject:
    rehearsed, _, kind = request.param.rpartition(" ")
    real = SUBJECTS[kind](request)
    return Rehearsal(real=real) if rehearsed else real


every_target = pytest.mark.parametrize("subject", WRITERS + REHEARSALS, indirect=True)
every_writer = pytest.mark.parametrize("subject", WRITERS, indirect=True)
every_bounded_writer = pytest.mark.parametrize("subject", BOUNDED, indirect=True)
every_rehearsal = pytest.mark.parametrize("subject", REHEARSALS, indirect=True)


@every_target
def test_an_object_that_was_never_written_is_seen_as_it_stands(subject: Subject) -> None:
    target = subject.open()
    seen = target.observe(NOW)
    assert (seen.target, seen.at) == (target.name, NOW)
    assert (seen.floor, seen.original) == (FOUND, FOUND)
    assert (seen.paused, seen.valid_until, seen.writer) == (None, None, None)
    assert seen.ready is not None
    assert (seen.ready >= FOUND, seen.pending) == (True, 0)


@every_bounded_writer
def test_the_ceiling_of_an_object_is_seen(subject: Subject) -> None:
    assert subject.open().observe(NOW).ceiling == CEILING


@every_target
def test_observing_never_writes(subject: Subject) -> None:
    before = subject.writes()
    subject.open().observe(NOW)
    assert subject.writes() == before
    assert subject.marks() == {}


@every_target
@pytest.mark.parametrize(("text", "paused"), [("hold", Paused.HOLD), ("release", Paused.RELEASE), ("yes please", Paused.HOLD)])
def test_a_pause_on_the_object_is_seen_and_one_that_cannot_be_read_holds(subject: Subject, text: str, paused: Paused) -> None:
    subject.mark("forecaster/paused", text)
    assert subject.open().observe(NOW).paused is paused


@every_bounded_writer
def test_a_decision_above_the_ceiling_becomes_the_ceiling_and_an_alert(subject: Subject) -> None:
    applied = stand(subject.open(), CEILING + 5)
    assert applied.after == CEILING
    assert codes(applied) == {Code.CEILING_BELOW_FLOOR}
    assert str(CEILING + 5) in applied.reasons[0].detail


@every_target
def test_releasing_what_we_do_not_hold_is_no_write_and_no_error(subject: Subject) -> None:
    before = subject.writes()
    applied = let_go(subject.open())
    assert (applied.written, applied.after, subject.writes()) == (False, FOUND, before)


@every_target
def test_an_object_that_is_gone_is_missing(subject: Subject) -> None:
    subject.remove()
    with pytest.raises(TargetMissing, match="correct"):
        subject.open().observe(NOW)


@every_writer
def test_a_floor_stands_with_its_original_and_its_expiry_on_the_object(subject: Subject) -> None:
    target = subject.open()
    applied = stand(target, 8)
    assert (applied.before, applied.after, applied.written) == (FOUND, 8, True)
    assert subject.floor() == 8
    assert subject.marks() == {"forecaster/original": str(FOUND), "forecaster/floor": "8", "forecaster/valid-until": iso(UNTIL)}
    seen = target.observe(NOW)
    assert (seen.floor, seen.original, seen.valid_until, seen.writer) == (8, FOUND, UNTIL, None)


@every_writer
def test_the_same_decision_twice_writes_once_also_from_another_process(subject: Subject) -> None:
    stand(subject.open(), 8)
    before = subject.writes()
    assert not stand(subject.open(), 8).written
    assert subject.writes() == before


@every_writer
def test_a_floor_that_stood_there_already_is_taken_into_keeping(subject: Subject) -> None:
    assert stand(subject.open(), FOUND).written
    assert subject.marks()["forecaster/valid-until"] == iso(UNTIL)


@every_writer
def test_a_later_expiry_is_written_also_when_the_floor_stands(subject: Subject) -> None:
    stand(subject.open(), 8)
    later = UNTIL + timedelta(hours=1, microseconds=5)
    assert stand(subject.open(), 8, valid_until=later).written
    assert subject.marks()["forecaster/valid-until"] == iso(later)
    assert not stand(subject.open(), 8, valid_until=later).written


@every_writer
def test_release_puts_the_original_back_and_leaves_no_mark(subject: Subject) -> None:
    for floor in (8, 12, 5):
        stand(subject.open(), floor)
    applied = let_go(subject.open())
    assert (applied.before, applied.after, applied.written) == (5, FOUND, True)
    assert (subject.floor(), subject.marks()) == (FOUND, {})
    before = subject.writes()
    assert not let_go(subject.open()).written
    assert subject.writes() == before


@every_writer
def test_a_change_since_it_was_observed_is_a_conflict_and_nothing_is_written(subject: Subject) -> None:
    target = subject.open()
    seen = target.observe(NOW)
    subject.meddle(4)
    before = subject.writes()
    with pytest.raises(TargetConflict, match="observe it again"):
        target.set_floor(decided(target.name, 8), seen)
    assert (subject.floor(), subject.writes()) == (4, before)
    assert stand(target, 8).before == 4


@every_writer
def test_a_release_of_what_changed_since_is_a_conflict(subject: Subject) -> None:
    target = subject.open()
    stand(target, 8)
    seen = target.observe(NOW)
    subject.meddle(4)
    with pytest.raises(TargetConflict):
        target.release(seen)
    assert subject.floor() == 4


@every_writer
def test_a_pause_that_comes_between_observation_and_write_stops_the_write(subject: Subject) -> None:
    target = subject.open()
    seen = target.observe(NOW)
    subject.mark("forecaster/paused", "hold")
    with pytest.raises(TargetConflict):
        target.set_floor(decided(target.name, 8), seen)
    assert subject.floor() == FOUND


@every_writer
def test_a_pause_outlives_a_release(subject: Subject) -> None:
    stand(subject.open(), 8)
    subject.mark("forecaster/paused", "release")
    let_go(subject.open())
    assert subject.marks() == {"forecaster/paused": "release"}


@every_writer
def test_a_lower_value_of_somebody_else_is_written_over_and_no_longer_named(subject: Subject) -> None:
    stand(subject.open(), 8)
    subject.meddle(3)
    assert subject.open().observe(NOW).writer is not None
    stand(subject.open(), 8)
    seen = subject.open().observe(NOW)
    assert (seen.floor, seen.original, seen.writer) == (8, FOUND, None)


@every_writer
def test_a_value_of_somebody_else_that_is_kept_stays_theirs(subject: Subject) -> None:
    stand(subject.open(), 8)
    subject.meddle(15)
    later = UNTIL + timedelta(hours=1)
    stand(subject.open(), 15, valid_until=later)
    seen = subject.open().observe(NOW)
    assert (seen.floor, seen.valid_until) == (15, later)
    assert seen.writer is not None


@every_writer
def test_release_tells_of_the_second_writer_whose_value_it_replaces(subject: Subject) -> None:
    stand(subject.open(), 8)
    subject.meddle(15)
    applied = let_go(subject.open())
    assert (applied.after, codes(applied), subject.floor()) == (FOUND, {Code.SECOND_WRITER}, FOUND)


@every_bounded_writer
def test_release_goes_no_higher_than_the_ceiling_of_today(subject: Subject) -> None:
    stand(subject.open(), 1)
    subject.limit(1)
    applied = let_go(subject.open())
    assert (applied.after, codes(applied)) == (1, {Code.CEILING_BELOW_FLOOR})
    assert (subject.floor(), subject.marks()) == (1, {})


@every_writer
@pytest.mark.parametrize("text", ["two", "-3", "", "٣"])
def test_an_original_that_cannot_be_read_stops_us_before_we_guess(subject: Subject, text: str) -> None:
    stand(subject.open(), 8)
    subject.mark("forecaster/original", text)
    with pytest.raises(TargetRefused, match="forecaster/original"):
        subject.open().observe(NOW)


@every_writer
@pytest.mark.parametrize("text", ["tomorrow", "2024-05-06T12:00:00"])
def test_an_expiry_that_cannot_be_read_counts_as_reached_and_is_written_anew(subject: Subject, text: str) -> None:
    stand(subject.open(), 8)
    subject.mark("forecaster/valid-until", text)
    assert subject.open().observe(NOW).valid_until == NOW
    assert stand(subject.open(), 8).written
    assert subject.marks()["forecaster/valid-until"] == iso(UNTIL)


@every_rehearsal
def test_a_rehearsal_writes_nothing_and_tells_what_the_write_would_have_done(subject: Rehearsal) -> None:
    target = subject.open()
    before = subject.writes()
    rehearsed = stand(target, CEILING + 1)
    assert (subject.writes(), subject.marks(), rehearsed.written) == (before, {}, False)
    done = stand(subject.real.open(), CEILING + 1)
    assert (rehearsed.target, rehearsed.before, rehearsed.after, rehearsed.reasons) == (
        done.target,
        done.before,
        done.after,
        done.reasons,
    )


@every_rehearsal
def test_a_rehearsed_release_leaves_the_floor_and_tells_the_original(subject: Rehearsal) -> None:
    stand(subject.real.open(), 8)
    before = subject.writes()
    applied = let_go(subject.open())
    assert (applied.before, applied.after, applied.written) == (8, FOUND, False)
    assert (subject.floor(), subject.writes()) == (8, before)


@every_rehearsal
def test_an_intention_that_is_repeated_is_recorded_once(subject: Rehearsal) -> None:
    target = subject.open()
    assert isinstance(target, RecordingTarget)
    for floor in (8, 8, 9, 8):
        stand(target, floor)
    assert [applied.after for applied in target.recorded] == [8, 9, 8]
    assert not any(applied.written for applied in target.recorded)
