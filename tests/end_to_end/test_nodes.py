"""Machines under replicas, from the command to AWS and Kubernetes: in order, ahead of the ramp, out of stock, and throttled."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.aws import AWS_ENV, REGION, Aws, aws_to_ask
from tests.end_to_end.desk import Desk, Outcome
from tests.end_to_end.fleets import HPA, Config, on_csv
from tests.end_to_end.machines import NO_STOCK, Machines
from tests.end_to_end.service import CARRY_RPM, DAY_RPM, clock, trace_csv, true_rpm
from tests.kube_api import KubeApi

MINUTE = timedelta(minutes=1)
TICK = 5 * MINUTE


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What stood at a tick: floors of machines and of replicas, both at work, and what the cycle said."""

    at: datetime
    nodes: int
    replicas: int
    in_service: int
    ready: int
    said: Outcome

    @property
    def reasons(self) -> dict[str, dict[str, str]]:
        """By target: the detail of each reason, by its code."""
        (workload,) = self.said.json["workloads"]
        return {each["target"]: {reason["code"]: reason["detail"] for reason in each["reasons"]} for each in workload["decisions"]}


@dataclass(frozen=True, kw_only=True)
class Morning:
    """The desk, its machines by pool, and what was seen of the first one so far."""

    desk: Desk
    kube: KubeApi
    aws: Aws
    pools: dict[str, Machines]
    looks: list[Look] = field(default_factory=list)

    def go(self, first: str, last: str, every: timedelta = TICK) -> list[Look]:
        """A cycle every five minutes or as often as that, both ends included."""
        before, now = len(self.looks), clock(first)
        while now <= clock(last):
            for machines in self.pools.values():
                machines.tick(now)
            gpu = next(iter(self.pools.values()))
            there = gpu.in_service, gpu.ready
            said = self.desk.run("apply", "--json", at=now)
            self.looks.append(Look(at=now, nodes=gpu.floors[0], replicas=gpu.floors[1], in_service=there[0], ready=there[1], said=said))
            now += every
        return self.looks[before:]


def pool(name: str, **settings: object) -> Config:
    """Replicas on machines of their own."""
    group = {"type": "asg", "group": name, "region": REGION, "endpoint_url": "${AWS}"}
    lead_time = {"warm": "10m", "cold": "25m"}
    return {"name": name, "capacity": {"rpm": CARRY_RPM}, "lead_time": lead_time, "targets": [HPA | {"name": name}, group], **settings}


POOLS = (pool("gpu"), pool("spot", share=0.1, stands_in_for="gpu"))


def morning(desk: Desk, kube: KubeApi, aws: Aws, *pools: Config) -> Morning:
    """Machines that boot in 10 minutes, models that load in 10, and a desk that has not looked ahead yet."""
    machines = {each["name"]: Machines(aws=aws, kube=kube, name=each["name"], boots=10 * MINUTE, loads=10 * MINUTE) for each in pools}
    config = on_csv()
    config["workloads"][0]["pools"] = list(pools)
    desk.configure(config)
    return Morning(desk=desk, kube=kube, aws=aws, pools=machines)


def desk_of(folder: Path, kube: KubeApi, aws: Aws) -> Desk:
    return Desk(folder=folder, env={"KUBE": kube.url, "AWS": aws.url} | AWS_ENV)


