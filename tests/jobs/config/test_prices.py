"""Prices: with a currency and above zero, or one clear sentence."""

from pathlib import Path

import pytest

from forecaster.cost import Prices
from jobs.config.reading import read_config
from tests.jobs.config.samples import SAMPLE, SOURCES, WORKLOAD, faults_of, with_workload

POOL = "capacity: {rpm: 60}"


def with_prices(written: str) -> str:
    return f"{SAMPLE}prices: {written}\n"


def test_prices_are_absent_by_default_and_read_where_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "forecaster.yaml"
    path.write_text(SAMPLE)
    assert read_config(path).prices is None
    path.write_text(with_prices("{currency: EUR, gpu_hour: 2.4, late_request: 0.02}"))
    prices = read_config(path).prices
    assert prices is not None
    assert prices.to_core() == Prices(currency="EUR", gpu_hour=2.4, late_request=0.02)


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("{gpu_hour: 2.4}", "prices.currency: is missing: currency of all prices, such as EUR or USD"),
        ("{currency: EUR}", "prices.gpu_hour: is missing: price of one replica for one hour, with all of its GPUs"),
        ("{currency: '', gpu_hour: 2.4}", "prices.currency: must not be empty"),
        ("{currency: ' ', gpu_hour: 2.4}", "prices: prices.currency must not be empty"),
        ("{currency: EUR, gpu_hour: -1}", "prices.gpu_hour: must be above 0, got -1"),
        ("{currency: EUR, gpu_hour: 0}", "prices.gpu_hour: must be above 0, got 0"),
        ("{currency: EUR, gpu_hour: 2.4, late_request: -0.1}", "prices.late_request: must be above 0, got -0.1"),
        ("{currency: EUR, gpu_hour: free}", "prices.gpu_hour: must be a number, got 'free'"),
        ("2.4", "prices: must be a section with keys of its own"),
    ],
)
def test_a_price_that_is_none_is_one_sentence(tmp_path: Path, written: str, sentence: str) -> None:
    assert faults_of(tmp_path, with_prices(written)) == [f"forecaster.yaml: {sentence}"]


def test_a_pools_own_price_needs_the_currency_too(tmp_path: Path) -> None:
    told = "is a price without a currency; say it in `prices`, with the price of the other pools"
    priced = with_workload(POOL, f"{POOL}, gpu_hour: 9")
    assert faults_of(tmp_path, priced) == [f"forecaster.yaml: workloads[0].pools[0].gpu_hour: {told}"]
    path = tmp_path / "forecaster.yaml"
    path.write_text(f"{priced}prices: {{currency: EUR, gpu_hour: 2}}\n")
    assert read_config(path).workloads[0].pools[0].gpu_hour == 9


def test_so_does_one_in_an_included_file(tmp_path: Path) -> None:
    team = f"workloads:{WORKLOAD}".replace(POOL, f"{POOL}, gpu_hour: 9")
    faults = faults_of(tmp_path, f"{SOURCES}include: [team.yaml]\n", team=team)
    assert len(faults) == 1
    assert "team.yaml: workloads[0].pools[0].gpu_hour: is a price without a currency" in faults[0]
