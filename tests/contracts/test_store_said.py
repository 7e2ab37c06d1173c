"""What every store promises of what was decided and what people said: records, rulings, marks and events."""

from dataclasses import replace

import pytest

from forecaster.decision import RulingKind
from forecaster.marks import MarkKind
from forecaster.ports import Store
from forecaster.series import Signal
from forecaster.units import DAY_S
from tests.contracts.store import Broken, Interrupted, after, event_entry, mark, record, ruling, span

pytest_plugins = ("tests.postgres", "tests.contracts.store_fixtures")

NAN = float("nan")
DAY = span(0, DAY_S)


# records


def test_records_are_read_oldest_first_over_all_pools_and_targets(any_store: Store) -> None:
    kept = [record(after(30), pool="a100"), record(after(0)), record(after(15), target="hpa:prod/two")]
    any_store.append_records(kept)
    assert any_store.records("chat", DAY) == (kept[1], kept[2], kept[0])


def test_records_are_led_by_the_last_one_before_the_window_of_each_pool_and_target(any_store: Store) -> None:
    old = record(after(-9000), target="eks:gone", floor=1)
    last, before = record(after(-15), floor=3), record(after(-30), floor=2)
    other_pool = record(after(-15), pool="a100", floor=7)
    inside, beyond = record(after(0), floor=4), record(after(60), floor=5)
    any_store.append_records([beyond, inside, last, before, old, other_pool])
    assert any_store.records("chat", span(0, 60)) == (old, other_pool, last, inside)


def test_without_a_record_in_the_window_the_last_ones_before_it_are_all(any_store: Store) -> None:
    any_store.append_records([record(after(-30), floor=2), record(after(-15), floor=3)])
    assert any_store.records("chat", DAY) == (record(after(-15), floor=3),)


def test_a_record_at_the_same_instant_replaces_itself(any_store: Store) -> None:
    any_store.append_records([record(floor=4)])
    any_store.append_records([record(floor=5)])
    assert any_store.records("chat", DAY) == (record(floor=5),)


def test_records_of_workloads_do_not_mix(any_store: Store) -> None:
    any_store.append_records([record(), record(workload="embed"), record(after(-15), workload="embed", target="hpa:prod/embed")])
    assert any_store.records("chat", DAY) == (record(),)


def test_a_batch_of_records_that_breaks_half_way_leaves_nothing(any_store: Store) -> None:
    with pytest.raises(Interrupted):
        any_store.append_records(Broken(record()))
    assert any_store.records("chat", DAY) == ()


# rulings


def test_rulings_are_read_oldest_first_and_in_the_order_in_which_they_were_given(any_store: Store) -> None:
    later, pause, resume = ruling(after(60)), ruling(kind=RulingKind.PAUSE), ruling(kind=RulingKind.RESUME)
    beyond, other = ruling(after(DAY_S)), ruling(workload="embed")
    for given in (later, resume, pause, beyond, other):
        any_store.append_ruling(given)
    assert any_store.rulings("chat", DAY) == (resume, pause, later)


def test_a_word_given_again_is_kept_once_and_is_the_last_word(any_store: Store) -> None:
    pause, resume = ruling(kind=RulingKind.PAUSE), ruling(kind=RulingKind.RESUME)
    for given in (pause, resume, pause):
        any_store.append_ruling(given)
    assert any_store.rulings("chat", DAY) == (resume, pause)


def test_an_override_given_again_at_the_same_instant_replaces_itself(any_store: Store) -> None:
    any_store.append_ruling(ruling(replicas=9))
    any_store.append_ruling(ruling(replicas=10))
    assert any_store.rulings("chat", DAY) == (ruling(replicas=10),)


def test_two_plans_can_be_approved_in_one_breath(any_store: Store) -> None:
    first = ruling(kind=RulingKind.APPROVE)
    second = replace(first, plan_id="chat/a100@2026-05-04T08:00:00Z")
    any_store.append_ruling(first)
    any_store.append_ruling(second)
    assert any_store.rulings("chat", DAY) == (first, second)


# marks


def test_marks_are_read_in_the_order_in_which_they_were_said(any_store: Store) -> None:
    found, taken_back, later = mark(), mark(kind=MarkKind.MANUAL, author="ada", unmark=True), mark(after(60))
    any_store.append_marks("chat", [later])
    any_store.append_marks("chat", [found, taken_back])
    any_store.append_marks("embed", [mark(author="bob")])
    assert any_store.marks("chat", Signal.RPM, span(-DAY_S, 0)) == (found, taken_back, later)
    assert any_store.marks("chat", Signal.TOKENS, span(-DAY_S, 0)) == ()


def test_a_mark_is_read_where_its_span_meets_the_window(any_store: Store) -> None:
    hour = mark(span=span(0, 3600))
    any_store.append_marks("chat", [hour])
    for met in (span(-60, 1), span(600, 660), span(3599, 3601), span(-60, 7200)):
        assert any_store.marks("chat", Signal.RPM, met) == (hour,)
    for missed in (span(-60, 0), span(3600, 7200)):
        assert any_store.marks("chat", Signal.RPM, missed) == ()


def test_a_mark_said_again_at_one_instant_is_kept_once_and_is_the_last_word(any_store: Store) -> None:
    for said in (mark(author="ada"), mark(author="ada", unmark=True)):
        any_store.append_marks("chat", [said])
    assert any_store.marks("chat", Signal.RPM, span(-DAY_S, 0)) == (mark(author="ada", unmark=True),)


def test_a_batch_of_marks_that_breaks_half_way_leaves_nothing(any_store: Store) -> None:
    with pytest.raises(Interrupted):
        any_store.append_marks("chat", Broken(mark()))
    assert any_store.marks("chat", Signal.RPM, span(-DAY_S, 0)) == ()


# events


def test_entries_of_events_are_read_in_the_order_in_which_they_were_said(any_store: Store) -> None:
    later, removed, added = event_entry(after(60)), event_entry(removed=True), event_entry(name="sale")
    any_store.append_events([later])
    any_store.append_events([removed, added])
    any_store.append_events([event_entry(after(DAY_S))])
    assert any_store.events(DAY) == (removed, added, later)


def test_an_entry_said_again_at_one_instant_is_kept_once_and_is_the_last_word(any_store: Store) -> None:
    for said in (event_entry(), event_entry(author="bob"), event_entry(removed=True)):
        any_store.append_events([said])
    assert any_store.events(DAY) == (event_entry(author="bob"), event_entry(removed=True))


def test_a_batch_of_events_that_breaks_half_way_leaves_nothing(any_store: Store) -> None:
    with pytest.raises(Interrupted):
        any_store.append_events(Broken(event_entry()))
    any_store.append_events([])
    assert any_store.events(DAY) == ()
