"""The `cache` of a workload: what of its load is taken off for answers and prefixes that are kept."""

from collections.abc import Collection, Iterable
from typing import Self

from pydantic import BaseModel, Field, model_validator

from connectors.sources.presets.preset import Preset, Role
from connectors.sources.presets.quantity import Quantity
from forecaster.caches import Caches, Counted, Hits
from forecaster.roles import Roles
from jobs.config.policy import SECTION
from jobs.config.presets import Supply
from jobs.config.scalars import Count, Number


class CountedSection(BaseModel):
    """How much of the hits is counted on."""

    model_config = SECTION
    quantile: Number = Field(0.05, ge=0, le=0.5)
    """Which quantile of the share of hits, 0 to 0.5. Default 0.05: all but the worst eight hours of a week had more."""
    days: Count = Field(7, le=90)
    """Over how many days before, 1 to 90. Default 7: a week has all of its hours once."""

    def counted(self) -> Counted:
        """The same in the core's type."""
        return Counted(quantile=self.quantile, days=self.days)


class PrefixSection(CountedSection):
    """How much of the prefix hits is counted on, and what they take of a replica's work."""

    prefill_share: Number | None = Field(None, gt=0, le=1)
    """The part of a request's service that is prefill while nothing is kept, above 0 to 1: time to the first token over time of the whole
    request, in a load test without queue and shared prefixes. Default: none, for pools with `roles`, where prefill is all that one pool
    does."""
    measured: Number = Field(0.0, ge=0, lt=1)
    """Prefix hits when capacity was measured, 0 to below 1, so that they do not count twice. Default 0: it was measured cold."""


class CacheSection(BaseModel):
    """Caches whose hits come off the load, at a low quantile of the days before; what is not known takes nothing off."""

    model_config = SECTION
    responses: CountedSection | None = None
    """Answers that are kept before the engines, such as at a gateway: hits come off arrivals, which must be counted before the cache. Needs
    the signal `response_hits`. Default: none come off."""
    prefix: PrefixSection | None = None
    """Prompts that are kept in the engines: hits come off prefill only. Needs the signal `prefix_hits`. Default: none come off."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.responses is None and self.prefix is None:
            raise ValueError("cache takes nothing off: write `responses: {}` or `prefix: {prefill_share: 0.3}` under it, or leave it out")
        return self

    def to_core(self, pool: str, roles: Roles | None) -> Caches:
        """The same for one pool, in the core's type."""
        prefix = self.prefix
        return Caches(
            responses=None if self.responses is None else self.responses.counted(),
            prefix=None if prefix is None else prefix.counted(),
            prefill_ratio=0.0 if prefix is None else _prefill_ratio(pool, roles, prefix.prefill_share),
            measured=Hits(prefix=None if prefix is None else prefix.measured),
        )

    def check(self, signals: Collection[str], supplies: Iterable[Supply], pools: Iterable[str], roles: Roles | None) -> None:
        """Refuse what nothing tells of, and what would come off twice. signals: those that are written out. Raises ValueError."""
        supplied = {supply.quantity: supply.preset for supply in supplies}
        wanted = ((self.responses, Quantity.RESPONSE_HITS), (self.prefix, Quantity.PREFIX_HITS))
        for name in (quantity.value for part, quantity in wanted if part is not None):
            if name not in {*signals, *(quantity.value for quantity in supplied)}:
                msg = f"cache needs the signal {name}: write its query under signals, or name a preset that supplies it"
                raise ValueError(msg)
        if self.responses is not None:
            self._check_arrivals(signals, supplied.get(Quantity.RPM))
        if self.prefix is not None and not any(_prefill_ratio(pool, roles, self.prefix.prefill_share) for pool in pools):
            raise ValueError(
                "cache.prefix needs prefill_share, the part of a request that is prefill, or roles that say which pool does it"
            )

    def _check_arrivals(self, signals: Collection[str], preset: Preset | None) -> None:
        """Refuse answers to come off what is no arrival, or no longer one."""
        if Quantity.RPM.value in signals:
            return
        if preset is None:
            raise ValueError(
                "cache.responses needs the signal rpm: hits come off arrivals, and requests in flight are short of them already"
            )
        if preset.role is Role.ENGINE:
            told = f"cache.responses: rpm is counted by the engine ({preset.name}), behind the cache, so that hits are not in it"
            raise ValueError(f"{told}; put the gateway's preset before it, or take responses out")


def _prefill_ratio(pool: str, roles: Roles | None, told: float | None) -> float:
    """The part of a request's service in a pool that is prefill: all of it or none where pools have roles."""
    if roles is not None and roles.other(pool) is not None:
        return 1.0 if pool == roles.prefill else 0.0
    return told or 0.0
