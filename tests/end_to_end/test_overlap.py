"""A crontab whose lines overlap: every run ends well, one of a kind works at a time, and nothing is there twice."""

from pathlib import Path

import pytest

from connectors.leases.opening import open_lease
from tests.end_to_end.desk import Desk, Outcome, ended
from tests.end_to_end.fleets import on_csv
from tests.end_to_end.service import clock, trace_csv
from tests.kube_api import KubeApi


@pytest.fixture
def crontab(tmp_path: Path, kube: KubeApi) -> Desk:
    """A fleet on a CSV file in mode auto."""
    desk = Desk(folder=tmp_path / "desk", env={"KUBE": kube.url})
    desk.folder.mkdir()
    (desk.folder / "load.csv").write_text(trace_csv())
    desk.configure(on_csv())
    return desk


def at_once(desk: Desk, commands: list[str]) -> list[tuple[str, Outcome]]:
    started = [(command, desk.start(command, at=clock("07:30"))) for command in commands]
    return [(command, ended(process)) for command, process in started]


def test_k45_overlapping_lines_of_a_crontab_are_harmless(crontab: Desk, kube: KubeApi) -> None:
    crontab.done("forecast", at=clock("07:00"))
    for command, outcome in at_once(crontab, ["forecast", "apply"] * 3):
        assert outcome.code == 0, outcome
        assert outcome.sentences in ([], [f"another {command} run is at work on this store; nothing was done"])
        assert bool(outcome.out) != bool(outcome.sentences)
    assert {table: crontab.rows(table) for table in ("plans", "forecasts", "records")} == {"plans": 2, "forecasts": 2, "records": 1}
    written = [(write.body["spec"], write.body["metadata"]["annotations"]["forecaster/valid-until"]) for write in kube.writes]
    assert len(written) == len({str(each) for each in written}) <= 2  # one a plan at most: an apply may come before the second


def test_k45_a_first_run_started_twice_makes_one_store_and_one_plan(crontab: Desk) -> None:
    outcomes = [outcome for _, outcome in at_once(crontab, ["run", "run", "run"])]
    assert [outcome.code for outcome in outcomes] == [0, 0, 0]
    assert any(outcome.out for outcome in outcomes)
    assert (crontab.rows("plans"), crontab.rows("records")) == (1, 1)


def test_who_finds_another_at_work_says_so_and_ends_well_while_the_other_half_goes_on(crontab: Desk, kube: KubeApi) -> None:
    lease = open_lease(f"sqlite:///{crontab.folder}/forecaster.db", "apply")
    assert lease.try_acquire()
    planned = crontab.done("forecast", at=clock("07:30"))
    assert "chat" in planned.out
    for command in ("apply", "run"):
        found = crontab.done(command, at=clock("07:31"))
        assert (found.out, found.sentences) == ("", ["another apply run is at work on this store; nothing was done"])
    assert kube.writes == ()
    lease.release()
    crontab.done("apply", at=clock("07:32"))
    assert kube.min_replicas("serving", "chat") > 2
