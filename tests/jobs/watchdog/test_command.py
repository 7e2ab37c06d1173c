"""The command `forecaster-watchdog` as a CronJob starts it, and its exit codes."""

import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.connectors.targets.subjects import FOUND, HpaSubject, stand
from tests.jobs.watchdog.watching import Ended, command, kubeconfig
from tests.kube_api import KubeApi

LONG_AHEAD = datetime(2199, 1, 1, tzinfo=UTC)
ROOT = Path(__file__).parents[3]


@pytest.fixture
def api() -> Iterator[KubeApi]:
    with KubeApi() as server:
        yield server


def watched(api: KubeApi, folder: Path, *words: str, env: dict[str, str] | None = None) -> Ended:
    return command(*words, kubeconfig=kubeconfig(folder, api.url), env=env)


def test_it_gives_back_what_has_outlived_its_word_and_leaves_the_rest(api: KubeApi, tmp_path: Path) -> None:
    over, good = HpaSubject(api=api), HpaSubject(api=api)
    stand(over.open(), 8)
    stand(good.open(), 9, valid_until=LONG_AHEAD)
    ended = watched(api, tmp_path)
    assert (ended.code, ended.out, ended.err) == (0, f"kubernetes-hpa:inference/{over.name}: released, floor 8 -> 2\n", "")
    assert (over.floor(), good.floor()) == (FOUND, 9)
    again = watched(api, tmp_path)
    assert (again.code, again.out) == (0, "")
    assert again.err == "nothing to give back; objects whose valid-until has not passed: 1\n"


def test_a_floor_within_its_grace_is_left(api: KubeApi, tmp_path: Path) -> None:
    subject = HpaSubject(api=api)
    stand(subject.open(), 8)
    assert watched(api, tmp_path, "--grace", "36500d").code == 0
    assert subject.floor() == 8


def test_it_is_set_up_by_its_environment(api: KubeApi, tmp_path: Path) -> None:
    subject = HpaSubject(api=api)
    stand(subject.open(), 8)
    other = {"FORECASTER_WATCHDOG_NAMESPACES": "a b", "FORECASTER_WATCHDOG_KINDS": "kubernetes-hpa"}
    assert watched(api, tmp_path, env=other).code == 0
    assert subject.floor() == 8
    assert watched(api, tmp_path, env=other | {"FORECASTER_WATCHDOG_NAMESPACES": "a inference"}).code == 0
    assert subject.floor() == FOUND


def test_the_exit_code_tells_failed_from_partly(api: KubeApi, tmp_path: Path) -> None:
    subject = HpaSubject(api=api)
    stand(subject.open(), 8)
    api.forbid("list", "scaledobjects")
    api.fail_next(422, verb="patch")
    failed = watched(api, tmp_path)
    assert (failed.code, failed.out) == (1, "")
    assert [line.startswith("forecaster-watchdog: ") for line in failed.err.splitlines()] == [True, True]
    partly = watched(api, tmp_path)
    assert (partly.code, subject.floor()) == (3, FOUND)


@pytest.mark.parametrize("words", [("--kind", "pods"), ("--grace", "ten"), ("--config", "gone.yaml"), ("--nonsense",)])
def test_wrong_usage_is_told_in_a_sentence_and_asks_nobody(api: KubeApi, tmp_path: Path, words: tuple[str, ...]) -> None:
    ended = watched(api, tmp_path, *words)
    assert (ended.code, ended.out, api.requests) == (2, "", [])
    assert ended.err


def test_an_api_server_that_is_not_there_is_a_failure(tmp_path: Path) -> None:
    with KubeApi() as gone:
        path = kubeconfig(tmp_path, gone.url)
    ended = command("--kind", "kubernetes-hpa", kubeconfig=path)
    assert ended.code == 1
    assert "try again later" in ended.err


def test_the_entry_point_is_shipped_and_tells_an_example() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts["forecaster-watchdog"] == "jobs.watchdog.main:run"
    help_ = command("--help")
    assert help_.code == 0
    assert "Example: forecaster-watchdog" in help_.out
