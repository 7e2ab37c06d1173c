"""What a floor is worth: replica-hours and late requests in money, and the level at which the two cost least together."""

from dataclasses import dataclass
from typing import TypeVar

from forecaster.series import Floats
from forecaster.units import HOUR_S, MINUTE_S, check_named, check_positive

_LEAST_LEVEL, _MOST_LEVEL = 0.05, 0.99
_HOUR_MIN = HOUR_S // MINUTE_S
Amount = TypeVar("Amount", float, Floats)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """What is paid, in one currency: for a replica-hour, and for a request that is late (None = nobody said, which is not free)."""

    currency: str
    gpu_hour: float
    late_request: float | None = None

    def __post_init__(self) -> None:
        check_named("prices.currency", self.currency)
        check_positive("prices.gpu_hour", self.gpu_hour, f"{self.currency} a replica-hour")
        if self.late_request is not None:
            check_positive("prices.late_request", self.late_request, f"{self.currency} a request")

    def cost_ratio(self, replica_rpm: float) -> float | None:
        """Cost of a missing replica-hour, the requests that it would have served, over that of an idle one; None without a price of them.

        Cu / Co = late_request x replica_rpm x 60 / gpu_hour, for a replica that serves `replica_rpm` requests a minute inside its SLO.
        """
        check_positive("replica_rpm", replica_rpm, "requests/min")
        return None if self.late_request is None else self.late_request * replica_rpm * _HOUR_MIN / self.gpu_hour


def cost(replica_hours: Amount, late_requests: Amount, prices: Prices) -> Amount:
    """What so many replica-hours and late requests cost together, in the currency of the prices; elementwise for arrays.

    Late requests that nobody put a price on are left out of the sum: show their number beside it.
    """
    return replica_hours * prices.gpu_hour + late_requests * (prices.late_request or 0.0)


def newsvendor_level(cost_ratio: float) -> float:
    """The quantile level that costs least when a missing replica-hour costs `cost_ratio` times an idle one: Cu / (Cu + Co).

    Kept within 0.05 and 0.99, the levels that forecasts state. Source: the newsvendor problem (Arrow, Harris, Marschak 1951).
    """
    check_positive("cost_ratio", cost_ratio, "")
    return min(_MOST_LEVEL, max(_LEAST_LEVEL, cost_ratio / (1 + cost_ratio)))
