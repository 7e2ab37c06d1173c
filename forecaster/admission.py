"""How much may be let in: limits that follow the capacity that is ready, not the one that is asked for.

With n replicas that count, each carrying mu requests a minute and c in flight inside the SLO:

    rate of a tenant    its share of n mu, and of what caches answer on top: paid tenants first, each up to what it bought, then the
                        others; within a class by weight
    burst of a tenant   the same share of n c, the requests that may be in flight
    queue timeout       SLO - service time: who waits longer is late whatever happens then
    queue length        n mu / 60 x queue timeout: those that are served within it (Little's law)
    breaker             n c

The replicas that count are those that are ready, so limits rise after readiness; and no more than will stay, so they fall before a drain.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from forecaster.units import MINUTE_S, check_named, check_not_negative, check_positive


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """Who shares the capacity. bought_rpm: most requests a minute that it is let in with, None = as much as there is."""

    name: str
    weight: float = 1.0
    paid: bool = False
    bought_rpm: float | None = None

    def __post_init__(self) -> None:
        check_named("tenant.name", self.name)
        check_positive("tenant.weight", self.weight, "")
        if self.bought_rpm is not None:
            check_positive("tenant.bought_rpm", self.bought_rpm, "requests/min")


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What one replica carries inside its SLO (requests a minute, requests in flight), the SLO on latency, and the mean service time.

    Raises ValueError where service alone takes as long as the SLO, or where a paid tenant without a limit leaves others nothing.
    """

    rpm: float
    concurrency: float
    slo_s: float
    service_s: float
    tenants: tuple[Tenant, ...]

    def __post_init__(self) -> None:
        check_positive("admission.rpm", self.rpm, "requests/min")
        check_positive("admission.concurrency", self.concurrency, "requests in flight")
        check_positive("admission.slo_s", self.slo_s, "seconds")
        check_positive("admission.service_s", self.service_s, "seconds")
        if self.service_s >= self.slo_s:
            msg = f"service takes {self.service_s:g} s of an SLO of {self.slo_s:g} s: nothing may wait, so there is no queue to size"
            raise ValueError(msg)
        names = [tenant.name for tenant in self.tenants]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            msg = f"two tenants are named {twice}"
            raise ValueError(msg)
        greedy = next((tenant.name for tenant in self.tenants if tenant.paid and tenant.bought_rpm is None), None)
        if greedy is not None and any(not tenant.paid for tenant in self.tenants):
            msg = f"the paid tenant {greedy} has no limit and would leave nothing to those that do not pay: say what it bought"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """One tenant's token bucket: requests a minute, and requests at once."""

    tenant: str
    rate_rpm: int
    burst: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a gateway may let in. Rounded down: a request too many is one that is late. replicas: those that count."""

    replicas: int
    tenants: tuple[Limit, ...]
    queue_length: int
    queue_timeout_s: float
    breaker: int


def replicas_that_count(ready: int | None, *, floor: int | None, coming: int | None) -> int | None:
    """The replicas that limits may rest on; None = unknown, and what stands is kept.

    ready: None = unknown. floor: the one in force; coming: the smallest one over the notice ahead; None = unknown, no drain is known of.
    Where more are ready than the floor asks for, it is load that holds them there, and a lower floor drains none of them.
    """
    if ready is None:
        return None
    if floor is None or coming is None or coming >= floor or ready > floor:
        return max(ready, 0)
    return max(min(ready, coming), 0)


def limits_of(service: Service, replicas: int, *, left_ratio: float = 1.0) -> Limits:
    """The limits for so many replicas that count. left_ratio: the part of the requests let in whose work caches leave to them."""
    check_not_negative("replicas", replicas, "replicas")
    check_positive("left_ratio", left_ratio, "")
    rpm, in_flight = replicas * service.rpm, replicas * service.concurrency
    let_in_rpm = rpm / left_ratio
    wait_s = service.slo_s - service.service_s
    return Limits(
        replicas=replicas,
        tenants=tuple(
            Limit(tenant=tenant.name, rate_rpm=math.floor(rate), burst=_burst(rate, let_in_rpm, in_flight))
            for tenant, rate in zip(service.tenants, _rates(service.tenants, let_in_rpm), strict=True)
        ),
        queue_length=math.floor(rpm / MINUTE_S * wait_s),
        queue_timeout_s=wait_s,
        breaker=math.floor(in_flight),
    )


def _burst(rate_rpm: float, rpm: float, in_flight: float) -> int:
    """At least one where the tenant may send at all: a bucket of none lets nothing through."""
    return max(math.floor(in_flight * rate_rpm / rpm), 1) if rate_rpm >= 1 else 0


def _rates(tenants: Sequence[Tenant], rpm: float) -> list[float]:
    """Requests a minute for each: those that paid first, and what they leave for the others."""
    rates = dict.fromkeys((tenant.name for tenant in tenants), 0.0)
    left = rpm
    for paid in (True, False):
        shared = _shared([tenant for tenant in tenants if tenant.paid is paid], left)
        rates |= shared
        left = max(left - sum(shared.values()), 0.0)
    return [rates[tenant.name] for tenant in tenants]


def _shared(tenants: Sequence[Tenant], rpm: float) -> dict[str, float]:
    """Weighted max-min fairness: what one cannot use of its share goes to the others by weight."""
    rates: dict[str, float] = {}
    open_, left = list(tenants), rpm
    while open_:
        per_weight = left / sum(tenant.weight for tenant in open_)
        full = [tenant for tenant in open_ if tenant.bought_rpm is not None and tenant.bought_rpm <= per_weight * tenant.weight]
        if not full:
            return rates | {tenant.name: per_weight * tenant.weight for tenant in open_}
        for tenant in full:
            rates[tenant.name] = tenant.bought_rpm or 0.0
            left -= rates[tenant.name]
            open_.remove(tenant)
        left = max(left, 0.0)
    return rates
