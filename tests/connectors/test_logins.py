"""Google's and Azure's logins against loopback token endpoints, behind the real libraries."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from connectors.azure import AzureLogin
from connectors.google import MONITORING_READ, GoogleLogin
from connectors.http.api import Api
from connectors.http.endpoint import Call, Endpoint, Unreachable, Unusable
from connectors.login import Login, LoginFailed
from tests.loopback_prometheus import Reply, in_turn, loopback_prometheus
from tests.tokens import Tokens, tokens_to_ask

CLOUDS = [("google", GoogleLogin), ("azure", AzureLogin)]
every_cloud = pytest.mark.parametrize(("cloud", "kind"), CLOUDS)


@pytest.fixture
def tokens() -> Iterator[Tokens]:
    with tokens_to_ask() as server:
        yield server


@every_cloud
def test_a_token_is_asked_for_once_and_kept_while_it_lives_also_between_threads(tokens: Tokens, cloud: str, kind: type[Login]) -> None:
    login = kind()
    assert not tokens.asked
    with ThreadPoolExecutor(8) as pool:
        given = set(pool.map(lambda _: login.token(), range(32)))
    assert given == {f"{cloud}-1"}
    assert len(tokens.asked) == 1


@every_cloud
def test_a_token_that_was_refused_is_forgotten_and_asked_for_anew(tokens: Tokens, cloud: str, kind: type[Login]) -> None:
    login = kind()
    login.token()
    login.forget()
    assert login.token() == f"{cloud}-2"
    assert len(tokens.asked) == 2


def test_the_scope_is_the_one_that_was_asked_for(tokens: Tokens) -> None:
    GoogleLogin(MONITORING_READ).token()
    AzureLogin("https://prometheus.monitor.azure.com/.default").token()
    assert tokens.asked == [MONITORING_READ, "https://prometheus.monitor.azure.com"]


@every_cloud
def test_an_identity_that_is_refused_is_told_with_the_places_to_put_another(tokens: Tokens, cloud: str, kind: type[Login]) -> None:
    tokens.refuse_next(400)
    with pytest.raises(LoginFailed, match=cloud.title()) as raised:
        kind().token()
    assert raised.value.lasting
    assert "\n" not in str(raised.value)


def test_a_token_server_that_is_away_is_no_lasting_failure(tokens: Tokens) -> None:
    tokens.__exit__()
    with pytest.raises(LoginFailed) as raised:
        GoogleLogin().token()
    assert not raised.value.lasting


def test_a_key_file_that_is_not_there_is_named(tokens: Tokens, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/key.json")
    with pytest.raises(LoginFailed, match=r"/nowhere/key\.json") as raised:
        GoogleLogin().token()
    assert raised.value.lasting
    assert not tokens.asked


@every_cloud
def test_a_server_that_refuses_a_token_before_its_end_is_asked_once_more_with_a_new_one(
    tokens: Tokens, cloud: str, kind: type[Login]
) -> None:
    with loopback_prometheus(in_turn(Reply(status=401), Reply(body=b"fine"))) as double:
        api = Api(Endpoint(base_url=double.url, login=kind()))
        answer = api.answer(Call(method="POST", path="x", body=b"{}", repeatable=False))
        assert (answer.status, api.masked(f"you are {cloud}-2")) == (200, "you are ***")
        assert [asked.headers["Authorization"] for asked in double.asked] == [f"Bearer {cloud}-1", f"Bearer {cloud}-2"]
        api.close()
    assert len(tokens.asked) == 2


def test_a_server_that_refuses_the_new_token_as_well_has_the_last_word(tokens: Tokens) -> None:
    with loopback_prometheus(Reply(status=401)) as double:
        api = Api(Endpoint(base_url=double.url, login=GoogleLogin()))
        assert api.answer(Call(method="GET", path="x")).status == 401
        api.close()
    assert len(tokens.asked) == 2


def test_a_login_that_is_refused_cannot_be_used_and_one_that_is_away_is_unreachable(tokens: Tokens) -> None:
    login = GoogleLogin()
    api = Api(Endpoint(base_url="http://127.0.0.1:1", login=login))
    tokens.refuse_next(400)
    with pytest.raises(Unusable, match="account is disabled"):
        api.answer(Call(method="GET", path="x"))
    login.forget()
    tokens.__exit__()
    with pytest.raises(Unreachable, match="Google gives us no token"):
        api.answer(Call(method="GET", path="x"))
    api.close()


@every_cloud
def test_a_failure_is_told_again_for_a_while_without_asking_since_thousands_share_a_login(
    tokens: Tokens, cloud: str, kind: type[Login]
) -> None:
    login = kind()
    tokens.refuse_next(400)
    for _ in range(3):
        with pytest.raises(LoginFailed, match=cloud.title()) as raised:
            login.token()
        assert raised.value.lasting
    assert len(tokens.asked) == 1
    login.forget()
    assert login.token() == f"{cloud}-1"


def test_an_identity_of_azure_that_has_worked_is_expected_to_work_again(tokens: Tokens) -> None:
    login = AzureLogin()
    login.token()
    login.forget()
    tokens.refuse_next(400)
    with pytest.raises(LoginFailed) as raised:
        login.token()
    assert not raised.value.lasting


def test_the_places_where_azure_looked_are_told_in_one_line_without_links(tokens: Tokens) -> None:
    tokens.refuse_next(400)
    with pytest.raises(LoginFailed, match=r"WorkloadIdentityCredential: .*; ManagedIdentityCredential: ") as raised:
        AzureLogin().token()
    assert "http" not in str(raised.value)
