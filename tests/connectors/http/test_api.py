"""The HTTP client against a loopback server: what it sends, when it tries again, and what it never tells."""

import gc
import socket
import ssl
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from threading import Event
from typing import Any
from urllib.parse import urlsplit

import pytest

from connectors.http.api import Api
from connectors.http.endpoint import Answer, Endpoint, Unreachable, Unusable
from tests.connectors.http.certificates import Authority, Certificate
from tests.loopback_prometheus import LoopbackPrometheus, Reply, in_turn, loopback_prometheus
from tests.services import free_port

OK = Reply(body=b"fine")
NEVER = Reply(never=True)


@contextmanager
def opened(endpoint: Endpoint) -> Iterator[Api]:
    api = Api(endpoint)
    try:
        yield api
    finally:
        api.close()


def sent(double: LoopbackPrometheus, **settings: Any) -> Answer:
    """One POST of `{"a": "1"}` to `path` with no waits between attempts."""
    endpoint = replace(Endpoint(base_url=double.url, timeout_s=10, retry_wait_s=0), **settings)
    with opened(endpoint) as api:
        return api.send("POST", "path", {"a": "1"})


class TestWhatIsSent:
    def test_paths_are_appended_to_the_base_path(self) -> None:
        with loopback_prometheus(OK) as double:
            sent(double, base_url=f"{double.url}/select/0/prometheus")
            assert double.asked[0].path == "/select/0/prometheus/path"

    def test_a_post_carries_the_form_in_its_body_and_a_get_in_its_query(self) -> None:
        with loopback_prometheus(OK) as double, opened(Endpoint(base_url=double.url)) as api:
            api.send("POST", "path", {"a": "1 + 1"})
            api.send("GET", "path", {"a": "1 + 1"})
            assert [(asked.method, asked.form) for asked in double.asked] == [("POST", {"a": "1 + 1"}), ("GET", {"a": "1 + 1"})]

    def test_headers(self) -> None:
        with loopback_prometheus(OK) as double:
            sent(double, headers={"X-Scope-OrgID": "tenant-a"})
            assert double.asked[0].headers["X-Scope-OrgID"] == "tenant-a"

    def test_a_bearer_token(self) -> None:
        with loopback_prometheus(OK) as double:
            sent(double, bearer="t0ken")
            assert double.asked[0].headers["Authorization"] == "Bearer t0ken"

    def test_a_bearer_token_from_a_file_is_read_at_every_request(self, tmp_path: Path) -> None:
        token = tmp_path / "token"
        with loopback_prometheus(OK) as double, opened(Endpoint(base_url=double.url, bearer_file=token)) as api:
            for text in ("first\n", "second\n"):
                token.write_text(text)
                api.send("POST", "path", {})
            assert [asked.headers["Authorization"] for asked in double.asked] == ["Bearer first", "Bearer second"]

    def test_basic_authentication(self) -> None:
        with loopback_prometheus(OK) as double:
            sent(double, basic=("reader", "pa:ss"))
            assert double.asked[0].headers["Authorization"] == "Basic cmVhZGVyOnBhOnNz"

    def test_every_try_is_signed_anew_over_what_is_sent(self) -> None:
        signer = Counting()
        with loopback_prometheus(in_turn(Reply(status=503), OK)) as double:
            sent(double, signer=signer)
            assert [asked.headers["X-Proof"] for asked in double.asked] == ["1 POST /path a=1", "2 POST /path a=1"]


class Counting:
    """A signer that tells what it signed."""

    def __init__(self) -> None:
        self._signed = 0

    def headers(self, method: str, url: str, body: bytes) -> Mapping[str, str]:
        self._signed += 1
        return {"X-Proof": f"{self._signed} {method} {urlsplit(url).path} {body.decode()}"}


