"""A real Prometheus with a recorded week of an LLM service, the command, and the real HPA controller between the floor and the pods."""

import gzip
import math
import shutil
import signal
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path

import pytest

from tests.cluster.control_plane import ControlPlane, eventually
from tests.cluster.granted import token_granted
from tests.cluster.kubelet import Kubelet, Pace
from tests.cluster.llm import METRIC, apply, deployment, eventually_ready, hpa, hpa_of, min_replicas, our_marks, ready
from tests.cluster.metrics_api import ExternalMetrics
from tests.end_to_end.desk import Desk
from tests.prometheus import counter, prometheus_server

START = datetime(2024, 5, 12, tzinfo=UTC)
"""When the packaged week of the Azure LLM inference trace begins, a Sunday."""
CARRIES = 300.0
LEAD = timedelta(hours=1)
"""A large model on a node that has to come first."""
NOON, RAMP = datetime(2024, 5, 16, 12, tzinfo=UTC), datetime(2024, 5, 16, 13, tzinfo=UTC)
"""Thursday: between these the load rises by a quarter."""


def per_minute() -> list[float]:
    lines = gzip.decompress(files("jobs.demo").joinpath("llm_azure2024_conv_1m.csv.gz").read_bytes()).decode().splitlines()
    return [float(line.partition(",")[2]) for line in lines[1:]]


RPM = per_minute()


def load(instant: datetime) -> float:
    """The mean of the five minutes before."""
    minute = round((instant - START).total_seconds() / 60)
    return sum(RPM[minute - 5 : minute]) / 5


