"""A run that is killed at any instant and done again at the same --now: the same floors, and nothing is lost."""

import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.end_to_end.desk import Desk
from tests.end_to_end.fleets import on_prometheus
from tests.end_to_end.kept import Kept, kept, written
from tests.end_to_end.service import DAY, clock
from tests.kube_api import KubeApi
from tests.postgres import Postgres

NIGHT, T = clock("23:00", DAY - timedelta(days=1)), clock("07:30")
KILLS, KILLS_POSTGRES = 8, 3
_POLL_S = 0.005


def shares(kills: int) -> list[float]:
    """Instants of a run as shares of its length, spread over all of it, each by chance within its part."""
    rng = np.random.default_rng(5)
    return [round((i + float(rng.uniform())) / kills, 3) for i in range(kills)]


@dataclass(frozen=True, kw_only=True)
class World:
    """A folder, a store and an API server that have a night's run behind them, a pause that was taken back, and a floor of ours."""

    desk: Desk
    kube: KubeApi
    store: str

    def floors(self) -> list[Any]:
        """What a run at T answers: the planned floors and the decided one."""
        (workload,) = self.desk.done("run", "--json", at=T).json["workloads"]
        return [workload["floors"], workload["decision"]["floor"], [reason["code"] for reason in workload["reasons"]]]

    def object(self) -> tuple[int, dict[str, str]]:
        """What stands on the HPA."""
        return self.kube.min_replicas("serving", "chat"), self.kube.annotations("serving", "chat")


@dataclass(frozen=True, kw_only=True)
class Undisturbed:
    """What a run at T that nobody disturbed gave, from the same night."""

    floors: list[Any]
    object: tuple[int, dict[str, str]]
    kept: Kept
    seconds: float


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory, prometheus: str) -> tuple[Path, int, dict[str, str]]:
    """The folder after the night's run, and what stood on the HPA then."""
    folder = tmp_path_factory.mktemp("night")
    with KubeApi() as kube:
        kube.add_hpa("serving", "chat", min_replicas=2, max_replicas=40)
        _work_the_night(Desk(folder=folder, env=_env(prometheus, kube, "sqlite:///forecaster.db")))
        return folder, kube.min_replicas("serving", "chat"), kube.annotations("serving", "chat")


@pytest.fixture
def world(tmp_path: Path, prometheus: str, night: tuple[Path, int, dict[str, str]]) -> Iterator[World]:
    folder, floor, marks = night
    with KubeApi() as kube:
        kube.add_hpa("serving", "chat", min_replicas=floor, max_replicas=40, annotations=marks)
        shutil.copytree(folder, tmp_path / "desk")
        desk = Desk(folder=tmp_path / "desk", env=_env(prometheus, kube, "sqlite:///forecaster.db"))
        yield World(desk=desk, kube=kube, store=f"sqlite:///{desk.folder}/forecaster.db")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, prometheus: str, night: tuple[Path, int, dict[str, str]]) -> Undisturbed:
    folder, floor, marks = night
    with KubeApi() as kube:
        kube.add_hpa("serving", "chat", min_replicas=floor, max_replicas=40, annotations=marks)
        copy = tmp_path_factory.mktemp("undisturbed") / "desk"
        shutil.copytree(folder, copy)
        desk = Desk(folder=copy, env=_env(prometheus, kube, "sqlite:///forecaster.db"))
        world = World(desk=desk, kube=kube, store=f"sqlite:///{copy}/forecaster.db")
        begun = time.monotonic()
        floors = world.floors()
        seconds = time.monotonic() - begun
        return Undisturbed(floors=floors, object=world.object(), kept=kept(world.store), seconds=seconds)


def test_the_undisturbed_run_has_something_to_lose(night: tuple[Path, int, dict[str, str]], undisturbed: Undisturbed) -> None:
    floor, marks = undisturbed.object
    assert floor > night[1]
    assert marks["forecaster/original"] == "2"
    assert [len(undisturbed.kept.plans), len(undisturbed.kept.rulings), len(undisturbed.kept.decisions)] == [2, 2, 2]


@pytest.mark.parametrize("share", shares(KILLS))
def test_l33_killed_at_a_random_instant_and_run_again(world: World, undisturbed: Undisturbed, share: float) -> None:
    killed(world.desk.start("run", "--json", at=T), share * undisturbed.seconds)
    made_up_for(world, undisturbed)


@pytest.mark.parametrize(("verb", "taken"), [("get", False), ("patch", False), ("patch", True)])
def test_k37_killed_while_the_api_server_is_asked_and_run_again(world: World, undisturbed: Undisturbed, verb: str, taken: bool) -> None:
    world.kube.fail_next("hang", verb=verb, taken=taken)
    process = world.desk.start("run", "--json", at=T)
    while process.poll() is None and verb not in {request.verb for request in world.kube.requests}:
        time.sleep(_POLL_S)
    killed(process, 0)
    made_up_for(world, undisturbed)


