"""The account of a fleet from its store."""

from datetime import timedelta

import numpy as np
import pytest

from forecaster.capacity import HOW_TO_TELL
from forecaster.errors import NothingKept
from jobs.forecast import fetch_fleet
from jobs.savings import Account, Asked, Row, account, whole_days
from tests.jobs.kept_days import seen_ready, watched_days
from tests.jobs.world import NOW, World

MIDNIGHT = NOW.replace(hour=0, minute=0)
PRICES = {"currency": "EUR", "gpu_hour": 2.5, "late_request": 0.01}


def row_of(found: Account, workload: str | None, day: int | None) -> Row:
    """A workload's row (None = the fleet's) of so many days before the end, None = of all of them."""
    wanted = None if day is None else (MIDNIGHT - timedelta(days=day)).date()
    (row,) = (row for row in found.rows if (row.workload, row.day) == (workload, wanted))
    return row


def days(count: int = 2) -> Asked:
    return Asked(window=whole_days(NOW, count))


def test_each_workload_and_the_fleet_have_their_days_and_their_sum(world: World) -> None:
    world.workload("chat", mode="observe")
    world.workload("search", mode="auto")
    world.config["prices"] = PRICES
    with world.fleet() as fleet:
        watched_days(fleet, MIDNIGHT, 2)
        seen_ready(fleet.store, np.full(2 * 288, 6.0), MIDNIGHT)
        found = account(fleet.store, fleet.members, days())
    assert [(row.workload, row.day is None) for row in found.rows] == [
        (name, total) for name in ("chat", "search", None) for total in (False, False, True)
    ]
    chat, both = row_of(found, "chat", None), row_of(found, None, None)
    assert chat.spent.actual_hours == 6 * 48
    assert both.spent.actual_hours is None  # of search nobody knows
    assert both.spent.planned_hours == pytest.approx((chat.spent.planned_hours or 0) * 2)
    assert chat.spent.avoided is not None
    assert chat.money is not None
    assert chat.money.actual == pytest.approx(6 * 48 * 2.5)
    assert found.currency == "EUR"


def test_a_pool_with_its_own_price_is_priced_by_it(world: World) -> None:
    world.workload("chat", mode="observe")
    world.config["prices"] = PRICES
    pool = world.config["workloads"][0]["pools"][0]  # type: ignore[index]  # the file as it will be written
    pool["gpu_hour"] = 10
    with world.fleet() as fleet:
        fetch_fleet(fleet, MIDNIGHT)
        seen_ready(fleet.store, np.full(288, 1.0), MIDNIGHT)
        row = row_of(account(fleet.store, fleet.members, days(1)), "chat", 1)
    assert row.money is not None
    assert row.money.actual == 240


def test_without_prices_there_are_hours_and_no_money(world: World) -> None:
    world.workload("chat", mode="observe")
    with world.fleet() as fleet:
        fetch_fleet(fleet, MIDNIGHT)
        found = account(fleet.store, fleet.members, days())
    assert found.currency is None
    assert all(row.money is None for row in found.rows)
    assert row_of(found, "chat", 1).spent.reactive_hours is not None


def test_what_was_not_decided_and_not_seen_is_unknown(world: World) -> None:
    world.workload("chat", mode="observe")
    with world.fleet() as fleet:
        fetch_fleet(fleet, MIDNIGHT)
        spent = row_of(account(fleet.store, fleet.members, days()), "chat", 1).spent
    assert (spent.planned_hours, spent.actual_hours) == (None, None)


def test_a_workload_that_cannot_be_sized_is_left_out_and_named(world: World) -> None:
    world.workload("chat", mode="observe")
    world.workload("mystery", mode="observe")
    del world.config["workloads"][1]["pools"][0]["capacity"]  # type: ignore[index]  # the file as it will be written
    with world.fleet() as fleet:
        fetch_fleet(fleet, MIDNIGHT)
        found = account(fleet.store, fleet.members, days())
    assert found.left_out == (f"mystery: pool gpu has no capacity for its load; {HOW_TO_TELL}",)
    assert row_of(found, None, 1).spent.reactive_hours == row_of(found, "chat", 1).spent.reactive_hours


def test_an_empty_store_is_said(world: World) -> None:
    world.workload("chat", mode="observe")
    with world.fleet() as fleet, pytest.raises(NothingKept, match="no rpm was kept of these days"):
        account(fleet.store, fleet.members, days())


def test_a_hotter_autoscaler_is_cheaper_and_later(world: World) -> None:
    world.workload("chat", mode="observe")
    with world.fleet() as fleet:
        fetch_fleet(fleet, MIDNIGHT)
        cool, hot = (
            row_of(
                account(fleet.store, fleet.members, Asked(window=whole_days(NOW, 2), target_ratio=target, alone_ratio=target)), "chat", None
            ).spent
            for target in (0.5, 1.0)
        )
    assert (hot.reactive_hours or 0) < (cool.reactive_hours or 0)
    assert (hot.late_reactive or 0) > (cool.late_reactive or 0)
