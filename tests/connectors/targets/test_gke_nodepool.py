"""The GKE target against the double of its API: zones, operations, what becomes of nodes, and what each refusal becomes."""

from collections.abc import Iterator

import pytest
from pydantic import ValidationError

from connectors.targets.gke_nodepool import GkeNodepoolConfig
from connectors.targets.registry import open_target
from forecaster.errors import TargetConflict, TargetError, TargetForbidden, TargetMissing, TargetRefused, TargetUnavailable
from forecaster.reasons import Code
from tests.connectors.targets.cloud_subjects import GkeSubject
from tests.connectors.targets.subjects import CEILING, FOUND, NOW, codes, let_go, stand
from tests.gke_api import GkeApi
from tests.loopback_prometheus import loopback_prometheus, page
from tests.tokens import Tokens, tokens_to_ask

ZONES = ("europe-west4-a", "europe-west4-b", "europe-west4-c")


@pytest.fixture(scope="module")
def tokens() -> Iterator[Tokens]:
    with tokens_to_ask() as server:
        yield server


@pytest.fixture
def gke(tokens: Tokens) -> Iterator[GkeApi]:
    tokens.start_again()
    with GkeApi() as server:
        yield server


def by_zone(gke: GkeApi, *, nodes: int = 3, replicas_per_node: int = 1) -> GkeSubject:
    """A pool in three zones whose limits, 1 and 10, are those of each zone."""
    subject = GkeSubject(gke=gke, replicas_per_node=replicas_per_node)
    gke.add_pool(subject.name, by_zone=(1, 10), zones=ZONES, nodes=nodes)
    return subject


def test_limits_of_a_zone_count_for_all_zones_and_floors_are_rounded_up_to_the_same_in_each(gke: GkeApi) -> None:
    subject = by_zone(gke, replicas_per_node=2)
    seen = subject.open().observe(NOW)
    assert (seen.floor, seen.ceiling, seen.ready, seen.pending) == (6, 60, 6, 0)
    applied = stand(subject.open(), 13)
    assert (applied.before, applied.after) == (6, 18)
    assert gke.autoscaling(subject.name)["minNodeCount"] == 3
    assert gke.pools[subject.name].labels["forecaster-original"] == "1"


def test_a_raised_minimum_asks_for_its_nodes_at_once(gke: GkeApi) -> None:
    subject = by_zone(gke)
    stand(subject.open(), 9)
    assert gke.pools[subject.name].sizes == dict.fromkeys(ZONES, 3)
    assert gke.writes == ["labels", "setAutoscaling", "labels", "setSize"]
    seen = subject.open().observe(NOW)
    assert (seen.floor, seen.ready, seen.pending) == (9, 3, 6)


def test_k40_the_size_rises_with_the_minimum_and_neither_lowering_nor_a_release_ends_a_node(gke: GkeApi) -> None:
    subject = GkeSubject(gke=gke)
    stand(subject.open(), 8)
    stand(subject.open(), 1)
    let_go(subject.open())
    assert gke.pools[subject.name].sizes == {"europe-west4-a": 8}
    assert gke.writes.count("setSize") == 1


def test_nodes_are_not_asked_for_where_a_zone_has_more_already_since_that_would_end_some(gke: GkeApi) -> None:
    subject = by_zone(gke)
    gke.pools[subject.name].sizes = {ZONES[0]: 5, ZONES[1]: 1, ZONES[2]: 1}
    stand(subject.open(), 9)
    assert gke.autoscaling(subject.name)["minNodeCount"] == 3
    assert gke.pools[subject.name].sizes[ZONES[0]] == 5


def test_nodes_that_we_may_not_see_leave_ready_unknown_and_the_floor_writable(gke: GkeApi) -> None:
    subject = GkeSubject(gke=gke)
    gke.denied.add("instanceGroupManagers")
    seen = subject.open().observe(NOW)
    assert (seen.ready, seen.pending) == (None, None)
    assert stand(subject.open(), 8).written
    assert "setSize" not in gke.writes


