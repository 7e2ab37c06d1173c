"""Days that show what was served and not what was asked: capped, full, refused, or at what the replicas carry."""

from dataclasses import replace

import numpy as np

from forecaster.detect.plateaus import Companions
from forecaster.marks import MarkKind
from forecaster.series import Floats, Signal
from tests.forecaster.detect.histories import A_DAY, AN_HOUR, at, found, instant, kinds, series, spans, usual

# capped days


def capped(load: Floats, days: list[int], most: float) -> None:
    for day in days:
        whole = slice(at(day), at(day + 1))
        load[whole] = np.where(load[whole] > most, most * np.random.default_rng(day).normal(1, 0.004, A_DAY), load[whole])


def test_days_that_were_served_at_a_plateau_are_censored() -> None:
    load = usual(28)
    load[at(15) : at(17)] *= 1.6
    capped(load, [15, 16], 300)
    marks = spans(load, MarkKind.CENSORED)
    assert {first // A_DAY for first, _ in marks} == {15, 16}
    assert all(stop - first > 4 * AN_HOUR for first, stop in marks)
    assert set(kinds(load)) == {MarkKind.CENSORED}


def test_days_that_are_always_flat_are_not_censored() -> None:
    load = usual(28)
    capped(load, list(range(28)), 220)
    assert kinds(load) == []


def test_a_full_gauge_is_censored_and_not_at_fault() -> None:
    load = usual(28)
    load[at(15) : at(16)] = np.minimum(load[at(15) : at(16)] * 1.5, 256)
    assert set(kinds(load)) == {MarkKind.CENSORED}


def test_requests_that_wait_while_the_load_is_at_its_top_censor_it() -> None:
    load, queue = usual(28), np.zeros(28 * A_DAY)
    busy = slice(at(15, 11), at(15, 12))
    load[busy], queue[busy] = 320, np.linspace(10, 400, AN_HOUR)
    marks = found(load, companions=Companions(pressures=(replace(series(queue), signal=Signal.QUEUE_DEPTH),)))
    assert [mark.kind for mark in marks] == [MarkKind.CENSORED]
    assert marks[0].detail == "requests waited for 1.0 h"


def test_requests_that_were_refused_while_the_load_is_at_its_top_censor_it() -> None:
    load, refused = usual(28), np.zeros(28 * A_DAY)
    busy = slice(at(15, 11), at(15, 12))
    load[busy], refused[busy] = 320, 40
    refused[at(17, 3) : at(17, 5)] = 40  # some client by night
    none, refusals = np.zeros(load.size), replace(series(refused), signal=Signal.REFUSED)
    for others in ((), (replace(series(none), signal=Signal.QUEUE_DEPTH),)):
        marks = found(load, companions=Companions(pressures=(*others, refusals)))
        assert [(mark.kind, mark.span.start, mark.detail) for mark in marks] == [
            (MarkKind.CENSORED, instant(load, at(15, 11)), "requests were refused for 1.0 h")
        ]


def test_a_load_that_stands_still_while_requests_are_refused_is_all_that_was_served() -> None:
    load, refused = usual(28), np.zeros(28 * A_DAY)
    busy = slice(at(15, 10), at(15, 15))
    load[busy], refused[busy] = 150, 40
    load[at(15, 15) : at(15, 16)] = 330  # what had waited
    assert kinds(load) == [MarkKind.CAPTURE_FAULT]
    (mark,) = found(load, companions=Companions(pressures=(replace(series(refused), signal=Signal.REFUSED),)))
    assert mark.kind is MarkKind.CENSORED
    assert mark.detail.endswith("for 5.0 h while requests were refused")


def test_a_few_refusals_beside_a_large_load_say_nothing() -> None:
    load, refused = usual(28), np.zeros(28 * A_DAY)
    busy = slice(at(15, 11), at(15, 12))
    load[busy], refused[busy] = 320, 3
    assert found(load, companions=Companions(pressures=(replace(series(refused), signal=Signal.REFUSED),))) == ()


def test_a_load_at_what_the_replicas_carry_is_censored() -> None:
    load = usual(28)
    limit = np.full(load.size, 10_000.0)
    limit[at(15, 10) : at(15, 12)] = load[at(15, 10) : at(15, 12)]
    marks = found(load, companions=Companions(limit=series(limit)))
    assert [(mark.kind, mark.span.start) for mark in marks] == [(MarkKind.CENSORED, instant(load, at(15, 10)))]
