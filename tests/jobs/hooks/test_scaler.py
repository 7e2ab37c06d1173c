"""KEDA's external scaler on a real port: values, statuses, streams, TLS."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import grpc
import pytest

from forecaster.errors import ConfigRejected
from forecaster.workload import Mode
from jobs.hooks.scaler import SERVICE, metric_name
from jobs.hooks.server import ScalerServer, Tls
from jobs.hooks.wire.externalscaler_pb2 import DESCRIPTOR
from tests.connectors.http.certificates import Authority
from tests.jobs.hooks.desks import Room, posting, workload
from tests.jobs.hooks.keda import Keda

SECOND = timedelta(seconds=1)


@contextmanager
def serving(room: Room, tls: Tls | None = None) -> Iterator[str]:
    server = ScalerServer(room.desk, "127.0.0.1", 0, tls)
    try:
        server.start()
        yield server.address
    finally:
        server.stop()


@contextmanager
def keda(room: Room) -> Iterator[Keda]:
    with serving(room) as address, Keda(address) as caller:
        yield caller


@contextmanager
def refused(code: grpc.StatusCode, words: str) -> Iterator[None]:
    with pytest.raises(grpc.RpcError) as caught:
        yield
    error = caught.value
    assert isinstance(error, grpc.Call)
    assert error.code() is code
    assert words in (error.details() or "")


def test_one_replica_stands_for_one_and_the_value_is_the_floor() -> None:
    room = Room()
    room.post(posting(9, ready=9, pending=0))
    with keda(room) as caller:
        assert caller.spec(workload="chat") == ("forecaster-floor-chat", 1, 1.0)
        assert caller.metric("forecaster-floor-chat", workload="chat") == ("forecaster-floor-chat", 9, 9.0)
        assert caller.is_active(workload="chat")


def test_a_metric_has_the_name_that_its_trigger_gives_it() -> None:
    room = Room(workloads=(workload("chat", "h100", "l4"),))
    room.post(posting(3), pool="h100")
    with keda(room) as caller:
        assert caller.spec(workload="chat", pool="h100")[0] == "forecaster-floor-chat-h100"
        assert caller.spec(workload="chat", pool="h100", metricName="floor")[0] == "floor"
        with refused(grpc.StatusCode.INVALID_ARGUMENT, "metadata.metricName must be"):
            caller.spec(workload="chat", pool="h100", metricName="a/b")


@pytest.mark.parametrize("name", ["Chat_7B.v2", "chat", "7b"])
def test_the_name_of_a_metric_is_one_that_kubernetes_takes_in_a_path(name: str) -> None:
    assert re.fullmatch(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", metric_name(name, "gpu"))


def test_only_a_floor_of_zero_is_inactive() -> None:
    room = Room()
    room.post(posting(0, least=0, original=0))
    with keda(room) as caller:
        assert not caller.is_active(workload="chat")
        assert caller.metric(workload="chat")[1:] == (0, 0.0)


def test_in_observe_the_fallback_is_answered() -> None:
    room = Room(workloads=(workload(mode=Mode.OBSERVE, fallback=4),))
    room.post(posting(30, mode=Mode.OBSERVE))
    with keda(room) as caller:
        assert caller.metric(workload="chat")[1] == 4


def test_k26_the_last_step_of_a_ramp_is_told_so_that_the_hpa_takes_it() -> None:
    room = Room()
    room.post(posting(21, ready=18, pending=2))
    with keda(room) as caller:
        assert caller.metric(workload="chat")[1] == 23
        assert caller.metric(workload="chat", hpaTolerance="0")[1] == 21
        for wrong in ("ten", "1", "-0.1", "nan"):
            with refused(grpc.StatusCode.INVALID_ARGUMENT, "metadata.hpaTolerance must be a number"):
                caller.metric(workload="chat", hpaTolerance=wrong)


def test_what_is_not_there_or_not_known_is_a_status_with_a_sentence_and_never_a_number() -> None:
    room = Room(workloads=(workload(), workload("code", "h100", "l4")))
    with keda(room) as caller:
        for call in (caller.is_active, caller.spec, caller.metric):
            with refused(grpc.StatusCode.NOT_FOUND, "there is no workload 'chatt'"):
                call(workload="chatt")
            with refused(grpc.StatusCode.INVALID_ARGUMENT, "code has several pools: name one of h100, l4"):
                call(workload="code")
            with refused(grpc.StatusCode.INVALID_ARGUMENT, "code has no pool 'a100'"):
                call(workload="code", pool="a100")
            with refused(grpc.StatusCode.INVALID_ARGUMENT, "the trigger of ScaledObject serving/llm names no workload"):
                call()
        for ask in (caller.is_active, caller.metric):
            with refused(grpc.StatusCode.UNAVAILABLE, "nothing is known of pool gpu yet"):
                ask(workload="chat")
        assert caller.spec(workload="chat")[0] == "forecaster-floor-chat"
    assert {failed.error for failed in room.failures} == {"WorkloadUnknown", "PoolUnknown", "FloorUnknown"}


def test_a_stream_tells_at_once_and_whenever_the_floor_has_changed() -> None:
    room = Room()
    room.post(posting(3))
    with keda(room) as caller:
        told = caller.stream_is_active(workload="chat")
        assert next(told)
        room.pass_time(5 * SECOND)
        room.post(posting(0, at=room.clock.now(), least=0, original=0))
        assert not next(told)
        room.pass_time(5 * SECOND)
        room.decide(4)
        assert next(told)


def test_a_stream_ends_with_the_server() -> None:
    room = Room()
    room.post(posting(3))
    with serving(room) as address, Keda(address) as caller:
        told = caller.stream_is_active(workload="chat")
        assert next(told)
        leaving = ScalerServer(room.desk, "127.0.0.1", 0)
        leaving.stop()
    with pytest.raises(grpc.RpcError):
        list(told)


def test_streams_take_nobody_elses_turn() -> None:
    room = Room(workloads=tuple(workload(f"w{i}") for i in range(20)))
    for i in range(20):
        room.post(posting(i + 2), name=f"w{i}")
    with keda(room) as caller:
        streams = [caller.stream_is_active(workload=f"w{i}") for i in range(20)]
        assert [next(told) for told in streams] == [True] * 20
        assert [caller.metric(workload=f"w{i}")[1] for i in range(9)] == list(range(2, 11))


def test_with_tls_only_callers_of_the_named_authority_are_answered(tmp_path: Path) -> None:
    ours, theirs = Authority(tmp_path, "ours"), Authority(tmp_path, "theirs")
    server, caller, stranger = ours.sign("server"), ours.sign("caller"), theirs.sign("stranger")
    room = Room()
    room.post(posting(5))
    root = ours.ca_file.read_bytes()
    with serving(room, Tls(cert=server.cert_file, key=server.key_file, client_ca=ours.ca_file)) as address:
        known = grpc.ssl_channel_credentials(root, caller.key_file.read_bytes(), caller.cert_file.read_bytes())
        with Keda(address, known) as welcome:
            assert welcome.metric(workload="chat")[1] == 5
        unknown = grpc.ssl_channel_credentials(root, stranger.key_file.read_bytes(), stranger.cert_file.read_bytes())
        with Keda(address, unknown) as turned_away, refused(grpc.StatusCode.UNAVAILABLE, ""):
            turned_away.metric(workload="chat")
        with Keda(address) as plain, refused(grpc.StatusCode.UNAVAILABLE, ""):
            plain.metric(workload="chat")


def test_with_tls_and_no_authority_whoever_speaks_it_is_answered(tmp_path: Path) -> None:
    ours = Authority(tmp_path)
    server = ours.sign("server")
    room = Room()
    room.post(posting(5))
    trusting = grpc.ssl_channel_credentials(ours.ca_file.read_bytes())
    with serving(room, Tls(cert=server.cert_file, key=server.key_file)) as address, Keda(address, trusting) as caller:
        assert caller.metric(workload="chat")[1] == 5


def test_pem_files_that_are_none_are_named_before_anybody_asks(tmp_path: Path) -> None:
    wrong = tmp_path / "server.pem"
    wrong.write_text("nothing")
    for cert in (wrong, tmp_path / "missing.pem"):
        with pytest.raises(ConfigRejected, match=r"serve\.grpc\.tls: .*cannot be used .* the key unencrypted"):
            ScalerServer(Room().desk, "127.0.0.1", 0, Tls(cert=cert, key=cert))


def test_an_encrypted_key_is_refused_and_nobody_is_asked_for_its_phrase(tmp_path: Path) -> None:
    locked = Authority(tmp_path).sign("server", phrase=b"phrase")
    with pytest.raises(ConfigRejected, match=r"serve\.grpc\.tls: .*cannot be used .* the key unencrypted"):
        ScalerServer(Room().desk, "127.0.0.1", 0, Tls(cert=locked.cert_file, key=locked.key_file))


def test_names_and_numbers_on_the_wire_are_kedas() -> None:
    assert {name: {field.name: field.number for field in kind.fields} for name, kind in DESCRIPTOR.message_types_by_name.items()} == {
        "ScaledObjectRef": {"name": 1, "namespace": 2, "scalerMetadata": 3},
        "IsActiveResponse": {"result": 1},
        "GetMetricSpecResponse": {"metricSpecs": 1},
        "MetricSpec": {"metricName": 1, "targetSize": 2, "targetSizeFloat": 3},
        "GetMetricsRequest": {"scaledObjectRef": 1, "metricName": 2},
        "GetMetricsResponse": {"metricValues": 1},
        "MetricValue": {"metricName": 1, "metricValue": 2, "metricValueFloat": 3},
    }
    service = DESCRIPTOR.services_by_name["ExternalScaler"]
    assert service.full_name == SERVICE
    assert [method.name for method in service.methods] == ["IsActive", "StreamIsActive", "GetMetricSpec", "GetMetrics"]


def test_a_port_that_is_taken_is_told_in_a_sentence() -> None:
    with serving(Room()) as address:
        port = int(address.rpartition(":")[2])
        with pytest.raises(ConfigRejected, match=rf"serve\.grpc\.port: 127\.0\.0\.1:{port} cannot be listened on"):
            ScalerServer(Room().desk, "127.0.0.1", port)