def test_everything_else_of_the_pool_stays_as_it_was(gke: GkeApi) -> None:
    subject = GkeSubject(gke=gke)
    gke.edit(subject.name, labels={"team": "inference", "goog-gke-node-pool-provisioning-model": "reservation"})
    before = gke.autoscaling(subject.name)
    stand(subject.open(), 8)
    assert gke.autoscaling(subject.name) == before | {"totalMinNodeCount": 8}
    let_go(subject.open())
    assert gke.autoscaling(subject.name) == before
    assert gke.pools[subject.name].labels == {"team": "inference", "goog-gke-node-pool-provisioning-model": "reservation"}


def test_an_operation_that_ends_while_we_wait_is_waited_for(gke: GkeApi) -> None:
    subject = GkeSubject(gke=gke, operation_wait_s=1)
    gke.slow = {"labels", "setAutoscaling"}
    gke.finish_when_asked = True
    assert stand(subject.open(), 8).written
    assert (subject.floor(), subject.marks()["forecaster/floor"]) == (8, "8")


def test_k37_labels_that_take_long_lose_nothing_and_the_next_cycle_goes_on(gke: GkeApi) -> None:
    subject = GkeSubject(gke=gke)
    gke.slow = {"labels"}
    with pytest.raises(TargetUnavailable, match="goes on"):
        stand(subject.open(), 8)
    assert (subject.floor(), subject.marks()["forecaster/floor"]) == (FOUND, f"{FOUND}/8")
    with pytest.raises(TargetUnavailable, match="under way"):
        stand(subject.open(), 8)
    gke.finish()
    gke.slow = set()
    seen = subject.open().observe(NOW)
    assert (seen.original, seen.writer) == (FOUND, None)
    assert stand(subject.open(), 8).written
    assert (subject.floor(), subject.marks()["forecaster/original"]) == (8, str(FOUND))


def test_k37_a_release_that_was_cut_short_is_finished_by_the_next(gke: GkeApi) -> None:
    subject = GkeSubject(gke=gke)
    stand(subject.open(), 8)
    gke.slow = {"setAutoscaling"}
    with pytest.raises(TargetUnavailable, match="goes on"):
        let_go(subject.open())
    gke.finish()
    gke.slow = set()
    assert subject.open().observe(NOW).writer is None
    let_go(subject.open())
    assert (subject.floor(), subject.marks()) == (FOUND, {})


def test_an_operation_that_failed_is_told_in_the_words_of_gke(gke: GkeApi) -> None:
    subject = GkeSubject(gke=gke)
    gke.failing["setAutoscaling"] = {"error": {"code": 8, "message": "internal trouble"}}
    with pytest.raises(TargetUnavailable, match="internal trouble"):
        stand(subject.open(), 8)


def test_a_minimum_that_somebody_wrote_over_ours_is_a_conflict(gke: GkeApi) -> None:
    subject = GkeSubject(gke=gke)
    gke.after_next("setAutoscaling", lambda: subject.meddle(5))
    with pytest.raises(TargetConflict, match="became 5 while we wrote 8"):
        stand(subject.open(), 8)
    seen = subject.open().observe(NOW)
    assert (seen.original, seen.writer) == (FOUND, "an unknown writer")
    assert seen.remedy is not None
    assert "ignore_changes" in seen.remedy


def test_limits_that_change_while_labels_are_written_are_never_written_back(gke: GkeApi) -> None:
    subject = GkeSubject(gke=gke)
    gke.after_next("labels", lambda: subject.limit(6))
    with pytest.raises(TargetConflict, match="limits"):
        stand(subject.open(), 8)
    assert gke.autoscaling(subject.name)["totalMaxNodeCount"] == 6


def test_limits_are_read_again_every_time(gke: GkeApi) -> None:
    subject = GkeSubject(gke=gke)
    target = subject.open()
    assert target.observe(NOW).ceiling == CEILING
    subject.limit(6)
    applied = stand(target, 8)
    assert (applied.after, codes(applied)) == (6, {Code.CEILING_BELOW_FLOOR})


def test_a_floor_of_zero_is_no_node_at_all(gke: GkeApi) -> None:
    subject = GkeSubject(gke=gke)
    applied = stand(subject.open(), 0)
    assert (applied.after, codes(applied), subject.floor()) == (0, set(), 0)


