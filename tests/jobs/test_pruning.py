"""When the store forgets: once a day, by the clock, and on a person's word."""

from datetime import timedelta

from forecaster.keep import Keep
from forecaster.series import Signal, Window
from jobs.fleet import Fleet
from jobs.forecast import forecast_fleet
from jobs.pruning import prune, prune_daily, sentence
from tests.jobs.world import NOW, World

DAY = timedelta(days=1)
EVER = Window(start=NOW - 900 * DAY, end=NOW + 900 * DAY)


def kept(fleet: Fleet) -> int:
    return len(fleet.store.forecasts("chat", Signal.RPM, EVER))


def test_the_store_forgets_once_a_day(world: World) -> None:
    world.workload("chat")
    with world.fleet() as fleet:
        for hours in (0, 1, 2):
            forecast_fleet(fleet, NOW + timedelta(hours=hours))
        later = NOW + 20 * DAY
        first = prune_daily(fleet, later)
        assert first is not None
        assert (first.forecasts, kept(fleet)) == (1, 2)  # of an old day the first, and the newest of all
        assert prune_daily(fleet, later + timedelta(hours=23)) is None
        again = prune_daily(fleet, later + DAY)
        assert again is not None
        assert again.total == 0


def test_a_person_may_ask_for_it_at_any_time_and_is_told(world: World) -> None:
    world.workload("chat")
    with world.fleet() as fleet:
        assert sentence(prune(fleet, NOW)) == "nothing in the store is older than `keep` says"
        forecast_fleet(fleet, NOW)
        forecast_fleet(fleet, NOW + timedelta(hours=1))
        told = sentence(prune(fleet, NOW + 410 * DAY))
    assert told == "forgotten: 17 days of history, 1 forecasts, 1 plans"


def test_spans_come_from_the_configuration(world: World) -> None:
    world.workload("chat")
    world.config["keep"] = {"plans": "60d", "records": "500d"}
    with world.fleet() as fleet:
        assert fleet.keep == Keep(plans_s=60 * 86_400, records_s=500 * 86_400)