@pytest.fixture(scope="module")
def foreseen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a forecast of 05:30 leaves behind."""
    folder = tmp_path_factory.mktemp("foreseen")
    (folder / "load.csv").write_text(trace_csv())
    with KubeApi() as kube, aws_to_ask() as aws:
        made = morning(desk_of(folder, kube, aws), kube, aws, *POOLS)
        made.desk.done("forecast", at=clock("05:30"))
    return folder


@contextmanager
def after(foreseen: Path, folder: Path, *pools: Config) -> Iterator[Morning]:
    """A morning of its own after that forecast."""
    shutil.copytree(foreseen, folder, dirs_exist_ok=True)
    with KubeApi() as kube, aws_to_ask() as aws:
        yield morning(desk_of(folder, kube, aws), kube, aws, *pools)


@pytest.fixture
def fresh(foreseen: Path, tmp_path: Path) -> Iterator[Morning]:
    """The pool `gpu` before its first cycle."""
    with after(foreseen, tmp_path / "desk", POOLS[0]) as made:
        yield made


@pytest.fixture(scope="module")
def ramp(foreseen: Path, tmp_path_factory: pytest.TempPathFactory) -> Morning:
    """The morning as it should be."""
    with after(foreseen, tmp_path_factory.mktemp("ramp"), POOLS[0]) as made:
        made.go("06:40", "08:00")
    return made


def first(looks: list[Look], at_least: int, what: str) -> datetime:
    """When so many of it stood there first."""
    return next(look.at for look in looks if getattr(look, what) >= at_least)


def test_machines_are_asked_for_by_as_much_as_they_take_before_the_replicas_and_both_before_the_ramp(ramp: Morning) -> None:
    top = ramp.looks[-1].replicas
    for count in range(3, top):  # the last one is of live load, which nobody saw coming
        nodes, replicas = first(ramp.looks, count, "nodes"), first(ramp.looks, count, "replicas")
        assert nodes <= replicas - 10 * MINUTE, (count, nodes, replicas)  # cold - warm is 15 minutes, looked at every five
    assert all(look.nodes >= look.replicas for look in ramp.looks)
    assert first(ramp.looks, 3, "nodes") < first(ramp.looks, 3, "replicas") < clock("07:00")
    assert all(look.ready >= min(true_rpm(look.at) / CARRY_RPM, look.replicas) for look in ramp.looks if look.at <= clock("07:45"))


def test_within_a_cycle_machines_are_written_before_the_replicas_on_them(fresh: Morning) -> None:
    written: list[int] = []
    fresh.aws.after_next("UpdateAutoScalingGroup", lambda: written.append(len(fresh.kube.writes)))
    fresh.go("07:30", "07:30")
    assert (written, len(fresh.kube.writes)) == ([0], 1)


def test_the_ledger_tells_when_both_were_asked_for_and_that_all_was_there_in_time(ramp: Morning) -> None:
    top = ramp.looks[-1].replicas
    asked, nodes = (first(ramp.looks, top, what) for what in ("replicas", "nodes"))
    due = asked + 10 * MINUTE
    sentence = f"needed {top} ready by {due:%H:%M}, had {top} at {due:%H:%M}; nodes asked {nodes:%H:%M}, pods {asked:%H:%M}"
    told = ramp.desk.done("ledger", at=clock("08:05")).out
    assert f"chat/gpu: {sentence}\n" in told
    (page,) = ramp.desk.done("ledger", "--json", at=clock("08:05")).json["pools"]
    assert [each["in_time"] for each in page["ramps"]] == [True]


def floor_of(look: Look, target: str) -> int:
    """What was decided for a target."""
    (workload,) = look.said.json["workloads"]
    floor: int = next(each["floor"] for each in workload["decisions"] if each["target"] == target)
    return floor


@pytest.fixture(scope="module")
def stock_out(foreseen: Path, tmp_path_factory: pytest.TempPathFactory) -> Morning:
    """EC2 has four of the machines from 07:00 to 07:50, and all again from then on; a pool on others stands in."""
    with after(foreseen, tmp_path_factory.mktemp("stock"), *POOLS) as made:
        made.go("07:00", "07:00")
        made.pools["gpu"].stock = 4
        made.go("07:10", "07:50", 2 * TICK)
        made.pools["gpu"].stock = 1_000
        made.go("08:00", "08:40", 2 * TICK)
    return made


def test_k41_a_stock_out_is_an_alert_in_the_words_of_aws_and_no_ratchet(stock_out: Morning) -> None:
    short = [look for look in stock_out.looks if look.at <= clock("07:50")]
    told = short[-1].reasons["asg:gpu@eu-west-1"]
    assert NO_STOCK.rstrip(".") in told["overdue"]
    assert "replicas are overdue since" in short[-1].reasons["kubernetes-hpa:serving/gpu"]["overdue"]
    said = stock_out.desk.done("status", at=clock("07:51")).out
    assert NO_STOCK.rstrip(".") in said
    most = max(look.replicas for look in stock_out.looks)
    assert most <= 1.2 * DAY_RPM / CARRY_RPM  # what the load asks for, and no more for what is missing
    assert all(look.nodes <= most + 2 for look in stock_out.looks)


def test_k41_another_pool_takes_over_what_does_not_come_and_gives_it_back_when_there_is_stock(stock_out: Morning) -> None:
    spot = "kubernetes-hpa:serving/spot"
    short = next(look for look in stock_out.looks if look.at == clock("07:50"))
    assert NO_STOCK.rstrip(".") in short.reasons[spot]["stands-in"]
    assert floor_of(short, spot) >= 2 + 5  # its own two, and what is overdue
    last = stock_out.looks[-1]
    assert (floor_of(last, spot), "stands-in" in last.reasons[spot]) == (2, False)
    assert last.ready == last.replicas


def test_what_is_out_of_stock_and_what_a_maximum_forbids_are_told_hours_ahead(fresh: Morning) -> None:
    fresh.kube.edit("serving", "gpu", maxReplicas=8)
    machines = fresh.pools["gpu"]
    machines.stock = 1
    machines.tick(clock("05:00"))
    told = fresh.desk.done("forecast", at=clock("05:35")).err
    assert "on kubernetes-hpa:serving/gpu, which takes 8" in told
    assert "raise its maximum before" in told
    assert f"on asg:gpu@eu-west-1, 1 are ready and more do not come now (EC2 could not launch: {NO_STOCK})" in told
    assert "2024-03-26T07:" in told


def test_k44_a_throttled_group_is_told_and_left_as_it_is_and_the_replicas_go_on(fresh: Morning) -> None:
    machines, asked = fresh.pools["gpu"], len(fresh.aws.operations)
    fresh.aws.fail_next("DescribeAutoScalingGroups", "Throttling", times=50, message="Rate exceeded")
    (look,) = fresh.go("07:30", "07:30")
    assert look.said.code == 3
    (sentence,) = look.said.sentences
    assert "asg:gpu@eu-west-1 was not observed" in sentence
    assert "Rate exceeded" in sentence
    assert (machines.floors[0], machines.floors[1] > 2) == (1, True)
    assert len(fresh.aws.operations) - asked <= 5  # asked again a few times, not fifty
