"""Where people and programs read how far a forecast is believed."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from forecaster.forecast import TrackRecord
from forecaster.reasons import Code
from jobs.apply import apply_fleet
from jobs.cli.explain import explained_json
from jobs.cli.review import review_table, sentences
from jobs.cli.review_json import reviews_json
from jobs.cli.show import Cell
from jobs.cli.status import status_json, status_table
from jobs.cli.trusts import distrust, trust_cell
from jobs.draft import Draft
from jobs.fleet import Fleet
from jobs.forecast import forecast_fleet, plan_fleet
from jobs.telemetry import catalogue, readings
from jobs.views.explained import explained
from jobs.views.kept import Kept
from jobs.views.review import review_members
from jobs.views.status import status_of
from tests.jobs.world import NOW, World, issued

BAD = TrackRecord(days=14, pinball=13.0, naive_pinball=10.0, coverage=0.9, drift_log=0.0)
TOLD = "rpm: trust 0.20 after 14 scored days: loss 1.30 x that of the same time earlier, P95 covered 90%"


def plain(data: object) -> Any:
    """As a program reads it."""
    return json.loads(json.dumps(data, default=str))


@pytest.fixture
def doubted(world: World) -> Iterator[tuple[Fleet, Draft]]:
    """A fleet whose forecasts have been worse than the naive ones."""
    world.workload("chat")
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW)
        fleet.store.append_forecasts([("chat", replace(issued(fleet), record=BAD))])
        (draft,) = plan_fleet(fleet, NOW)
        apply_fleet(fleet, NOW)
        yield fleet, draft


def test_review_shows_the_score_the_verdict_and_the_sentence(doubted: tuple[Fleet, Draft]) -> None:
    fleet, _ = doubted
    (review,) = review_members(fleet.store, fleet.members, NOW)
    table = review_table((review,))
    cell = table.rows[0][table.keys.index("trust")]
    assert isinstance(cell, Cell)
    assert cell.words == "0.20 naive"
    assert any(line.startswith(TOLD) for line in sentences(review, review.signals[0]))
    assert [found.code for found in review.attention] == [Code.TRUST_NAIVE]  # once, though the decision says so too
    (workload,) = plain(reviews_json((review,), NOW, ahead=False))["workloads"]
    trust = workload["signals"][0]["trust"]
    assert (trust["verdict"], trust["pinball_ratio"], trust["coverage"], trust["cycle_ratio"]) == ("naive", 1.3, 0.9, None)


def test_status_shows_the_least_trusted_forecast_of_a_pool(doubted: tuple[Fleet, Draft]) -> None:
    fleet, _ = doubted
    found = status_of(fleet.store, fleet.members, NOW)
    table = status_table(found, "here")
    cell = table.rows[0][table.columns.index("trust")]
    assert isinstance(cell, Cell)
    assert cell.words == "0.20 naive"
    (workload,) = plain(status_json(found, "here"))["workloads"]
    assert workload["pools"][0]["plan"]["trust"][0]["verdict"] == "naive"


def test_explain_shows_what_the_plan_thought_of_its_forecasts(doubted: tuple[Fleet, Draft]) -> None:
    fleet, _ = doubted
    (each,) = found = explained(Kept(store=fleet.store, member=fleet.members[0], now=NOW), fleet.members[0].workload.pools[0].targets)
    assert dict(each.explanation.basis)["trust in rpm"].startswith(f"naive: {TOLD}")
    (floor,) = plain(explained_json(found, "chat", NOW))["floors"]
    assert floor["plan"]["trust"][0]["score"] == pytest.approx(0.2)


def test_runs_tell_of_distrust_and_of_nothing_else(doubted: tuple[Fleet, Draft]) -> None:
    fleet, draft = doubted
    (told,) = distrust((draft,))
    assert told.startswith(f"chat: {TOLD}")
    (young,) = forecast_fleet(fleet, NOW + timedelta(hours=1))
    assert distrust((replace(young, trusts=()),)) == []


def test_metrics_have_score_and_coverage_where_they_are_known(doubted: tuple[Fleet, Draft]) -> None:
    _, draft = doubted
    shown = {(r.metric.name, r.labels): r.value for r in readings.of_drafts((draft,))}
    assert shown[catalogue.TRUST_SCORE.name, ("chat", "rpm")] == pytest.approx(0.2)
    assert shown[catalogue.COVERAGE.name, ("chat", "rpm")] == pytest.approx(0.9)
    unscored = replace(draft, trusts=tuple(replace(found, score=None, coverage=None) for found in draft.trusts))
    assert not {r.metric for r in readings.of_drafts((unscored,))} & {catalogue.TRUST_SCORE, catalogue.COVERAGE}


def test_a_young_forecast_is_called_young_and_none_at_all_nothing(doubted: tuple[Fleet, Draft]) -> None:
    _, draft = doubted
    young = tuple(replace(found, score=None, verdict=found.verdict.TRUSTED) for found in draft.trusts)
    assert trust_cell(young) == Cell(value=None, words="young")
    assert trust_cell(()) is None


def test_explain_never_calls_a_forecast_trusted_that_nobody_has_judged(world: World) -> None:
    world.workload("chat")
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW)
        fleet.store.append_forecasts([("chat", replace(issued(fleet), record=replace(BAD, days=1, pinball=99.0)))])
        plan_fleet(fleet, NOW)
        apply_fleet(fleet, NOW)
        (member,) = fleet.members
        (each,) = explained(Kept(store=fleet.store, member=member, now=NOW), member.workload.pools[0].targets)
    assert dict(each.explanation.basis)["trust in rpm"].startswith("rpm: not judged yet after 1 scored day: ")
    assert plain(explained_json((each,), "chat", NOW))["floors"][0]["plan"]["trust"][0]["score"] is None
