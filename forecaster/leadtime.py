"""How long a replica takes from request to ready."""

from dataclasses import dataclass

from forecaster.units import check_not_negative


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadTime:
    """Request-to-ready in seconds at P90: on a node that is up (`warm_s`) and with a node to be provisioned (`cold_s`).

    Plans use the longer one: whether a node will be there is not known hours ahead. `source` says who measured it.
    """

    warm_s: float
    cold_s: float
    source: str = "configured"

    def __post_init__(self) -> None:
        check_not_negative("lead_time.warm_s", self.warm_s, "seconds")
        check_not_negative("lead_time.cold_s", self.cold_s, "seconds")

    @property
    def plan_s(self) -> float:
        """The lead time that floors are shifted by."""
        return max(self.warm_s, self.cold_s)

    def window_steps(self, step_s: int) -> int:
        """Buckets in [t, t + lead time + one step), rounded up: what a floor at t has to cover."""
        return max(1, int(-(-(self.plan_s + step_s) // step_s)))
