"""The AKS target against the double of Azure's resource manager: one write, what becomes of nodes, and what each refusal becomes."""

from collections.abc import Iterator

import pytest
from pydantic import ValidationError

from connectors.targets.aks_agentpool import AksAgentpoolConfig
from connectors.targets.registry import open_target
from forecaster.errors import TargetConflict, TargetError, TargetForbidden, TargetMissing, TargetRefused, TargetUnavailable
from forecaster.reasons import Code
from tests.aks_api import SUBSCRIPTION, AksApi
from tests.connectors.targets.cloud_subjects import AksSubject
from tests.connectors.targets.subjects import CEILING, FOUND, NOW, codes, let_go, stand
from tests.loopback_prometheus import loopback_prometheus, page
from tests.tokens import Tokens, tokens_to_ask


@pytest.fixture(scope="module")
def tokens() -> Iterator[Tokens]:
    with tokens_to_ask() as server:
        yield server


@pytest.fixture
def aks(tokens: Tokens) -> Iterator[AksApi]:
    tokens.start_again()
    with AksApi() as server:
        yield server


def test_k40_the_count_rises_with_the_minimum_and_neither_lowering_nor_a_release_ends_a_node(aks: AksApi) -> None:
    subject = AksSubject(aks=aks)
    counts = []
    for floor in (8, 1):
        stand(subject.open(), floor)
        counts.append(aks.pools[subject.name]["count"])
    let_go(subject.open())
    assert [*counts, aks.pools[subject.name]["count"]] == [8, 8, 8]


def test_everything_else_of_the_pool_stays_as_it_was_also_what_we_do_not_know(aks: AksApi) -> None:
    subject = AksSubject(aks=aks)
    aks.edit(subject.name, madeNextYear={"depth": [1, {"of": None}]})
    before = dict(aks.pools[subject.name])
    stand(subject.open(), 8)
    let_go(subject.open())
    after = dict(aks.pools[subject.name])
    assert {key: value for key, value in after.items() if key not in {"eTag", "count"}} == {
        key: value for key, value in before.items() if key not in {"eTag", "count"}
    }


def test_k37_minimum_count_and_tags_are_one_write_so_that_nothing_can_come_in_between(aks: AksApi) -> None:
    subject = AksSubject(aks=aks)
    stand(subject.open(), 8)
    assert len(aks.puts) == 1
    (sent,) = [asked for asked in aks.asked if asked.method == "PUT"]
    assert sent.headers["If-Match"] == "etag-1"
    assert subject.marks()["forecaster/original"] == str(FOUND)


def test_a_write_that_lost_the_race_for_the_etag_is_a_conflict(aks: AksApi) -> None:
    subject = AksSubject(aks=aks)
    seen = (target := subject.open()).observe(NOW)
    aks.edit(subject.name, nodeTaints=["sku=gpu:NoExecute"])
    assert target.observe(NOW).version == seen.version
    aks.fail_next(412, "EtagMismatch")
    with pytest.raises(TargetConflict, match="observe it again"):
        stand(target, 8)


def test_floors_are_rounded_up_to_whole_nodes(aks: AksApi) -> None:
    subject = AksSubject(aks=aks, replicas_per_node=4)
    applied = stand(subject.open(), 21)
    assert (applied.before, applied.after) == (FOUND * 4, 24)
    assert aks.pools[subject.name]["minCount"] == 6


def test_limits_are_read_again_every_time(aks: AksApi) -> None:
    subject = AksSubject(aks=aks)
    target = subject.open()
    assert target.observe(NOW).ceiling == CEILING
    subject.limit(6)
    applied = stand(target, 8)
    assert (applied.after, codes(applied)) == (6, {Code.CEILING_BELOW_FLOOR})


def test_a_user_pool_takes_a_floor_of_zero_and_a_system_pool_keeps_one_node(aks: AksApi) -> None:
    subject = AksSubject(aks=aks)
    assert stand(subject.open(), 0).after == 0
    aks.edit(subject.name, mode="System")
    applied = stand(subject.open(), 0)
    assert (applied.after, codes(applied)) == (1, {Code.ZERO_NOT_TAKEN})


