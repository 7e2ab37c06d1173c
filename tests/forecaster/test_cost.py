import numpy as np
import pytest

from forecaster.cost import Prices, cost, newsvendor_level


def prices(late_request: float | None = 0.02, gpu_hour: float = 4.0) -> Prices:
    return Prices(currency="EUR", gpu_hour=gpu_hour, late_request=late_request)


def test_a_missing_replica_hour_costs_the_requests_that_it_would_have_served() -> None:
    assert prices().cost_ratio(replica_rpm=10) == pytest.approx(0.02 * 600 / 4)


def test_without_a_price_of_a_late_request_there_is_no_cost_ratio() -> None:
    assert prices(late_request=None).cost_ratio(replica_rpm=10) is None


def test_the_level_is_the_newsvendors() -> None:
    ratio = prices().cost_ratio(replica_rpm=10)
    assert ratio is not None
    assert newsvendor_level(ratio) == pytest.approx(0.75)


@pytest.mark.parametrize(("ratio", "level"), [(1e-9, 0.05), (1.0, 0.5), (1e9, 0.99)])
def test_the_level_stays_within_those_that_forecasts_state(ratio: float, level: float) -> None:
    assert newsvendor_level(ratio) == level


def test_hours_and_late_requests_add_up_in_money() -> None:
    assert cost(10.0, 100.0, prices()) == pytest.approx(42.0)
    assert cost(np.array([10.0, 0.0]), np.array([100.0, 50.0]), prices()).tolist() == pytest.approx([42.0, 1.0])


def test_late_requests_without_a_price_are_left_out_of_the_sum() -> None:
    assert cost(10.0, 100.0, prices(late_request=None)) == pytest.approx(40.0)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"currency": " "}, "prices.currency must not be empty"),
        ({"gpu_hour": 0.0}, "prices.gpu_hour must be above 0 EUR a replica-hour, got 0"),
        ({"gpu_hour": float("nan")}, "prices.gpu_hour must be above 0"),
        ({"late_request": -1.0}, "prices.late_request must be above 0 EUR a request, got -1"),
    ],
)
def test_prices_that_are_none_are_refused(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Prices(**{"currency": "EUR", "gpu_hour": 4.0, **wrong})  # type: ignore[arg-type]  # wrong on purpose