def needed(instant: datetime) -> int:
    return math.ceil(load(instant) / CARRIES)


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Prometheus with the week, as requests counted."""
    with prometheus_server(tmp_path_factory.mktemp("prometheus"), counter("llm_requests_total", START, RPM)) as url:
        yield url


@pytest.fixture
def noon(cluster: ControlPlane, namespace: str, metrics: ExternalMetrics, kubelet: Kubelet) -> str:
    """The namespace of the service on Thursday at noon, scaled by its HPA alone."""
    kubelet.paces[namespace] = Pace(cold_start_s=1)
    metrics.values[namespace, METRIC] = load(NOON)
    apply(cluster, namespace, deployment(replicas=None), hpa(min_replicas=2, max_replicas=60, carries=CARRIES))
    eventually_ready(cluster, namespace, needed(NOON))
    return namespace


@pytest.fixture
def desk(tmp_path: Path, prometheus: str, cluster: ControlPlane, noon: str) -> Desk:
    """A configuration in mode auto, with the rights that deploy/ grants."""
    desk = desk_of(tmp_path / "desk", prometheus, cluster, noon, token_granted(cluster, noon))
    desk.folder.mkdir()
    desk.configure(configuration(cluster))
    return desk


@pytest.fixture(scope="module")
def foreseen_folder(tmp_path_factory: pytest.TempPathFactory, prometheus: str, cluster: ControlPlane) -> Path:
    """What the forecast job leaves at noon: it needs no target."""
    desk = desk_of(tmp_path_factory.mktemp("foreseen"), prometheus, cluster, "nowhere", "none")
    desk.configure(configuration(cluster))
    desk.done("forecast", at=NOON)
    return desk.folder


@pytest.fixture
def applied(desk: Desk, foreseen_folder: Path) -> Desk:
    """The desk after the forecast and the first apply at noon."""
    shutil.copytree(foreseen_folder, desk.folder, dirs_exist_ok=True)
    desk.done("apply", at=NOON)
    return desk


def desk_of(folder: Path, prometheus: str, cluster: ControlPlane, namespace: str, token: str) -> Desk:
    env = {"PROMETHEUS": prometheus, "KUBE": cluster.server, "KUBE_TOKEN": token, "NAMESPACE": namespace}
    return Desk(folder=folder, env=env)


def configuration(cluster: ControlPlane) -> dict[str, object]:
    reached = {"server": "${KUBE}", "token": "${KUBE_TOKEN}", "ca_file": str(cluster.ca_file)}
    target = {"type": "kubernetes-hpa", "namespace": "${NAMESPACE}", "name": "llm", "cluster": reached}
    pool = {"name": "gpu", "capacity": {"rpm": CARRIES}, "lead_time": {"warm": "10m", "cold": "1h"}, "targets": [target]}
    rpm = {"query": "sum(rate(llm_requests_total[2m])) * 60", "unit": "per_minute"}
    return {
        "sources": {"metrics": {"type": "prometheus", "url": "${PROMETHEUS}"}},
        "forecast": {"watched": []},
        "operating_point": {"workloads": 0},
        "workloads": [{"name": "llm", "source": "metrics", "signals": {"rpm": rpm}, "pools": [pool], "policy": {"mode": "auto"}}],
    }


def test_the_real_hpa_has_the_replicas_ready_before_the_ramp(
    desk: Desk, cluster: ControlPlane, noon: str, metrics: ExternalMetrics
) -> None:
    desk.done("run", at=NOON)
    floor = min_replicas(cluster, noon)
    assert floor >= needed(RAMP) > needed(NOON)
    eventually_ready(cluster, noon, floor)  # by a HPA that still measures the load of noon
    assert metrics.values[noon, METRIC] == load(NOON)
    asked = pods_asked(cluster, noon)
    metrics.values[noon, METRIC] = load(RAMP)
    eventually(lambda: abs(measured(cluster, noon) - load(RAMP)) < 1)
    assert pods_asked(cluster, noon) == asked  # nothing had to be started for it
    assert ready(cluster, noon) == floor


def test_a_reactive_hpa_alone_asks_for_them_only_when_the_ramp_is_there(cluster: ControlPlane, noon: str, metrics: ExternalMetrics) -> None:
    asked = pods_asked(cluster, noon)
    metrics.values[noon, METRIC] = load(RAMP)
    eventually_ready(cluster, noon, needed(RAMP))
    assert len(pods_asked(cluster, noon) - asked) == needed(RAMP) - needed(NOON)


def test_l44_with_forecaster_killed_the_floor_stays_and_the_hpa_goes_on_above_it(
    applied: Desk, cluster: ControlPlane, noon: str, metrics: ExternalMetrics
) -> None:
    floor, marks = min_replicas(cluster, noon), our_marks(cluster, noon)
    killed = applied.start("run", at=NOON + timedelta(minutes=5))
    killed.kill()
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    assert marks["forecaster/original"] == "2"
    metrics.values[noon, METRIC] = (floor + 4) * CARRIES  # more than anybody foresaw
    eventually_ready(cluster, noon, floor + 4)
    metrics.values[noon, METRIC] = CARRIES
    eventually_ready(cluster, noon, floor)
    assert (min_replicas(cluster, noon), our_marks(cluster, noon)) == (floor, marks)


def test_k34_a_second_writer_is_named_outlasted_and_the_replicas_stay(applied: Desk, cluster: ControlPlane, noon: str) -> None:
    floor = min_replicas(cluster, noon)
    eventually_ready(cluster, noon, floor)
    apply(cluster, noon, hpa(min_replicas=2, max_replicas=60, carries=CARRIES), manager="argocd-controller")
    assert min_replicas(cluster, noon) == 2
    again = applied.run("apply", at=NOON + timedelta(minutes=1))
    assert "argocd-controller" in again.out + again.err
    assert min_replicas(cluster, noon) >= needed(RAMP)
    eventually_ready(cluster, noon, min_replicas(cluster, noon))


def test_a_release_gives_the_fleet_back_to_the_hpa(applied: Desk, cluster: ControlPlane, noon: str) -> None:
    eventually_ready(cluster, noon, min_replicas(cluster, noon))
    applied.done("release", "llm", "-m", "handing back", at=NOON + timedelta(minutes=1))
    assert (min_replicas(cluster, noon), our_marks(cluster, noon)) == (2, {})
    eventually_ready(cluster, noon, needed(NOON))


def pods_asked(cluster: ControlPlane, namespace: str) -> frozenset[str]:
    """The names of the pods that there are."""
    return frozenset(cluster.kubectl("get", "pods", "--namespace", namespace, "-o", "name").split())


def measured(cluster: ControlPlane, namespace: str) -> float:
    """What the HPA controller measured last for all replicas together; it rounds what each of them gets."""
    (metric,) = hpa_of(cluster, namespace)["status"]["currentMetrics"]
    each: str = metric["external"]["current"]["averageValue"]
    return (float(each[:-1]) / 1000 if each.endswith("m") else float(each)) * ready(cluster, namespace)
