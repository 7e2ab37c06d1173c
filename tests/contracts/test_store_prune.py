"""What every store forgets, and what it never does."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from forecaster.forecast import State
from forecaster.keep import Keep, Pruned
from forecaster.ports import Store
from forecaster.series import Signal
from forecaster.units import DAY_S, HOUR_S
from tests.contracts.store import NOW, after, forecast, plan, record, ruling, series, span

pytest_plugins = ("tests.postgres", "tests.contracts.store_fixtures")

KEEP = Keep()
NOTHING = Pruned(history=0, forecasts=0, plans=0, records=0)
EVER = span(-1000 * DAY_S, DAY_S)


def issued(store: Store, signal: Signal = Signal.RPM) -> list[float]:
    """Days before NOW at which the kept forecasts were issued."""
    return [(NOW - found.issued_at).total_seconds() / DAY_S for found in store.forecasts("chat", signal, EVER)]


def test_an_empty_store_forgets_nothing(any_store: Store) -> None:
    assert any_store.prune(KEEP, NOW) == NOTHING


def test_everything_within_its_span_stays(any_store: Store) -> None:
    any_store.append_history("chat", series([1, 2], start_s=-399 * DAY_S))
    any_store.append_forecasts([("chat", forecast(after(-hours * HOUR_S))) for hours in (1, 2, 13 * 24)])
    any_store.append_plans([plan(after(-days * DAY_S)) for days in (1, 89)])
    any_store.append_records([record(after(-days * DAY_S)) for days in (1, 399)])
    assert any_store.prune(KEEP, NOW) == NOTHING


def test_history_is_forgotten_by_the_day(any_store: Store) -> None:
    midnight = datetime(2026, 5, 4, tzinfo=UTC)
    edge_s = (midnight - NOW).total_seconds() - 400 * DAY_S
    any_store.append_history("chat", series([1, 2], start_s=int(edge_s - 300)))
    any_store.append_history("chat", series([3], start_s=-DAY_S, signal=Signal.TOKENS))
    assert any_store.prune(KEEP, NOW).history == 1
    kept = any_store.history("chat", Signal.RPM, span(edge_s - 600, edge_s + 600), 300)
    assert kept == series([float("nan"), float("nan"), 2, float("nan")], start_s=int(edge_s - 600))
    assert any_store.history("chat", Signal.TOKENS, span(-DAY_S, -DAY_S + 300), 300).measured_ratio == 1


def test_of_older_forecasts_the_first_of_each_utc_day_stays_and_of_too_old_ones_none(any_store: Store) -> None:
    # NOW is 08:00, so that x.0 days before are 08:00 too, x.3 days 00:48 of the same UTC day, x.4 days the evening before
    days = (1.0, 1.1, 13.9, 20.0, 20.1, 20.3, 20.4, 89.0, 91.0, 91.3)
    any_store.append_forecasts([("chat", forecast(after(-d * DAY_S), signal)) for d in days for signal in (Signal.RPM, Signal.TOKENS)])
    pruned = any_store.prune(KEEP, NOW)
    for signal in (Signal.RPM, Signal.TOKENS):
        assert issued(any_store, signal) == pytest.approx([89.0, 20.4, 20.3, 13.9, 1.1, 1.0])
    assert pruned == replace(NOTHING, forecasts=8)


def test_plans_and_records_beyond_their_spans_go(any_store: Store) -> None:
    any_store.append_plans([plan(after(-days * DAY_S), pool=pool) for days in (1, 91, 200) for pool in ("h100", "l4")])
    any_store.append_records([record(after(-days * DAY_S), target=target) for days in (1, 401) for target in ("hpa:a", "hpa:b")])
    assert any_store.prune(KEEP, NOW) == replace(NOTHING, plans=4, records=2)
    assert [found.issued_at for found in any_store.plans("chat", "h100", EVER)] == [after(-DAY_S)]
    assert len(any_store.records("chat", EVER)) == 2


def test_the_last_of_its_line_is_never_forgotten(any_store: Store) -> None:
    old = after(-900 * DAY_S)
    for at in (after(-901 * DAY_S), old):
        any_store.append_forecasts([("chat", forecast(at))])
        any_store.append_plans([plan(at)])
        any_store.append_records([record(at), record(at, target="hpa:other")])
    any_store.append_plans([plan(pool="l4")])
    assert any_store.prune(KEEP, NOW) == replace(NOTHING, forecasts=1, plans=1, records=2)
    assert [found.issued_at for found in any_store.forecasts("chat", Signal.RPM, EVER)] == [old]
    assert [found.issued_at for found in any_store.plans("chat", "h100", EVER)] == [old]
    assert {found.decision.target: found.at for found in any_store.records("chat", span(0, 1))} == {"hpa:prod/chat": old, "hpa:other": old}


def test_what_people_said_and_model_states_are_never_forgotten(any_store: Store) -> None:
    any_store.append_ruling(ruling(after(-900 * DAY_S)))
    any_store.save_states({"chat/rpm": State(model="profile", version=1, payload=b"kept")})
    assert any_store.prune(KEEP, NOW) == NOTHING
    assert len(any_store.rulings("chat", EVER)) == 1
    assert any_store.states(["chat/rpm"])


def test_forgetting_again_forgets_no_more(any_store: Store) -> None:
    any_store.append_forecasts([("chat", forecast(after(-hours * HOUR_S))) for hours in range(0, 100 * 24, 6)])
    assert any_store.prune(KEEP, NOW).forecasts > 200
    before = issued(any_store)
    assert any_store.prune(KEEP, NOW) == NOTHING
    assert issued(any_store) == before


def test_what_was_forgotten_can_be_kept_again(any_store: Store) -> None:
    any_store.append_records([record(after(-401 * DAY_S)), record(after(-1))])
    any_store.prune(KEEP, NOW)
    any_store.append_records([record(after(-401 * DAY_S))])
    assert len(any_store.records("chat", EVER)) == 2
