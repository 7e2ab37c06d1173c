"""How values become bytes and come back."""

import zlib
from base64 import b64decode
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.stores.codec import VERSION, decode, encode
from connectors.stores.days import Day, split
from forecaster.decision import CycleRecord, Ruling
from forecaster.demand import Demand
from forecaster.errors import StoreError
from forecaster.events import EventEntry
from forecaster.forecast import Forecast
from forecaster.gains import Gains
from forecaster.marks import Mark
from forecaster.plan import Plan
from forecaster.reasons import Code, Reason
from forecaster.series import Signal
from tests.contracts.store import (
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
)
from tests.values import demand_of

WRITTEN_BY_VERSION_1 = Path(__file__).parent / "payloads_v1.txt"

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


def test_arrays_come_back_read_only() -> None:
    (day,) = split(series([1, 2])).values()
    with pytest.raises(ValueError, match="read-only"):
        decode(Day, encode(day)).mean[0] = 3


def test_scalars_of_numpy_are_written_as_what_the_field_says() -> None:
    reason = Reason(code=Code.HOLD, detail="", before=np.int64(3), after=None)  # type: ignore[arg-type]  # as models do
    back = decode(Reason, encode(reason))
    assert back == Reason(code=Code.HOLD, detail="", before=3)
    assert type(back.before) is int


@pytest.mark.parametrize("kind", [Forecast, Plan, CycleRecord, Ruling, Mark, EventEntry])
def test_what_version_1_has_written_is_read_for_ever(kind: type) -> None:
    lines = dict(line.split() for line in WRITTEN_BY_VERSION_1.read_text().splitlines())
    expected = {Forecast: forecast(), Plan: plan(), CycleRecord: record(), Ruling: ruling(), Mark: mark(), EventEntry: event_entry()}
    assert same(decode(kind, b64decode(lines[kind.__name__])), expected[kind])


def test_the_gains_of_a_forecast_and_of_a_demand_come_back() -> None:
    gains = Gains(leads_s=(0, 600), short=(0.6, 0.25), long=(0.3, 0.125), days=9, cut=(0.4, -0.01))
    assert decode(Forecast, encode(replace(forecast(), gains=gains))).gains == gains
    for known in (gains, None):
        assert decode(Demand, encode(replace(demand_of([9.0]), gains=(known,)))).gains_of(Signal.RPM) == known


def test_an_unknown_codec_version_is_refused_with_the_remedy() -> None:
    newer = bytes([VERSION + 1]) + encode(plan())[1:]
    with pytest.raises(StoreError) as refused:
        decode(Plan, newer)
    assert str(refused.value) == "the store holds a Plan in codec version 2, and this release reads version 1: upgrade Forecaster"


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
