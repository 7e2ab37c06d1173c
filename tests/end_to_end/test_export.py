"""The plan in force, printed for KEDA and for a node group of AWS."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import yaml

from tests.end_to_end.desk import Desk
from tests.end_to_end.fleets import on_csv
from tests.kube_api import KubeApi
from tests.simulation.traces import START, daily, write_csv

NOW = START + timedelta(days=8, hours=2, minutes=20)


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A desk where a forecast was made and planned, in mode observe."""
    folder = tmp_path_factory.mktemp("desk")
    write_csv(folder / "load.csv.gz", daily(9, 300), 300)
    with KubeApi() as kube:
        kube.add_hpa("serving", "chat", min_replicas=2, max_replicas=40)
        desk = Desk(folder=folder, env={"KUBE": kube.url})
        desk.configure(on_csv(mode="observe", path="load.csv.gz", min=2))
        desk.done("forecast", at=NOW)
        yield desk
        assert kube.writes == ()


def test_a_plan_becomes_cron_triggers_over_the_minimum(planned: Desk) -> None:
    done = planned.done("export", "keda-cron", "chat", "--name", "inference/llm", at=NOW)
    spec = yaml.safe_load(done.out)["spec"]
    assert (spec["minReplicaCount"], spec["scaleTargetRef"]["name"]) == (2, "llm")
    assert spec["triggers"]
    assert {one["type"] for one in spec["triggers"]} == {"cron"}
    assert all(int(one["metadata"]["desiredReplicas"]) > 2 for one in spec["triggers"])
    assert "# The plan of 2024-03-12T02:20:00Z for chat" in done.out


def test_a_plan_becomes_actions_that_happen_once_and_end_where_it_began(planned: Desk) -> None:
    found = planned.done("export", "asg-scheduled", "chat", "--group", "gpu", at=NOW).json["ScheduledUpdateGroupActions"]
    starts = [datetime.fromisoformat(one["StartTime"]) for one in found]
    assert starts == sorted(set(starts))
    assert starts[0] > NOW
    assert found[-1]["MinSize"] == 2
    assert len({one["ScheduledActionName"] for one in found}) == len(found)


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("keda-cron", "chat"), 2, "name the Deployment with --name NAMESPACE/NAME"),
        (("keda-cron", "chat", "--name", "llm"), 2, "is no NAMESPACE/NAME"),
        (("keda-cron", "chta", "--name", "inference/llm"), 2, "there is no workload 'chta'"),
        (("asg-scheduled", "chat/cpu", "--group", "g"), 2, "name one pool of chat: chat/gpu"),
        (("asg-scheduled", "chat", "--group", " "), 2, "--group is blank"),
        (("asg-scheduled", "chat", "--from", "summary.json", "--group", "g"), 2, "name one: a WORKLOAD"),
    ],
)
def test_what_is_not_there_is_named(planned: Desk, words: tuple[str, ...], code: int, sentence: str) -> None:
    outcome = planned.run("export", *words, at=NOW)
    assert (outcome.code, outcome.out, len(outcome.sentences)) == (code, "", 1), outcome
    assert sentence in outcome.err


def test_without_a_plan_there_is_nothing_to_print(planned: Desk, tmp_path: Path) -> None:
    desk = Desk(folder=tmp_path, env=planned.env)
    desk.configure(on_csv(mode="observe", path="load.csv.gz"))
    desk.done("migrate")
    outcome = desk.run("export", "asg-scheduled", "chat", "--group", "g", at=NOW)
    assert (outcome.code, "no plan is in force" in outcome.err) == (1, True), outcome
