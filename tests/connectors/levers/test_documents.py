"""Levers behind admin APIs: what an API cannot take back is not set, what it does not keep is told, secrets are in no sentence."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import SecretStr, ValidationError

from connectors.levers.apisix import ApisixLeverConfig
from connectors.levers.kong import KongLeverConfig
from connectors.levers.litellm import LitellmLeverConfig
from connectors.levers.registry import LeverConfig, open_levers
from forecaster.errors import TargetForbidden, TargetMissing, TargetRefused, TargetUnavailable
from forecaster.ladder import LeverValue
from forecaster.ports import Lever
from tests.admin_apis import APISIX_KEY, KONG_TOKEN, MASTER_KEY, AdminApis

NOW = datetime(2026, 3, 2, 7, 30, tzinfo=UTC)
UNTIL = NOW + timedelta(hours=1)
VIRTUAL = "sk-virtual-key-of-team-a"


@pytest.fixture
def apis() -> Iterator[AdminApis]:
    with AdminApis() as server:
        server.documents["/plugins/p1"] = {"tags": None, "config": {"minute": None, "limits": [{"limit": [100, 5]}]}, "enabled": True}
        server.documents["/apisix/admin/routes/r1"] = {"plugins": {"limit-count": {"count": 100}}}
        server.documents[VIRTUAL] = {"rpm_limit": 100, "tpm_limit": None, "metadata": None}
        yield server


def opened(config: LeverConfig) -> Lever:
    return open_levers({"it": config})["it"]


def kong(apis: AdminApis, field: str, token: str = KONG_TOKEN, plugin: str = "p1") -> Lever:
    return opened(KongLeverConfig(type="kong", url=apis.url, plugin=plugin, field=field, token=SecretStr(token)))


def litellm(apis: AdminApis, *, key: str = VIRTUAL, tokens: bool = False) -> Lever:
    return opened(
        LitellmLeverConfig(
            type="litellm",
            name="a",
            url=apis.url,
            master_key=SecretStr(MASTER_KEY),
            key=SecretStr(key),
            limit="tpm_limit" if tokens else "rpm_limit",
        )
    )


def stand(of: Lever, value: LeverValue) -> None:
    of.set(value, UNTIL, of.observe(NOW))


def test_one_value_of_a_plugin_of_kong_is_moved_and_the_rest_of_it_stays(apis: AdminApis) -> None:
    one = kong(apis, "config.minute")
    stand(one, 10)
    config = apis.documents["/plugins/p1"]["config"]
    assert config == {"minute": 10, "limits": [{"limit": [100, 5]}]}
    one.release(one.observe(NOW))
    assert apis.documents["/plugins/p1"]["config"]["minute"] is None
    assert apis.documents["/plugins/p1"]["tags"] == []


def test_an_entry_of_a_list_is_moved_and_the_others_stay(apis: AdminApis) -> None:
    of = kong(apis, "config.limits.0.limit.1")
    stand(of, 2)
    assert apis.documents["/plugins/p1"]["config"]["limits"] == [{"limit": [100, 2]}]
    of.release(of.observe(NOW))
    assert apis.documents["/plugins/p1"]["config"]["limits"] == [{"limit": [100, 5]}]
    with pytest.raises(TargetRefused, match="there is no entry 7 in a list of 2"):
        stand(kong(apis, "config.limits.0.limit.7"), 2)


def test_a_plugin_can_be_switched_off_for_a_while(apis: AdminApis) -> None:
    of = kong(apis, "enabled")
    stand(of, value=False)
    assert apis.documents["/plugins/p1"]["enabled"] is False
    of.release(of.observe(NOW))
    assert apis.documents["/plugins/p1"]["enabled"] is True


def test_a_limit_that_litellm_could_not_take_away_again_is_not_set(apis: AdminApis) -> None:
    with pytest.raises(TargetRefused, match="has no tpm_limit, and LiteLLM does not take one away again: give the key one"):
        stand(litellm(apis, tokens=True), 10)
    assert apis.writes == []


def test_a_key_that_is_not_there_is_missing_and_stands_in_no_sentence(apis: AdminApis) -> None:
    with pytest.raises(TargetMissing) as missing:
        litellm(apis, key="sk-somebody-elses").observe(NOW)
    assert "sk-somebody-elses" not in str(missing.value)
    assert "the key a of LiteLLM" in str(missing.value)


def test_a_wrong_token_is_forbidden_and_stands_in_no_sentence(apis: AdminApis) -> None:
    with pytest.raises(TargetForbidden, match="may read and write it") as forbidden:
        kong(apis, "config.minute", token="not-the-right-token").observe(NOW)
    assert "not-the-right-token" not in str(forbidden.value)


def test_a_value_that_the_api_does_not_keep_is_told(apis: AdminApis) -> None:
    apis.loses = True
    with pytest.raises(TargetRefused, match=r"has nothing in config\.minute after we wrote 10"):
        stand(kong(apis, "config.minute"), 10)


def test_two_values_of_one_route_have_marks_of_their_own(apis: AdminApis) -> None:
    def lever(field: str) -> Lever:
        return opened(ApisixLeverConfig(type="apisix", url=apis.url, resource="routes", id="r1", field=field, key=SecretStr(APISIX_KEY)))

    count, code = lever("plugins.limit-count.count"), lever("plugins.limit-count.rejected_code")
    stand(count, 10)
    stand(code, 429)
    count.release(count.observe(NOW))
    document = apis.documents["/apisix/admin/routes/r1"]
    assert document["plugins"]["limit-count"] == {"count": 100, "rejected_code": 429}
    assert len(document["labels"]) == 1
    code.release(code.observe(NOW))
    assert apis.documents["/apisix/admin/routes/r1"] == {"plugins": {"limit-count": {"count": 100}}, "labels": {}}


def test_an_api_that_is_down_may_be_back_later() -> None:
    with AdminApis() as gone:
        lever = kong(gone, "config.minute")
    with pytest.raises(TargetUnavailable, match="try again later"):
        lever.observe(NOW)


def test_what_is_not_for_us_to_write_is_refused(apis: AdminApis) -> None:
    with pytest.raises(ValidationError, match=r"name config\.FIELD, or enabled"):
        kong(apis, "route.id")
    with pytest.raises(ValidationError, match=r"name plugins\.PLUGIN\.FIELD"):
        ApisixLeverConfig(type="apisix", url=apis.url, resource="routes", id="r1", field="uri", key=SecretStr(APISIX_KEY))