@pytest.mark.parametrize("state", ["Scaling", "Updating", "Upgrading", "Creating", "Deleting"])
def test_while_something_is_under_way_ready_is_unknown_and_nothing_is_written(aks: AksApi, state: str) -> None:
    subject = AksSubject(aks=aks)
    aks.edit(subject.name, provisioningState=state)
    seen = subject.open().observe(NOW)
    assert (seen.floor, seen.ready, seen.pending) == (FOUND, None, None)
    with pytest.raises(TargetUnavailable, match=state):
        stand(subject.open(), 8)
    assert aks.puts == []


def test_k41_a_pool_that_failed_says_why_and_takes_the_next_write(aks: AksApi) -> None:
    subject = AksSubject(aks=aks)
    error = {"code": "AllocationFailed", "message": "not enough Standard_ND96isr_H100_v5 in the zone"}
    aks.edit(subject.name, provisioningState="Failed", status={"provisioningError": error})
    seen = subject.open().observe(NOW)
    assert (seen.ready, seen.shortage) == (None, error["message"])
    assert stand(subject.open(), 1).written


def test_a_pool_without_an_autoscaler_is_refused_with_the_command_that_gives_it_one(aks: AksApi) -> None:
    subject = AksSubject(aks=aks)
    aks.edit(subject.name, enableAutoScaling=False)
    with pytest.raises(TargetRefused, match="--enable-cluster-autoscaler"):
        subject.open().observe(NOW)


def test_a_pool_without_tags_is_no_trouble(aks: AksApi) -> None:
    subject = AksSubject(aks=aks)
    aks.pools[subject.name]["tags"] = None
    assert stand(subject.open(), 8).written


def test_a_second_writer_is_told_with_what_to_change(aks: AksApi) -> None:
    subject = AksSubject(aks=aks)
    stand(subject.open(), 8)
    subject.meddle(5)
    seen = subject.open().observe(NOW)
    assert seen.writer == "an unknown writer"
    assert seen.remedy is not None
    assert "min_count" in seen.remedy


def test_a_token_that_has_expired_before_its_end_is_asked_for_anew(aks: AksApi) -> None:
    target = AksSubject(aks=aks).open()
    target.observe(NOW)
    aks.token_prefix = "azure-2"
    assert target.observe(NOW).floor == FOUND


def test_a_token_that_azure_never_takes_is_forbidden(aks: AksApi) -> None:
    subject = AksSubject(aks=aks)
    aks.token_prefix = "somebody-else"
    with pytest.raises(TargetForbidden, match="check the identity and the clock"):
        subject.open().observe(NOW)


def test_an_identity_that_is_refused_is_forbidden_in_the_words_of_the_login(aks: AksApi, tokens: Tokens) -> None:
    tokens.refuse_next(400)
    with pytest.raises(TargetForbidden, match="no usable Azure identity"):
        AksSubject(aks=aks).open().observe(NOW)


def test_another_group_is_forbidden_with_the_actions(aks: AksApi) -> None:
    config = AksSubject(aks=aks).config().model_copy(update={"resource_group": "other"})
    with pytest.raises(TargetForbidden, match="agentPools/read"):
        open_target(config).observe(NOW)


@pytest.mark.parametrize(
    ("status", "word", "error", "told"),
    [
        (404, "ResourceNotFound", TargetMissing, "correct subscription, resource_group, cluster and agentpool"),
        (400, "InvalidParameter", TargetRefused, "injected"),
        (409, "OperationNotAllowed", TargetUnavailable, "under way"),
    ],
)
def test_a_final_answer_is_told_at_once(aks: AksApi, status: int, word: str, error: type[TargetError], told: str) -> None:
    subject = AksSubject(aks=aks)
    aks.fail_next(status, word)
    with pytest.raises(error, match=told) as raised:
        subject.open().observe(NOW)
    assert subject.name in str(raised.value)
    assert len(aks.asked) == 1


def test_a_web_page_instead_of_azure_is_refused_with_the_address(aks: AksApi) -> None:
    with loopback_prometheus(page()) as double:
        config = AksSubject(aks=aks).config().model_copy(update={"endpoint_url": double.url})
        with pytest.raises(TargetRefused, match=double.url):
            open_target(config).observe(NOW)


@pytest.mark.parametrize("field", ["subscription", "resource_group", "cluster", "agentpool"])
def test_a_name_cannot_lead_to_another_path(field: str) -> None:
    document = {"type": "aks-agentpool", "subscription": SUBSCRIPTION, "resource_group": "serving", "cluster": "prod", "agentpool": "gpu"}
    with pytest.raises(ValidationError, match=field):
        AksAgentpoolConfig.model_validate(document | {field: "../other"})
