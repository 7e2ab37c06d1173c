"""Prometheus as a service of a cloud: who asks, and what is said where a login fails. Clouds are loopback doubles, clients are real."""

import hashlib
import hmac
import json
import os
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from connectors.sources.prometheus import PrometheusConfig
from forecaster.errors import SourceRejected, SourceUnavailable
from tests.aws import AWS_ENV, aws_to_ask
from tests.connectors.sources.asking import HOUR, QUERY, opened, ramp
from tests.loopback_prometheus import Asked, Behaviour, Reply, failure, loopback_prometheus
from tests.services import free_port
from tests.tokens import tokens_to_ask

MINUTES = list(range(60))
SIGV4 = {"region": "eu-west-1"}


def signature(asked: Asked, *, host: str, body: bytes, secret: str) -> str:
    """Signature Version 4 as AWS documents it: SHA-256 over the canonical request, under a key of day, region and service."""
    _, fields = asked.headers["Authorization"].split(" ", 1)
    scope, signed = (dict(field.split("=", 1) for field in fields.split(", "))[name] for name in ("Credential", "SignedHeaders"))
    given = {name.lower(): value for name, value in asked.headers.items()} | {"host": host}
    canonical = [asked.method, asked.path, "", *(f"{name}:{given[name]}" for name in signed.split(";")), "", signed]
    request = "\n".join([*canonical, hashlib.sha256(body).hexdigest()])
    text = "\n".join(["AWS4-HMAC-SHA256", given["x-amz-date"], scope.split("/", 1)[1], hashlib.sha256(request.encode()).hexdigest()])
    key = f"AWS4{secret}".encode()
    for part in [*scope.split("/")[1:], text]:
        key = hmac.digest(key, part.encode(), "sha256")
    return key.hex()


