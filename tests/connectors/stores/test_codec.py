"""How values become bytes and come back."""

import zlib
from base64 import b64decode
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.stores.codec import VERSION, decode, encode
from connectors.stores.days import Day, split
from connectors.stores.plans import plan_of
from forecaster.decision import CycleRecord, Ruling
from forecaster.demand import Demand
from forecaster.errors import StoreError
from forecaster.events import EventEntry
from forecaster.forecast import Forecast
from forecaster.gains import Gains
from forecaster.marks import Mark
from forecaster.plan import Floor, Plan
from forecaster.reasons import Code, Reason
from forecaster.series import Signal, Window
from tests.contracts.store import (
    NOW,
    STEP_S,
    event_entry,
    forecast,
    many_event_entries,
    many_forecasts,
    many_marks,
    many_plans,
    many_records,
    many_rulings,
    mark,
    plan,
    record,
    ruling,
    same,
    series,
    windows,
)
from tests.forecaster.nowcasts import nowcast_of
from tests.values import demand_of

PINNED = Path(__file__).parent

anything = st.one_of(many_forecasts(), many_plans(), many_records, many_rulings(), many_marks, many_event_entries())


@settings(deadline=None)
@given(value=anything)
def test_every_value_comes_back_equal(value: object) -> None:
    assert same(decode(type(value), encode(value)), value)


@settings(deadline=None)
@given(value=anything)
def test_equal_values_give_equal_bytes(value: object) -> None:
    assert encode(decode(type(value), encode(value))) == encode(value)


def test_numbers_that_4_bytes_hold_take_4_and_others_8_and_both_come_back_as_they_were() -> None:
    rng = np.random.default_rng(1)
    whole = rng.integers(0, 2**24, 288).astype(np.float64)
    fine = rng.lognormal(5, 1, 288)
    exact, long = (encode(Day(mean=values, peak=values)) for values in (whole, fine))
    assert len(exact) < 288 * 4 * 1.1  # the peaks repeat the means and cost next to nothing
    assert 288 * 6 < len(long) < 288 * 8 * 1.1
    assert np.array_equal(decode(Day, long).mean, fine)


def test_a_plan_of_hundreds_of_floors_takes_few_bytes_each() -> None:
    edges = [NOW + timedelta(seconds=STEP_S * i) for i in range(801)]
    detail = "rpm binds: P95 of the next 15 min is {:,} requests/min, a replica carries 10"
    floors = tuple(
        Floor(start=a, until=b, replicas=i, reason=Reason(code=Code.SIGNAL_BINDS, detail=detail.format(i * 10), after=i))
        for i, (a, b) in enumerate(pairwise(edges))
    )
    assert len(encode(replace(plan(), floors=floors))) < 800 * 12


@settings(deadline=None)
@given(made=many_plans(), span=windows)
def test_the_part_of_a_plan_that_is_read_is_the_part_that_it_has(made: Plan, span: Window) -> None:
    """Windows are drawn anywhere and mostly miss; those around its floors hit."""
    around = [Window(start=a.start, end=b.until) for a in made.floors for b in made.floors if a.start < b.until]
    for part in (span, *around):
        assert same(plan_of(encode(made), part), made.within(part))


def test_a_part_of_what_version_1_has_written_is_read_too() -> None:
    lines = dict(line.split() for line in (PINNED / "payloads_v1.txt").read_text().splitlines())
    part = Window(start=NOW, end=NOW + timedelta(hours=1))
    assert same(plan_of(b64decode(lines["Plan"]), part), plan().within(part))


def test_arrays_come_back_read_only() -> None:
    (day,) = split(series([1, 2])).values()
    with pytest.raises(ValueError, match="read-only"):
        decode(Day, encode(day)).mean[0] = 3


def test_scalars_of_numpy_are_written_as_what_the_field_says() -> None:
    reason = Reason(code=Code.HOLD, detail="", before=np.int64(3), after=None)  # type: ignore[arg-type]  # as models do
    back = decode(Reason, encode(reason))
    assert back == Reason(code=Code.HOLD, detail="", before=3)
    assert type(back.before) is int


@pytest.mark.parametrize("version", range(1, VERSION + 1))
@pytest.mark.parametrize("kind", [Forecast, Plan, CycleRecord, Ruling, Mark, EventEntry])
def test_what_any_version_has_written_is_read_for_ever(kind: type, version: int) -> None:
    lines = dict(line.split() for line in (PINNED / f"payloads_v{version}.txt").read_text().splitlines())
    assert b64decode(lines[kind.__name__])[0] == version
    expected = {Forecast: forecast(), Plan: plan(), CycleRecord: record(), Ruling: ruling(), Mark: mark(), EventEntry: event_entry()}
    assert same(decode(kind, b64decode(lines[kind.__name__])), expected[kind])


def test_the_gains_of_a_forecast_and_of_a_demand_come_back() -> None:
    gains = Gains(leads_s=(0, 600), short=(0.6, 0.25), long=(0.3, 0.125), days=9, cut=(0.4, -0.01))
    assert decode(Forecast, encode(replace(forecast(), gains=gains))).gains == gains
    for known in (gains, None):
        assert decode(Demand, encode(replace(demand_of([9.0]), gains=(known,)))).gains_of(Signal.RPM) == known


def test_what_live_load_says_of_the_minutes_ahead_comes_back_with_forecast_and_demand() -> None:
    learned = nowcast_of(weights=(0.5, 0.25, 0.0), base=-0.125)
    assert same(decode(Forecast, encode(replace(forecast(), nowcast=learned))).nowcast, learned)
    for known in (learned, None):
        made = replace(demand_of([9.0, 8.0]), nowcasts=(known,), least=np.array([[3.0, 2.0]]))
        back = decode(Demand, encode(made))
        assert same(back.nowcast_of(Signal.RPM), known)
        assert same(back.least, made.least)


def test_an_unknown_codec_version_is_refused_with_the_remedy() -> None:
    newer = bytes([VERSION + 1]) + encode(plan())[1:]
    with pytest.raises(StoreError) as refused:
        decode(Plan, newer)
    assert str(refused.value) == "the store holds a Plan in codec version 3, and this release reads up to 2: upgrade Forecaster"


@pytest.mark.parametrize("damaged", [b"", encode(plan())[:-3], encode(plan())[:1], encode(plan())[:-1] + b"x", encode(record())])
def test_a_damaged_payload_is_refused_with_the_remedy(damaged: bytes) -> None:
    with pytest.raises(StoreError, match=r"the store holds a Plan .+: (restore the store from a backup|upgrade Forecaster)"):
        decode(Plan, damaged)


@dataclass(frozen=True, slots=True, kw_only=True)
class Yesterday:
    name: str
    gone: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Today:
    name: str
    new: int = 7


def test_a_field_that_came_later_takes_its_default_and_one_that_went_is_passed_over() -> None:
    assert decode(Today, encode(Yesterday(name="a", gone=1))) == Today(name="a", new=7)


@pytest.mark.parametrize("hint", [complex, tuple[int, str], dict[str, int]])
def test_a_type_that_the_vocabulary_does_not_use_is_refused_when_it_is_first_met(hint: type) -> None:
    with pytest.raises(TypeError, match="the codec has no form for"):
        decode(hint, bytes([VERSION]) + zlib.compress(b""))
