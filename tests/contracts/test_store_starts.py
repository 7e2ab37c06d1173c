"""What every store promises of starts of replicas."""

from dataclasses import replace

import numpy as np
import pytest

from forecaster.demand import Demand
from forecaster.keep import Keep
from forecaster.leadtime import LeadTime
from forecaster.ports import Store
from forecaster.series import Signal
from forecaster.starts import measured
from forecaster.units import DAY_S, HOUR_S
from tests.contracts.starts import start
from tests.contracts.store import NOW, Broken, Interrupted, after, plan, span

pytest_plugins = ("tests.postgres", "tests.contracts.store_fixtures")

CHAT, EMBED = ("chat", "h100"), ("embed", "h100")
EVER = span(-1000 * DAY_S, DAY_S)


def test_starts_are_read_as_they_were_seen_oldest_first(any_store: Store) -> None:
    early = start("a", after(-HOUR_S), cold=None)
    late = replace(start("b", after(-60.000001), took_s=None, seen_s=60.5), rollout=True)
    any_store.append_starts([(*CHAT, late), (*CHAT, early), (*EMBED, early)])
    assert any_store.starts_of([CHAT, EMBED, ("chat", "l4")], EVER, 10) == {CHAT: (early, late), EMBED: (early,)}


def test_a_replica_is_one_start_and_what_was_seen_last_counts(any_store: Store) -> None:
    pending = start("a", after(-600), took_s=None, seen_s=30)
    ready = start("a", after(-600))
    for seen in (pending, pending, ready, ready):
        any_store.append_starts([(*CHAT, seen)])
    assert any_store.starts_of([CHAT], EVER, 10) == {CHAT: (ready,)}


def test_ready_is_the_last_word_on_a_replica(any_store: Store) -> None:
    ready = start("a", after(-HOUR_S))
    any_store.append_starts([(*CHAT, ready)])
    any_store.append_starts([(*CHAT, start("a", after(-HOUR_S), took_s=3000)), (*CHAT, start("a", after(-HOUR_S), took_s=None))])
    assert any_store.starts_of([CHAT], EVER, 10) == {CHAT: (ready,)}


def test_only_so_many_of_each_pool_are_read_the_newest(any_store: Store) -> None:
    of_chat = [start(str(i), after(60 * i)) for i in range(5)]
    of_embed = [start("x", after(-DAY_S))]
    any_store.append_starts([*((*CHAT, each) for each in of_chat), *((*EMBED, each) for each in of_embed)])
    assert any_store.starts_of([CHAT, EMBED], EVER, 2) == {CHAT: tuple(of_chat[3:]), EMBED: tuple(of_embed)}


def test_a_window_speaks_of_the_request_and_is_half_open(any_store: Store) -> None:
    starts = [start(str(i), after(60 * i)) for i in range(3)]
    any_store.append_starts([(*CHAT, each) for each in starts])
    assert any_store.starts_of([CHAT], span(0, 120), 10) == {CHAT: tuple(starts[:2])}


def test_open_starts_are_those_that_may_still_become_ready(any_store: Store) -> None:
    waiting = start("waits", after(-60), took_s=None)
    gone = replace(start("gone", after(-60), took_s=None), gone=True)
    any_store.append_starts([(*CHAT, waiting), (*CHAT, gone), (*CHAT, start("ready", after(-600))), (*EMBED, gone)])
    assert any_store.open_starts() == {CHAT: (waiting,)}
    any_store.append_starts([(*CHAT, replace(waiting, gone=True))])
    assert any_store.open_starts() == {}


def test_starts_are_kept_together_all_or_none(any_store: Store) -> None:
    with pytest.raises(Interrupted):
        any_store.append_starts(Broken((*CHAT, start("a", after(-60)))))
    assert any_store.starts_of([CHAT], EVER, 10) == {}
    any_store.append_starts([])
    assert any_store.open_starts() == {}


def test_a_plan_keeps_where_its_lead_time_comes_from(any_store: Store) -> None:
    starts = [start(str(i), after(-6 * HOUR_S * (i + 1)), cold=i % 2 == 0) for i in range(30)]
    found = measured([*starts, start("waits", after(-90), took_s=None, seen_s=60)], LeadTime(warm_s=60, cold_s=120), NOW)
    rows = np.ones((1, 3))
    needed = Demand(
        start=NOW,
        step_s=300,
        signals=(Signal.RPM,),
        load=rows,
        expected=rows,
        expected_max=rows,
        carry=(1.0,),
        peaks=(),
        level=0.95,
        lead_time_s=found.plan_s,
        window_s=600,
        model="profile",
        lead_time=found,
    )
    any_store.append_plans([replace(plan(), demand=needed)])
    (kept,) = any_store.plans(*CHAT, EVER)
    assert kept.demand is not None
    assert kept.demand.lead_time == found


def test_starts_beyond_their_span_are_forgotten(any_store: Store) -> None:
    young, old = start("young", after(-89 * DAY_S)), start("old", after(-91 * DAY_S))
    any_store.append_starts([(*CHAT, young), (*CHAT, old), (*EMBED, old)])
    assert any_store.prune(Keep(), NOW).starts == 2
    assert any_store.starts_of([CHAT, EMBED], EVER, 10) == {CHAT: (young,)}
    assert any_store.prune(Keep(), NOW).total == 0