@pytest.fixture
def environment() -> Iterator[pytest.MonkeyPatch]:
    """The environment of a process with keys of AWS and nothing else."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in AWS_ENV.items():
            patch.setenv(name, value)
        yield patch


def asked_once(behaviour: Behaviour | Reply, **settings: Any) -> Asked:
    """What reaches the server of a query that it answers."""
    with loopback_prometheus(behaviour) as double, opened(double.url, **settings) as source:
        assert source.fetch(QUERY, HOUR, 60).mean.tolist() == MINUTES
        return double.asked[-1]


class TestAws:
    def test_every_query_is_signed_for_the_service_in_the_region(self, environment: pytest.MonkeyPatch) -> None:
        environment.setenv("AWS_SECRET_ACCESS_KEY", "s3cret")
        with loopback_prometheus(ramp) as double:
            with opened(f"{double.url}/workspaces/ws-1", sigv4=SIGV4, max_points=30) as source:
                assert source.fetch(QUERY, HOUR, 60).mean.tolist() == MINUTES
            for asked in double.asked:
                assert asked.path == "/workspaces/ws-1/api/v1/query_range"
                assert "/eu-west-1/aps/aws4_request" in asked.headers["Authorization"]
                given = asked.headers["Authorization"].rpartition("Signature=")[2]
                assert given == signature(asked, host=urlsplit(double.url).netloc, body=asked.body, secret="s3cret")

    def test_a_session_sends_its_token(self, environment: pytest.MonkeyPatch) -> None:
        environment.setenv("AWS_SESSION_TOKEN", "session-token-of-the-pod")
        assert asked_once(ramp, sigv4=SIGV4).headers["X-Amz-Security-Token"] == "session-token-of-the-pod"

    def test_a_role_is_assumed_first_and_its_own_keys_sign(self) -> None:
        with aws_to_ask() as aws, pytest.MonkeyPatch.context() as environment:
            environment.setenv("AWS_ENDPOINT_URL_STS", aws.url)
            asked = asked_once(ramp, sigv4={**SIGV4, "role": "arn:aws:iam::210987654321:role/metrics"})
        assert "AssumeRole" in aws.operations
        assert "Credential=ASIA" in asked.headers["Authorization"]
        assert asked.headers["X-Amz-Security-Token"]

    def test_a_token_service_that_is_away_is_unavailable(self, environment: pytest.MonkeyPatch) -> None:
        environment.setenv("AWS_ENDPOINT_URL_STS", f"http://127.0.0.1:{free_port()}")
        environment.setenv("AWS_MAX_ATTEMPTS", "1")
        role = {**SIGV4, "role": "arn:aws:iam::210987654321:role/metrics"}
        with pytest.raises(SourceUnavailable, match=r"cannot be reached: AWS credentials cannot be had: .*; it is asked again"):
            asked_once(ramp, sigv4=role)

    def test_missing_credentials_are_refused_with_what_to_set(self, environment: pytest.MonkeyPatch) -> None:
        environment.delenv("AWS_ACCESS_KEY_ID")
        with pytest.raises(SourceRejected, match="no AWS credentials are found; give the pod or machine a role"):
            asked_once(ramp, sigv4=SIGV4)

    def test_a_profile_that_is_not_there_is_refused(self, environment: pytest.MonkeyPatch) -> None:
        environment.setenv("AWS_CONFIG_FILE", os.devnull)
        with pytest.raises(SourceRejected, match=r"profile \(team\) could not be found"):
            asked_once(ramp, sigv4={**SIGV4, "profile": "team"})

    @pytest.mark.usefixtures("environment")
    @pytest.mark.parametrize(
        ("said", "sentence"),
        [
            (
                "Signature expired: 20260302T080000Z is now earlier than 20260302T081500Z (20260302T082000Z - 5 min.)",
                "finds our clock wrong: Signature expired: 20260302T080000Z is now .*; set the clock of this machine",
            ),
            ("Signature not yet current: 20260302T090000Z is still later than ...", "finds our clock wrong: .*; set the clock"),
            ("The security token included in the request is expired", "finds our credentials expired: .*; renew them"),
            ("User: arn:aws:iam::1:user/a is not authorized to perform: aps:QueryMetrics", "forbids the query: .*aps:QueryMetrics"),
        ],
    )
    def test_what_is_wrong_with_a_signature_is_said_with_its_remedy(self, said: str, sentence: str) -> None:
        with pytest.raises(SourceRejected, match=sentence):
            asked_once(Reply(status=403, body=json.dumps({"message": said}).encode()), sigv4=SIGV4)

    def test_a_server_that_echoes_the_token_does_not_show_it(self, environment: pytest.MonkeyPatch) -> None:
        environment.setenv("AWS_SESSION_TOKEN", "session-token-of-the-pod")

        def echo(asked: Asked) -> Reply:
            return failure(400, f"bad token {asked.headers['X-Amz-Security-Token']}")

        with pytest.raises(SourceRejected) as refused:
            asked_once(echo, sigv4=SIGV4)
        assert "session-token-of-the-pod" not in str(refused.value)


class TestGoogle:
    def test_queries_carry_the_token_of_the_identity_by_get_and_with_documented_parameters_only(self) -> None:
        with tokens_to_ask() as tokens:
            asked = asked_once(ramp, google={})
        assert tokens.asked == ["https://www.googleapis.com/auth/monitoring.read"]
        assert asked.headers["Authorization"] == "Bearer google-1"
        assert asked.method == "GET"
        assert set(asked.form) == {"query", "start", "end", "step", "timeout"}

    def test_a_token_that_was_revoked_is_replaced(self) -> None:
        def choosy(asked: Asked) -> Reply:
            return ramp(asked) if asked.headers["Authorization"] == "Bearer google-2" else Reply(status=401)

        with tokens_to_ask():
            asked_once(choosy, google={})

    def test_an_identity_that_was_disabled_is_refused_with_the_words_of_its_cloud(self) -> None:
        with tokens_to_ask() as tokens:
            tokens.refuse_next(400, times=9)
            with pytest.raises(SourceRejected, match=r"cannot be asked: Google gives us no token: .*disabled"):
                asked_once(ramp, google={})


class TestAzure:
    def test_queries_carry_the_token_of_the_identity(self) -> None:
        with tokens_to_ask() as tokens:
            assert asked_once(ramp, azure={}).headers["Authorization"] == "Bearer azure-1"
        assert tokens.asked == ["https://prometheus.monitor.azure.com"]


@pytest.mark.parametrize("settings", [{"sigv4": SIGV4}, {"google": {}}, {"azure": {}}])
def test_a_login_is_looked_for_when_the_source_is_asked_and_not_when_it_is_opened(settings: dict[str, Any]) -> None:
    assert PrometheusConfig.model_validate({"type": "prometheus", "url": "http://127.0.0.1:1", **settings}).endpoint() is not None