def test_a_run_that_is_done_again_changes_nothing_and_keeps_the_record_of_the_write(world: World, undisturbed: Undisturbed) -> None:
    assert world.floors() == undisturbed.floors
    writes, records = len(world.kube.writes), written(world.store)
    assert records[-1] is True
    assert world.floors() == undisturbed.floors
    assert (len(world.kube.writes), written(world.store)) == (writes, records)
    assert kept(world.store) == undisturbed.kept


def test_l33_a_first_run_that_is_killed_again_and_again_ends_as_if_it_never_was(tmp_path: Path, prometheus: str) -> None:
    answers: list[tuple[list[Any], tuple[int, dict[str, str]], Kept, float]] = []
    for kills in (0, 4):
        with KubeApi() as kube:
            kube.add_hpa("serving", "chat", min_replicas=2, max_replicas=40)
            desk = Desk(folder=tmp_path / str(kills), env=_env(prometheus, kube, "sqlite:///forecaster.db"))
            desk.folder.mkdir()
            _configure(desk)
            world = World(desk=desk, kube=kube, store=f"sqlite:///{desk.folder}/forecaster.db")
            for share in shares(kills):
                killed(desk.start("run", "--json", at=T), share * answers[0][-1])
            begun = time.monotonic()
            answers.append((world.floors(), world.object(), kept(world.store), time.monotonic() - begun))
    assert answers[0][:-1] == answers[1][:-1]


@pytest.mark.parametrize("share", shares(KILLS_POSTGRES))
def test_l33_killed_at_a_random_instant_on_postgresql_and_run_again(postgres_world: World, undisturbed: Undisturbed, share: float) -> None:
    killed(postgres_world.desk.start("run", "--json", at=T), share * undisturbed.seconds)
    made_up_for(postgres_world, undisturbed)


@pytest.fixture(scope="module")
def postgres_night(postgres: Postgres, prometheus: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a database after the night's run."""
    name = f"night_{next(postgres.serial)}"
    postgres.execute(f"CREATE DATABASE {name} TEMPLATE template0")
    with KubeApi() as kube:
        kube.add_hpa("serving", "chat", min_replicas=2, max_replicas=40)
        desk = Desk(folder=tmp_path_factory.mktemp("postgres-night"), env=_env(prometheus, kube, postgres.url(name)))
        _configure(desk)
        refused = desk.run("run", at=NIGHT)
        assert (refused.code, "run `forecaster migrate`" in refused.err) == (1, True)
        desk.done("migrate")
        _work_the_night(desk)
    return name


@pytest.fixture
def postgres_world(
    tmp_path: Path, prometheus: str, night: tuple[Path, int, dict[str, str]], postgres: Postgres, postgres_night: str
) -> Iterator[World]:
    _, floor, marks = night
    store = postgres.url(f"killed_{next(postgres.serial)}")
    postgres.execute(f"CREATE DATABASE {store.rpartition('/')[2]} TEMPLATE {postgres_night}")
    with KubeApi() as kube:
        kube.add_hpa("serving", "chat", min_replicas=floor, max_replicas=40, annotations=marks)
        desk = Desk(folder=tmp_path, env=_env(prometheus, kube, store))
        _configure(desk)
        yield World(desk=desk, kube=kube, store=store)


def killed(process: subprocess.Popen[str], after_s: float) -> None:
    """Kill it so that it has no say in it, unless it was quicker."""
    time.sleep(after_s)
    process.send_signal(signal.SIGKILL)
    process.communicate()


def made_up_for(world: World, undisturbed: Undisturbed) -> None:
    """Run again: the same floors, the same object, and a store that holds all that was there before and all that should be."""
    assert world.floors() == undisturbed.floors
    assert world.object() == undisturbed.object
    assert kept(world.store) == undisturbed.kept


def _work_the_night(desk: Desk) -> None:
    _configure(desk)
    desk.done("run", at=NIGHT)
    desk.done("pause", "chat", "-m", "incident", "--author", "ada", at=NIGHT + timedelta(minutes=1))
    desk.done("resume", "chat", "-m", "over", "--author", "ada", at=NIGHT + timedelta(minutes=9))


def _configure(desk: Desk) -> None:
    desk.configure(on_prometheus(mode="auto") | {"store": "${STORE}"})


def _env(prometheus: str, kube: KubeApi, store: str) -> dict[str, str]:
    return {"PROMETHEUS": prometheus, "KUBE": kube.url, "STORE": store}
