"""The daemon and `forecaster serve` as processes: the same questions, the same answers."""

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime

import grpc
import pytest

from jobs.apply import apply_fleet
from jobs.clock import SystemClock
from jobs.forecast import forecast_fleet
from jobs.postings import postings
from tests.jobs.cli.process import forecaster
from tests.jobs.daemon_process import DaemonProcess, load_to, started
from tests.jobs.hooks.keda import Keda
from tests.jobs.hooks.test_pages import asked
from tests.jobs.world import World, write_trace

SERVERS = ("daemon", "serve")
POOL = {"workload": "chat", "pool": "gpu"}


@pytest.fixture(autouse=True)
def now(world: World) -> datetime:
    """The present, two workloads, free ports, and one forecast and apply of a crontab."""
    now = SystemClock().now().replace(microsecond=0)
    write_trace(world.folder / "load.csv", load_to(now))
    world.config |= {"apply": {"every": "5s", "workers": 4}, "daemon": {"port": 0}, "serve": {"grpc": {"port": 0}}}
    world.workload("chat")
    world.workload("watched", mode="observe")
    with world.fleet() as fleet:
        forecast_fleet(fleet, now)
        apply_fleet(fleet, now)
    return now


def decided(world: World, name: str) -> int:
    with world.fleet() as fleet:
        return postings(fleet.store)[name, "gpu"].floor


@pytest.fixture(params=SERVERS)
def running(request: pytest.FixtureRequest, world: World) -> Iterator[DaemonProcess]:
    with started(request.param, world.path) as process:
        yield process


def doors(running: DaemonProcess) -> tuple[str, str]:
    """The addresses of the pages and of the scaler."""
    line = running.logs("serve")
    return line["url"], line["grpc"]


def test_both_answer_the_four_calls_of_keda_and_the_pages_alike(running: DaemonProcess, world: World) -> None:
    url, address = doors(running)
    with Keda(address) as keda:
        assert keda.spec(workload="chat") == ("forecaster-floor-chat", 1, 1.0)
        assert running.eventually(lambda: keda.metric(workload="chat", hpaTolerance="0")[1] == decided(world, "chat") > 2)
        assert keda.is_active(workload="chat")
        assert next(keda.stream_is_active(workload="chat"))
        assert keda.metric(workload="watched", hpaTolerance="0")[1] == 2
        with pytest.raises(grpc.RpcError, match="there is no workload 'nobody'"):
            keda.is_active(workload="nobody")
    assert running.eventually(lambda: asked(url, "/v1/workloads/chat/floor")[1]["floor"] == decided(world, "chat"))
    assert asked(url, "/v1/workloads/watched/floor")[1]["floor"] == 2
    assert asked(url, "/v1/workloads/nobody/replicas")[0] == 404
    assert asked(url, "/healthz")[0] == 200
    assert running.eventually(lambda: running.metric("forecaster_pull_floor_replicas", **POOL) == decided(world, "chat"))
    assert running.metric("forecaster_pull_floor_replicas", workload="watched", pool="gpu") == 2
    running.until("forecaster_planned_floor_replicas", 0, **POOL)
    running.until("forecaster_planned_floor_ahead_replicas", 0, **POOL)
    running.until("forecaster_floor_replicas", 2, workload="watched")
    running.stop()


def test_a_stream_that_is_open_does_not_hold_up_the_end(running: DaemonProcess) -> None:
    with Keda(doors(running)[1]) as keda:
        told = keda.stream_is_active(workload="chat")
        assert next(told)
        running.stop()
        with pytest.raises(grpc.RpcError):
            list(told)


@pytest.mark.parametrize("command", SERVERS)
@pytest.mark.parametrize("door", ["daemon", "serve.grpc"])
def test_a_port_in_use_is_one_sentence_and_an_exit_code(world: World, command: str, door: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        world.config |= {"daemon": {"port": port}} if door == "daemon" else {"serve": {"grpc": {"port": port}}}
        ended = forecaster(world.folder, command, "--config", str(world.path))
    assert ended.code == 2
    (sentence,) = [line for line in ended.err.splitlines() if not line.startswith("{")]
    assert sentence.startswith(f"forecaster: {door}.host and {door}.port: 127.0.0.1:{port} cannot be listened on")


def test_serve_asks_no_source_and_no_cluster_and_tells_what_the_next_apply_decides(world: World) -> None:
    with started("serve", world.path) as running:
        url, address = doors(running)
        requests = len(world.api.requests)
        (world.folder / "load.csv").unlink()
        with Keda(address) as keda:
            assert keda.metric(workload="chat", hpaTolerance="0")[1] == decided(world, "chat")
        assert len(world.api.requests) == requests
        assert override(world, 31) == 31
        running.eventually(lambda: asked(url, "/v1/workloads/chat/floor")[1]["floor"] == 31)
        running.stop()


def test_serve_takes_a_new_configuration_at_sighup_and_keeps_the_old_one_when_it_is_bad(world: World) -> None:
    with started("serve", world.path) as running:
        url, _ = doors(running)
        world.config["aply"] = {}
        assert world.path.is_file()
        running.send(signal.SIGHUP)
        assert running.says("did you mean apply?")["level"] == "error"
        assert asked(url, "/v1/workloads/chat/floor")[0] == 200
        del world.config["aply"]
        world.workload("code")
        assert world.path.is_file()
        running.send(signal.SIGHUP)
        running.says("is in force")
        assert asked(url, "/v1/workloads/code/floor")[0] == 503
        running.stop(signal.SIGINT)


def test_what_serve_begins_with_loads_no_model_and_no_grpc_unless_it_is_asked_for() -> None:
    unwanted = ("grpc", "statsmodels", "prophet", "lightgbm", "pandas", "forecaster.models")
    code = f"import sys, jobs.cli.serve, jobs.hooks.serve; print(*[name for name in {unwanted} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - our own interpreter
    assert done.stdout.split() == []


def test_serve_on_a_store_in_memory_says_that_it_is_another_processes(world: World) -> None:
    world.config["store"] = "memory:"
    ended = forecaster(world.folder, "serve", "--config", str(world.path))
    assert (ended.code, "store: memory: is another process's own" in ended.err) == (2, True)


def override(world: World, replicas: int) -> int:
    """A person's floor, and the floor that the next apply of the crontab decides."""
    set_to = ("override", "set", "chat", str(replicas), "--reason", "launch", "--author", "ada")
    assert forecaster(world.folder, *set_to, "--config", str(world.path)).code == 0
    with world.fleet() as fleet:
        apply_fleet(fleet, SystemClock().now().replace(microsecond=0))
    return decided(world, "chat")