def test_k41_a_stockout_is_told_in_the_words_of_google(gke: GkeApi) -> None:
    subject = GkeSubject(gke=gke)
    gke.pools[subject.name].conditions = [{"code": "GCE_STOCKOUT", "message": "a3-highgpu-8g is out of stock in europe-west4-a"}]
    assert subject.open().observe(NOW).shortage == "a3-highgpu-8g is out of stock in europe-west4-a"


def test_a_pool_without_an_autoscaler_is_refused_with_the_command_that_gives_it_one(gke: GkeApi) -> None:
    subject = GkeSubject(gke=gke)
    gke.add_pool(subject.name, nodes=3)
    with pytest.raises(TargetRefused, match="--enable-autoscaling"):
        subject.open().observe(NOW)


def test_a_token_that_has_expired_before_its_end_is_asked_for_anew(gke: GkeApi) -> None:
    subject = GkeSubject(gke=gke)
    target = subject.open()
    target.observe(NOW)
    gke.token_prefix = "google-2"
    assert target.observe(NOW).floor == FOUND


def test_a_token_that_google_never_takes_is_forbidden(gke: GkeApi) -> None:
    subject = GkeSubject(gke=gke)
    gke.token_prefix = "somebody-else"
    with pytest.raises(TargetForbidden, match="service account"):
        subject.open().observe(NOW)


def test_another_project_is_forbidden_with_the_permissions(gke: GkeApi) -> None:
    config = GkeSubject(gke=gke).config().model_copy(update={"project": "acme-2"})
    with pytest.raises(TargetForbidden, match=r"container\.clusters\.get"):
        open_target(config).observe(NOW)


def test_a_write_that_is_not_allowed_names_the_permission_and_changes_nothing(gke: GkeApi) -> None:
    subject = GkeSubject(gke=gke)
    gke.denied.add("labels")
    with pytest.raises(TargetForbidden, match=r"container\.clusters\.update"):
        stand(subject.open(), 8)
    assert (subject.floor(), subject.marks()) == (FOUND, {})


@pytest.mark.parametrize(
    ("status", "word", "error", "told"),
    [
        (404, "NOT_FOUND", TargetMissing, "correct project, location, cluster and nodepool"),
        (400, "INVALID_ARGUMENT", TargetRefused, "injected"),
        (400, "FAILED_PRECONDITION", TargetUnavailable, "under way"),
        (409, "ABORTED", TargetConflict, "observe it again"),
    ],
)
def test_a_final_answer_is_told_at_once(gke: GkeApi, status: int, word: str, error: type[TargetError], told: str) -> None:
    subject = GkeSubject(gke=gke)
    gke.fail_next(status, word)
    with pytest.raises(error, match=told) as raised:
        subject.open().observe(NOW)
    assert subject.name in str(raised.value)
    assert len(gke.asked) == 1


def test_an_endpoint_that_nobody_listens_on_is_unavailable(gke: GkeApi) -> None:
    config = GkeSubject(gke=gke).config().model_copy(update={"endpoint_url": "http://127.0.0.1:1"})
    with pytest.raises(TargetUnavailable, match="try again later"):
        open_target(config).observe(NOW)


def test_a_web_page_instead_of_gke_is_refused_with_the_address(gke: GkeApi) -> None:
    with loopback_prometheus(page()) as double:
        config = GkeSubject(gke=gke).config().model_copy(update={"endpoint_url": double.url})
        with pytest.raises(TargetRefused, match=double.url):
            open_target(config).observe(NOW)


def test_credentials_that_are_refused_are_forbidden_in_the_words_of_the_login(gke: GkeApi, tokens: Tokens) -> None:
    tokens.refuse_next(400)
    with pytest.raises(TargetForbidden, match="account is disabled"):
        GkeSubject(gke=gke).open().observe(NOW)


@pytest.mark.parametrize("field", ["project", "location", "cluster", "nodepool"])
def test_a_name_cannot_lead_to_another_path(field: str) -> None:
    document = {"type": "gke-nodepool", "project": "acme", "location": "europe-west4", "cluster": "prod", "nodepool": "gpu"}
    with pytest.raises(ValidationError, match=field):
        GkeNodepoolConfig.model_validate(document | {field: "../other"})
