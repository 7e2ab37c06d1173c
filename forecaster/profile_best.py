"""Which of the sources that are known a pool's capacity follows, and why not the others."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from forecaster.capacity import Capacity
from forecaster.estimate import Terms
from forecaster.profile import Origin
from forecaster.profile_carried import Carried, Confidence

_ORDER = tuple(Origin)
_NAMES = {
    Origin.REPLAY: "the replay",
    Origin.FILE: "the load test",
    Origin.PRODUCTION: "production",
    Origin.ESTIMATE: "the estimate",
    Origin.CONFIGURED: "the configuration",
}


class Follows(StrEnum):
    """Which profiles a pool asks for, for where no figure is configured."""

    NONE = "none"
    IMPORTED = "imported"
    BEST = "best"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Where a pool's capacity shall come from. figures: as configured. terms: those of the estimate, None = it is not asked for."""

    figures: Capacity = field(default_factory=Capacity)
    follows: Follows = Follows.NONE
    terms: Terms | None = None

    @property
    def is_open(self) -> bool:
        """Whether no figure is configured, and something else is asked for."""
        return not self.figures.is_known and (self.follows is not Follows.NONE or self.terms is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What one source says by now. found: what a replica carries, figures alone where a person configured them, or why nothing is known.

    at: since when it is known. confidence: None = nobody judged it. stale: what is served otherwise by now. slo: what its figures keep,
    in words.
    """

    origin: Origin
    found: Capacity | Carried | str
    at: datetime | None = None
    confidence: Confidence | None = None
    stale: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    slo: str = ""

    @property
    def capacity(self) -> Capacity | None:
        """The figures, None = it proves none."""
        return self.found.capacity if isinstance(self.found, Carried) else self.found if isinstance(self.found, Capacity) else None

    @property
    def name(self) -> str:
        """In words."""
        return _NAMES[self.origin]

    @property
    def carried(self) -> Carried | None:
        """What binds, and at which load; None where only figures are known, or none."""
        return self.found if isinstance(self.found, Carried) else None

    @property
    def fresh_at(self) -> datetime | None:
        """When it was measured, else since when it is known."""
        capacity = self.capacity
        return self.at if capacity is None or capacity.measured_at is None else capacity.measured_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """used: None = none of them may be used. beside: the others, each with why it is not in use."""

    used: Source | None = None
    beside: tuple[tuple[Source, str], ...] = ()


def choose(sources: Sequence[Source], asked: Asked) -> Choice:
    """The source that a pool's floors rest on, of its configured figures and `sources`, at most one an origin.

    | in the configuration    | in use                                                                                                |
    | figures                 | they, whatever else is known                                                                          |
    | `profile: imported`     | the fresher one of replay and file                                                                    |
    | `profile: best`         | the first of replay, file, production and estimate; one of low confidence, as a stale one always is,  |
    |                         | gives way to a fresher one further on whose confidence is higher                                      |
    | only `estimate`         | the estimate                                                                                          |
    | nothing                 | none: the pool is held                                                                                |

    What proves no capacity is passed over. An estimate is of low confidence, so that it is in use only where nothing else proves any.
    """
    configured = [Source(origin=Origin.CONFIGURED, found=asked.figures)] if asked.figures.is_known else []
    in_order = sorted([*sources, *configured], key=lambda source: _ORDER.index(source.origin))
    proven = [source for source in in_order if source.capacity is not None]
    used = _used(proven, asked)
    return Choice(used=used, beside=tuple((source, _why_not(source, used, asked)) for source in in_order if source is not used))


def _used(proven: Sequence[Source], asked: Asked) -> Source | None:
    configured = next((source for source in proven if source.origin is Origin.CONFIGURED), None)
    if configured is not None:
        return configured
    eligible = [source for source in proven if not _unasked(source, asked)]
    if asked.follows is Follows.IMPORTED:
        return max(eligible, key=lambda source: (_fresh_s(source), -_ORDER.index(source.origin)), default=None)
    used: Source | None = None
    for source in eligible:
        if used is None or (_is_low(used) and not _is_low(source) and _fresh_s(source) > _fresh_s(used)):
            used = source
    return used


def _why_not(source: Source, used: Source | None, asked: Asked) -> str:
    if isinstance(source.found, str):
        return source.found if source.origin is Origin.ESTIMATE else f"proves no capacity: {source.found}"
    if used is not None and used.origin is Origin.CONFIGURED:
        return "figures in the configuration win"
    unasked = _unasked(source, asked)
    if unasked or used is None:
        return unasked
    if asked.follows is Follows.IMPORTED:
        return f"{used.name} is fresher"
    if _ORDER.index(source.origin) > _ORDER.index(used.origin):
        return f"{used.name} goes before it"
    return f"of low confidence, and {used.name} is fresher and of {used.confidence} confidence"


def _unasked(source: Source, asked: Asked) -> str:
    """Why the pool does not ask for it, empty where it does."""
    match source.origin:
        case Origin.ESTIMATE:
            return "" if asked.terms is not None else "the pool has no `estimate`"
        case Origin.REPLAY | Origin.FILE | Origin.PRODUCTION if asked.follows is Follows.NONE:
            return "the pool does not ask for it: write `capacity: {profile: best}`"
        case Origin.PRODUCTION if asked.follows is Follows.IMPORTED:
            return "`profile: imported` follows replays and files alone; `profile: best` follows it as well"
        case _:
            return ""


def _is_low(source: Source) -> bool:
    return source.confidence in {None, Confidence.LOW}


def _fresh_s(source: Source) -> float:
    """Of the instant, the beginning of time where it is not known."""
    return 0.0 if source.fresh_at is None else source.fresh_at.timestamp()
