"""What the configuration of a Prometheus source takes, refuses and never shows."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from connectors.sources.prometheus import PrometheusConfig
from connectors.sources.registry import SourceConfig
from forecaster.errors import SourceRejected
from tests.connectors.sources.asking import HOUR, QUERY, opened, ramp
from tests.loopback_prometheus import Asked, Reply, loopback_prometheus


def test_they_reach_the_server_and_no_message_or_repr() -> None:
    def echo(asked: Asked) -> Reply:
        return Reply(status=401, body=f"bad credentials {asked.headers['Authorization']}".encode())

    with loopback_prometheus(echo) as double, opened(double.url, bearer_token="t0p-s3cret") as source:
        with pytest.raises(SourceRejected) as refused:
            source.fetch(QUERY, HOUR, 60)
        assert double.asked[0].headers["Authorization"] == "Bearer t0p-s3cret"
    assert "t0p-s3cret" not in str(refused.value)


def test_credentials_in_the_url_are_used_and_shown_nowhere() -> None:
    with loopback_prometheus(Reply(status=400)) as double:
        url = double.url.replace("//", "//reader:pa%40ss@")
        config = PrometheusConfig(type="prometheus", url=url)
        with opened(url) as source, pytest.raises(SourceRejected) as refused:
            source.fetch(QUERY, HOUR, 60)
        assert double.asked[0].headers["Authorization"] == "Basic cmVhZGVyOnBhQHNz"
    assert config.url == double.url
    assert not any(
        secret in text for text in (repr(config), config.model_dump_json(), str(refused.value)) for secret in ("pa%40ss", "pa@ss")
    )


def test_the_tenant_goes_with_every_chunk() -> None:
    with loopback_prometheus(ramp) as double, opened(double.url, max_points=10, headers={"X-Scope-OrgID": "tenant-a"}) as source:
        source.fetch(QUERY, HOUR, 60)
        assert [asked.headers["X-Scope-OrgID"] for asked in double.asked] == ["tenant-a"] * 6


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"url": "prometheus:9090"}, "must start with http"),
        ({"url": "ftp://prometheus"}, "must start with http"),
        ({"url": "http://"}, "must start with http"),
        ({"url": "http://prometheus:port"}, "[Pp]ort"),
        ({"url": "http://prometheus/api/v1/query"}, "must end before /api/v1"),
        ({"url": "http://prometheus/?tenant=a"}, "must not hold"),
        ({"bearer_token": "a", "basic_auth": {"username": "b", "password": "c"}}, "only one of"),
        ({"url": "http://u:p@prometheus", "basic_auth": {"username": "b", "password": "c"}}, "stand in url and in basic_auth"),
        ({"client_key_file": "key.pem"}, "needs client_cert_file"),
        ({"bearer_token": "a", "sigv4": {"region": "eu-west-1"}}, "only one of"),
        ({"google": {}, "azure": {}}, "only one of .* google and azure"),
        ({"sigv4": {}}, "region"),
        ({"parameters": {"step": "5m"}}, "must not hold step"),
        ({"max_points": 11_001}, "max_points"),
        ({"attempts": 0}, "attempts"),
        ({"timeout": 3}, "timeout\n"),
    ],
)
def test_what_cannot_work_is_refused_with_its_place(settings: dict[str, Any], sentence: str) -> None:
    document = {"type": "prometheus", "url": "http://prometheus:9090", **settings}
    with pytest.raises(ValidationError, match=sentence):
        TypeAdapter[SourceConfig](SourceConfig).validate_python(document)


def test_an_unknown_type_is_refused_with_those_there_are() -> None:
    with pytest.raises(ValidationError, match="'csv', 'prometheus'"):
        TypeAdapter[SourceConfig](SourceConfig).validate_python({"type": "influx"})


def test_every_setting_is_documented() -> None:
    for name, field in PrometheusConfig.model_fields.items():
        assert name == "type" or (field.description is not None and "efault" in field.description), name
