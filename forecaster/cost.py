"""What a floor is worth."""

from forecaster.units import check_positive

_LEAST_LEVEL, _MOST_LEVEL = 0.05, 0.99


def newsvendor_level(cost_ratio: float) -> float:
    """The quantile level that costs least when a missing replica-hour costs `cost_ratio` times an idle one: Cu / (Cu + Co).

    Kept within 0.05 and 0.99, the levels that forecasts state. Source: the newsvendor problem (Arrow, Harris, Marschak 1951).
    """
    check_positive("cost_ratio", cost_ratio, "")
    return min(_MOST_LEVEL, max(_LEAST_LEVEL, cost_ratio / (1 + cost_ratio)))