class TestWhenItTriesAgain:
    @pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
    def test_a_transient_failure_is_tried_again(self, status: int) -> None:
        with loopback_prometheus(in_turn(Reply(status=status), Reply(status=status), OK)) as double:
            assert sent(double).status == 200
            assert len(double.asked) == 3

    @pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 405, 422])
    def test_any_other_answer_is_final(self, status: int) -> None:
        with loopback_prometheus(Reply(status=status, headers={"Location": "/elsewhere"})) as double:
            assert sent(double).status == status
            assert len(double.asked) == 1

    def test_a_failure_that_lasts_is_the_answer_after_all_attempts(self) -> None:
        with loopback_prometheus(Reply(status=503, body=b"overloaded")) as double:
            answer = sent(double, attempts=3)
            assert (answer.status, answer.text, answer.transient) == (503, "overloaded", True)
            assert len(double.asked) == 3

    def test_a_server_that_asks_to_wait_longer_than_our_longest_wait_is_asked_after_that(self) -> None:
        busy = Reply(status=429, headers={"Retry-After": "3600"})
        with loopback_prometheus(in_turn(busy, OK)) as double:
            assert sent(double).status == 200

    @pytest.mark.parametrize("header", ["Retry-After", "X-RateLimit-Reset"])
    def test_the_answer_says_when_to_come_back_and_what_time_it_is_there(self, header: str) -> None:
        with loopback_prometheus(Reply(status=429, headers={header: "30"})) as double:
            answer = sent(double, attempts=1)
        assert answer.retry_after_s == 30
        assert answer.at is not None
        assert answer.at.tzinfo is UTC

    def test_a_server_that_does_not_answer_in_time_is_asked_again(self) -> None:
        with loopback_prometheus(in_turn(NEVER, OK)) as double:
            assert sent(double, timeout_s=1).status == 200
            assert len(double.asked) == 2

    def test_a_server_that_never_answers_is_unreachable(self) -> None:
        with loopback_prometheus(NEVER) as double, pytest.raises(Unreachable, match=r"no answer within 0\.1 s"):
            sent(double, timeout_s=0.1)

    def test_a_port_where_nobody_listens_is_unreachable(self) -> None:
        endpoint = Endpoint(base_url=f"http://127.0.0.1:{free_port()}", attempts=2, retry_wait_s=0)
        with opened(endpoint) as api, pytest.raises(Unreachable, match="refused"):
            api.send("POST", "path", {})

    def test_a_host_that_does_not_exist_is_unreachable(self) -> None:
        with opened(Endpoint(base_url="http://nowhere.invalid", attempts=1)) as api, pytest.raises(Unreachable):
            api.send("POST", "path", {})

    def test_no_more_requests_are_in_flight_than_connections_allowed(self) -> None:
        with loopback_prometheus(OK) as double, opened(Endpoint(base_url=double.url, connections=2)) as api, ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda _: api.send("POST", "path", {}), range(24)))
            assert len(double.asked) == 24
            assert double.most_at_once <= 2


@contextmanager
def full_house() -> Iterator[socket.socket]:
    """A listening socket that takes no further connection: whoever comes waits."""
    with socket.socket() as door, socket.socket() as first, socket.socket() as second:
        door.bind(("127.0.0.1", 0))
        door.listen(0)
        for visitor in (first, second):
            visitor.setblocking(False)  # noqa: FBT003  # the signature is the library's
            visitor.connect_ex(door.getsockname())
        yield door


class TestWhenNobodyIsThere:
    def test_one_request_finds_out_and_the_others_are_told_at_once(self) -> None:
        with full_house() as door, ThreadPoolExecutor(2) as pool:
            url = f"http://127.0.0.1:{door.getsockname()[1]}"
            with opened(Endpoint(base_url=url, timeout_s=1.5, attempts=1)) as api:
                with pytest.raises(Unreachable, match="nobody takes the connection"):
                    api.send("POST", "path", {})
                both = [pool.submit(api.send, "POST", "path", {}) for _ in range(2)]
                told, finding_out = wait(both, return_when=FIRST_COMPLETED)
                assert (len(told), len(finding_out)) == (1, 1)
                assert isinstance(told.pop().exception(), Unreachable)
                assert isinstance(finding_out.pop().exception(), Unreachable)

    def test_a_server_that_is_back_is_noticed_by_the_next_request(self) -> None:
        port = free_port()
        with opened(Endpoint(base_url=f"http://127.0.0.1:{port}", attempts=1)) as api:
            for _ in range(2):
                with pytest.raises(Unreachable):
                    api.send("POST", "path", {})
            with loopback_prometheus(OK, port=port):
                assert [api.send("POST", "path", {}).status for _ in range(2)] == [200, 200]

    def test_a_slow_answer_does_not_count_as_nobody_there(self) -> None:
        with loopback_prometheus(in_turn(NEVER, OK)) as double, opened(Endpoint(base_url=double.url, timeout_s=1, attempts=1)) as api:
            with pytest.raises(Unreachable, match="no answer"):
                api.send("POST", "path", {})
            assert api.send("POST", "path", {}).status == 200


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def server(authority: Authority) -> Certificate:
    return authority.sign("server")


def tls(certificate: Certificate, *, clients_of: Authority | None = None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.cert_file, certificate.key_file)
    if clients_of is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(clients_of.ca_file)
    return context


