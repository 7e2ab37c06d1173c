"""Mean input and output lengths beside the load: forecast and shown, never load."""

import json
from collections.abc import Iterator
from datetime import timedelta

import numpy as np
import pytest

from forecaster.series import Signal, Window
from forecaster.units import iso
from jobs.apply import apply_fleet
from jobs.cli.history import load_table
from jobs.cli.review_json import reviews_json
from jobs.fleet import Fleet
from jobs.forecast import forecast_fleet
from jobs.views.kept import Kept
from jobs.views.past import load
from jobs.views.review import review_members
from tests.jobs.world import NOW, World, daily_rpm, issued

DAY = timedelta(days=1)


@pytest.fixture
def fleet(world: World) -> Iterator[Fleet]:
    """A service without a request from nine in the evening to half past seven: no mean length then, and an empty cell for it."""
    world.workload("chat")
    rows = [(at, count if 7.5 <= at.hour + at.minute / 60 < 21 else 0.0) for at, count in daily_rpm()]
    lengths = np.random.default_rng(2).lognormal(np.log(800), 0.2, len(rows))
    lines = (f"{iso(at)},{count:.1f},{f'{length:.0f}' if count else ''}\n" for (at, count), length in zip(rows, lengths, strict=True))
    (world.folder / "load.csv").write_text("timestamp,value,tokens_in\n" + "".join(lines))
    workloads = world.config["workloads"]
    assert isinstance(workloads, list)
    workloads[0]["signals"]["input_length"] = {"query": "tokens_in", "unit": "count"}
    world.config["executor"] = {"type": "serial"}
    with world.fleet() as opened:
        yield opened


def test_an_idle_service_has_no_length_and_nothing_has_failed(fleet: Fleet) -> None:
    (draft,) = forecast_fleet(fleet, NOW)
    (cycle,) = apply_fleet(fleet, NOW)
    night = fleet.store.history("chat", Signal.INPUT_LENGTH, Window(start=NOW - 10 * timedelta(hours=1), end=NOW), 300)
    assert np.isnan(night.mean).all()  # unknown, never zero
    assert (draft.problems, cycle.problems) == ((), ())
    length = issued(fleet, signal=Signal.INPUT_LENGTH)
    assert 700 < float(np.median(length.at_level(0.5))) < 900
    assert [found.signal for found in draft.trusts] == [Signal.RPM]


def test_lengths_are_shown_beside_the_load(fleet: Fleet) -> None:
    forecast_fleet(fleet, NOW)
    apply_fleet(fleet, NOW)
    (review,) = review_members(fleet.store, fleet.members, NOW)
    assert [signal.signal for signal in review.signals] == [Signal.RPM, Signal.INPUT_LENGTH]
    assert review.pools[0].binding is Signal.RPM
    told = json.loads(json.dumps(reviews_json((review,), NOW, ahead=True), default=str))
    assert told["workloads"][0]["signals"][1]["unit"] == "tokens/request"
    assert not any("input_length" in found.sentence for found in review.attention)
    days = load(Kept(store=fleet.store, member=fleet.members[0], now=NOW), NOW - 2 * DAY)
    table = load_table(days, fleet.members[0].workload.calendar)
    assert {row[1:3] for row in table.rows} == {("rpm", "requests/min"), ("input_length", "tokens/request")}
