"""Single seconds: told where samples lie a second apart, refused with their distance where they do not."""

import sqlite3
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from connectors.sources.csv import CsvConfig, CsvSource
from connectors.sources.sql import SqlConfig, SqlSource
from forecaster.ports import Query, SecondSource, Unit
from forecaster.seconds import Seconds
from forecaster.series import Series, Signal, Window
from forecaster.units import iso
from tests.connectors.sources.asking import START, opened
from tests.prometheus import counter, gauge, prometheus_server

QUARTER = Window(start=START, end=START + timedelta(minutes=15))
BURST = 500
"""Second of the quarter in which 40 requests come at once; in the others 3 do."""
SQL = "SELECT at, requests FROM load WHERE at >= :start AND at < :end"


def per_second(expression: str) -> Query:
    return Query(signal=Signal.RPM, expression=expression, unit=Unit.PER_SECOND)


def counts(n: int = 900) -> list[float]:
    return [40.0 if i == BURST else 3.0 for i in range(n)]


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Counters that were scraped every second, every 15 s and every half second; `mixed_total` has one series of each of two kinds."""
    fifteens = [float(sum(counts()[i : i + 15])) for i in range(0, 900, 15)]
    text = counter("fine_total", START, counts(), step_s=1) + counter("coarse_total", START, fifteens, step_s=15)
    text += counter("mixed_total", START, counts(), labels='pod="a"', step_s=1)
    text += counter("mixed_total", START, fifteens, labels='pod="b"', step_s=15)
    text += counter("born_total", START + timedelta(seconds=400), counts(500), step_s=1)
    text += gauge("gauge", START, counts(), step_s=1)
    with prometheus_server(tmp_path_factory.mktemp("prometheus"), text) as url:
        yield url


def asked(url: str, query: Query) -> Seconds:
    with opened(url) as source:
        assert isinstance(source, SecondSource)
        return source.seconds(query, QUARTER)


def seconds_of(told: Seconds) -> Series:
    assert told.series is not None
    assert (told.series.start, len(told.series)) == (START, 900)
    return told.series


def test_a_counter_that_is_scraped_every_second_tells_each_second_however_long_the_range_of_its_rate(prometheus: str) -> None:
    told = asked(prometheus, per_second("sum(rate(fine_total[2m]))"))
    assert told.grain_s == pytest.approx(1)
    rpm = seconds_of(told).mean
    assert int(np.nanargmax(rpm)) == BURST
    assert rpm[BURST] == pytest.approx(40 * 60)
    np.testing.assert_allclose(np.delete(rpm, BURST)[2:], 3 * 60)


def test_a_counter_that_is_scraped_every_15_seconds_knows_no_second(prometheus: str) -> None:
    told = asked(prometheus, per_second("sum(rate(coarse_total[2m]))"))
    assert told == Seconds(grain_s=15)


def test_of_several_series_the_one_that_is_scraped_least_often_tells(prometheus: str) -> None:
    for query in ("sum(rate(mixed_total[2m]))", "sum(rate(fine_total[2m])) + sum(rate(coarse_total[2m]))"):
        told = asked(prometheus, per_second(query))
        assert told == Seconds(grain_s=15)


def test_a_series_that_began_in_the_window_is_not_taken_for_a_slow_one(prometheus: str) -> None:
    told = asked(prometheus, per_second("sum(rate(born_total[2m]))"))
    rpm = seconds_of(told).mean
    assert np.isnan(rpm[:400]).all()
    assert np.nanmax(rpm) == pytest.approx(3 * 60)


def test_a_part_that_matches_nothing_adds_nothing(prometheus: str) -> None:
    told = asked(prometheus, per_second("sum(rate(fine_total[2m])) or sum(rate(older_name_total[2m]))"))
    assert np.nanmax(seconds_of(told).mean) == pytest.approx(40 * 60)


@pytest.mark.parametrize(
    "query",
    [
        per_second("sum(gauge)"),
        per_second("sum(rate(nowhere_total[2m]))"),
        Query(signal=Signal.RPM, expression="sum(increase(fine_total[1m]))", unit=Unit.PER_MINUTE),
        Query(signal=Signal.RPM, expression="sum(rate(fine_total[2m])) * 60", unit=Unit.COUNT),
    ],
)
def test_what_is_no_rate_of_a_counter_that_is_there_has_no_grain_and_nothing_is_made_up(prometheus: str, query: Query) -> None:
    assert asked(prometheus, query) == Seconds()


def test_a_file_tells_seconds_where_its_rows_are_seconds(tmp_path: Path) -> None:
    for step_s, rows in ((1, counts()), (15, counts(60))):
        path = tmp_path / f"{step_s}.csv"
        stamped = [f"{iso(START + timedelta(seconds=i * step_s))},{value}" for i, value in enumerate(rows)]
        path.write_text("\n".join(["timestamp,value", *stamped]))
        told = CsvSource(CsvConfig(type="csv", path=path)).seconds(Query(signal=Signal.RPM, expression="value", unit=Unit.COUNT), QUARTER)
        assert told.grain_s == step_s
        if step_s == 1:
            assert seconds_of(told).mean.tolist() == [60 * value for value in counts()]
        else:
            assert told.series is None


def test_a_database_tells_seconds_where_its_rows_are_said_to_be_seconds_and_a_second_without_a_row_is_unknown(tmp_path: Path) -> None:
    path = tmp_path / "load.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE load (at INTEGER, requests REAL)")
        rows = [(int(START.timestamp()) + i, value) for i, value in enumerate(counts()) if i != 7]
        db.executemany("INSERT INTO load VALUES (?, ?)", rows)
    db.close()
    query = Query(signal=Signal.RPM, expression=SQL, unit=Unit.COUNT)
    for bucket_s in (1, 60):
        config = {"type": "sql", "url": f"sqlite:///{path}", "times": "epoch", "bucket_s": bucket_s}
        source = SqlSource(SqlConfig.model_validate(config))
        told = source.seconds(query, QUARTER)
        source.close()
        assert told.grain_s == bucket_s
        if bucket_s == 1:
            rpm = seconds_of(told).mean
            assert (rpm[BURST], np.isnan(rpm[7]), np.isnan(rpm).sum()) == (40 * 60, True, 1)
        else:
            assert told.series is None


@pytest.mark.parametrize(
    "wrong", [{"grain_s": 0.0}, {"series": Series(signal=Signal.RPM, start=START, step_s=60, mean=np.ones(1), peak=np.ones(1))}]
)
def test_seconds_have_a_grain_above_zero_and_steps_of_a_second(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="seconds"):
        Seconds(**wrong)  # type: ignore[arg-type]  # wrong is what is refused