class TestTls:
    def test_a_server_of_our_own_authority_is_trusted_through_ca_file(self, authority: Authority, server: Certificate) -> None:
        with loopback_prometheus(OK, tls=tls(server)) as double:
            assert sent(double, ca_file=authority.ca_file).status == 200

    def test_a_server_of_an_unknown_authority_is_unreachable_and_the_remedy_is_named(self, server: Certificate) -> None:
        with loopback_prometheus(OK, tls=tls(server)) as double, pytest.raises(Unreachable, match=r"CERTIFICATE_VERIFY_FAILED.*ca_file"):
            sent(double, attempts=1)

    @pytest.mark.parametrize("with_ca", [True, False])
    def test_the_check_can_be_switched_off(self, tmp_path: Path, server: Certificate, with_ca: bool) -> None:
        ca_file = Authority(tmp_path, "another").ca_file if with_ca else None
        with loopback_prometheus(OK, tls=tls(server)) as double:
            assert sent(double, verify_tls=False, ca_file=ca_file).status == 200

    def test_our_certificate_is_shown_to_a_server_that_asks_for_it(self, authority: Authority, server: Certificate) -> None:
        client = authority.sign("client")
        with loopback_prometheus(OK, tls=tls(server, clients_of=authority)) as double:
            answer = sent(double, ca_file=authority.ca_file, cert_file=client.cert_file, key_file=client.key_file)
            assert answer.status == 200
            with pytest.raises(Unreachable):
                sent(double, ca_file=authority.ca_file, attempts=1)

    @pytest.mark.parametrize("name", ["absent.pem", "text.pem"])
    def test_a_file_that_is_missing_or_no_certificate_is_named(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "text.pem").write_text("no certificate")
        file = tmp_path / name
        with pytest.raises(Unusable, match=rf"ca_file .*{name} cannot be used"):
            Api(Endpoint(base_url="https://127.0.0.1", ca_file=file))
        with pytest.raises(Unusable, match=rf"client_cert_file .*{name} cannot be used"):
            Api(Endpoint(base_url="https://127.0.0.1", cert_file=file))

    def test_an_encrypted_key_is_refused_and_nobody_is_asked_for_its_phrase(self, tmp_path: Path) -> None:
        locked = Authority(tmp_path).sign("client", phrase=b"phrase")
        with loopback_prometheus(OK) as double, pytest.raises(Unusable, match="its key unencrypted"):
            sent(double, cert_file=locked.cert_file, key_file=locked.key_file)


class TestWhatItNeverTells:
    def test_secrets_are_masked_where_a_server_echoes_them(self, tmp_path: Path) -> None:
        (tmp_path / "token").write_text("from-a-file\n")
        endpoint = Endpoint(
            base_url="http://127.0.0.1",
            headers={"X-Api-Key": "key-0123456789", "X-Scope-OrgID": "1"},
            bearer="t0ken",
            bearer_file=tmp_path / "token",
            basic=("reader", "s3cret"),
        )
        with opened(endpoint) as api:
            masked = api.masked("key-0123456789 t0ken from-a-file s3cret cmVhZGVyOnMzY3JldA== of tenant 1")
        assert masked == "*** *** *** *** *** of tenant 1"

    def test_an_endpoint_shows_no_secret(self) -> None:
        shown = repr(Endpoint(base_url="http://127.0.0.1", headers={"X-Api-Key": "k3y"}, bearer="t0ken", basic=("reader", "s3cret")))
        assert not any(secret in shown for secret in ("k3y", "t0ken", "s3cret"))

    @pytest.mark.parametrize("token", ["tökén", "to\nken"])
    def test_a_token_that_http_cannot_carry_is_refused_without_being_shown(self, token: str) -> None:
        with loopback_prometheus(OK) as double, pytest.raises(Unusable, match="plain ASCII") as refused:
            sent(double, bearer=token)
        assert "ken" not in str(refused.value).replace("bearer token", "")

    def test_a_token_file_that_is_missing_is_named(self, tmp_path: Path) -> None:
        with loopback_prometheus(OK) as double, pytest.raises(Unusable, match=r"bearer_token_file .*absent cannot be read"):
            sent(double, bearer_file=tmp_path / "absent")


def test_an_api_that_was_forgotten_leaves_no_connection_open(recwarn: pytest.WarningsRecorder) -> None:
    with loopback_prometheus(OK) as double:
        api = Api(Endpoint(base_url=double.url))
        api.send("POST", "path", {"a": "1"})
        del api
        gc.collect()
    assert [str(each.message) for each in recwarn if "unclosed" in str(each.message)] == []


def test_an_api_that_is_closed_while_it_connects_leaves_no_connection_open(recwarn: pytest.WarningsRecorder) -> None:
    def asked(api: Api, begun: Event) -> None:
        begun.set()
        with suppress(Unreachable, RuntimeError):  # whoever is cut short is told
            api.send("GET", "path", {})

    with loopback_prometheus(OK) as double, ThreadPoolExecutor(1) as pool:
        for turn in range(60):
            api, begun = Api(Endpoint(base_url=double.url, attempts=1)), Event()
            asking = pool.submit(asked, api, begun)
            begun.wait()
            Event().wait(turn % 15 * 0.0004)  # before, while and after it connects
            api.close()
            asking.result()
            del api, asking
        gc.collect()
    assert [str(each.message) for each in recwarn if "unclosed" in str(each.message)] == []
