"""Two pools that serve each request one after the other: prefill and decode, whose replicas must stand in a ratio.

| own floors, ratio 0.25 to 0.5 | floors | why                                            |
|-------------------------------|--------|------------------------------------------------|
| prefill 4, decode 12          | 4, 12  | 0.33                                           |
| prefill 2, decode 12          | 3, 12  | 12 decode need at least 3 prefill beside them  |
| prefill 8, decode 12          | 8, 16  | 8 prefill need at least 16 decode beside them  |

Floors are only ever raised, each from what both ask for by themselves, so that rounding up one never starts to lift the other in turns;
what a ratio too narrow for whole replicas leaves, less than one of them, is rounding.
"""

from dataclasses import dataclass
from math import inf

from forecaster.units import check_named, check_positive, whole_replicas


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """Which pools they are, and how many prefill replicas there are for each decode replica: at least and at most."""

    prefill: str
    decode: str
    least_ratio: float
    most_ratio: float

    def __post_init__(self) -> None:
        check_named("roles.prefill", self.prefill)
        check_named("roles.decode", self.decode)
        check_positive("roles.ratio", self.least_ratio, "prefill replicas for one of decode")
        check_positive("roles.ratio", self.most_ratio, "prefill replicas for one of decode")
        if self.least_ratio > self.most_ratio:
            msg = f"roles.ratio must be its least and its most value in this order, got {self.least_ratio:g} and {self.most_ratio:g}"
            raise ValueError(msg)
        if self.prefill == self.decode:
            msg = f"roles.prefill and roles.decode must be two pools, got {self.prefill} twice"
            raise ValueError(msg)

    @property
    def told(self) -> str:
        """`0.25 to 0.5 prefill replicas for one of decode`."""
        span = f"{self.least_ratio:g}" if self.least_ratio == self.most_ratio else f"{self.least_ratio:g} to {self.most_ratio:g}"
        return f"{span} replicas of {self.prefill} for one of {self.decode}"

    def other(self, pool: str) -> str | None:
        """The pool of the other role, None for a pool that has none."""
        return {self.prefill: self.decode, self.decode: self.prefill}.get(pool)

    def raised(self, prefill: int, decode: int) -> tuple[int, int]:
        """Floors of both, neither below its own, in the ratio; a larger one of either never lowers any."""
        decode = max(decode, whole_replicas(prefill / self.most_ratio))
        return max(prefill, whole_replicas(self.least_ratio * decode)), decode

    def raised_of(self, pool: str, own: int, other: int) -> int:
        """The floor of one of the two pools beside what the other asks for by itself."""
        return self.raised(own, other)[0] if pool == self.prefill else self.raised(other, own)[1]

    def are_held(self, prefill: int, decode: int) -> bool:
        """Whether replicas stand in the ratio, but for less than one of either."""
        if not decode or not prefill:
            return prefill == decode
        return self.least_ratio * decode - prefill < 1 and prefill / self.most_ratio - decode < max(1.0, 1 / self.most_ratio)

    def ratio(self, prefill: int, decode: int) -> float:
        """Prefill replicas for one of decode."""
        return prefill / decode if decode else inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What the pool of the other role asks for by itself, in replicas."""

    roles: Roles
    pool: str
    other: int

    def raised(self, floor: int) -> int:
        """The floor of this pool in the ratio."""
        return self.roles.raised_of(self.pool, floor, self.other)

    @property
    def told(self) -> str:
        """`beside 12 of decode: 0.25 to 0.5 prefill replicas for one of decode`."""
        return f"beside {self.other} of {self.roles.other(self.pool)}: {self.roles.told}"
