"""What production says that a replica carries: looked at, told beside what is in use, and kept where a person asks for it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from forecaster.errors import HistoryAtOtherStep, NothingKept, SourceError
from forecaster.learned import Learned, learned
from forecaster.ports import Store
from forecaster.profile import ProfileEntry, Setup, Slo
from forecaster.profile_carried import Carried
from forecaster.units import DAY_S, spell_number
from jobs.capacity.known import newest_of
from jobs.capacity.observed import Sight, alone, lately, observed, sight
from jobs.fleet import Fleet, Member

DAYS, MOST_DAYS = 14, 90
_APART_RATIO = 0.2
"""Figures that differ by more speak of two setups, as with those of load tests."""
_NO_SLO = "a capacity is that within an SLO, and no profile was kept to take it from: say what P95 must keep, such as --slo e2e_p95=10s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """What was found of one workload. pool: empty where it has several. slo: what it was judged at, None = nobody says.

    in_use_rpm: what floors rest on, None = not known.
    """

    workload: str
    pool: str
    learned: Learned
    slo: Slo | None = None
    in_use_rpm: float | None = None

    @property
    def told(self) -> str:
        """The outcome in one sentence."""
        found = self.learned.found
        if isinstance(found, str) or self.slo is None:
            return f"not identified: {found}"
        rpm = found.capacity.rpm or 0.0
        carries = f"a replica carries {spell_number(round(rpm, 1))} rpm within {self.slo.told}"
        if self.in_use_rpm is None:
            return carries
        apart = self.in_use_rpm / rpm - 1
        more = f", {abs(apart):.0%} {'more' if apart > 0 else 'less'} than that" if abs(apart) > _APART_RATIO else ""
        return f"{carries}; {spell_number(self.in_use_rpm)} rpm are in use{more}"


def lessons(fleet: Fleet, members: Sequence[Member], slo: Slo | None, days: int, now: datetime) -> Iterator[Lesson]:
    """What the last `days` of each member show within `slo`, None = that of its last profile. Raises StoreError."""
    keys = [(member.workload.name, pool.name) for member in members for pool in member.workload.serving]
    before = newest_of(fleet.store, keys, now)
    for member in members:
        window = lately(now, days * DAY_S, member.step_s)
        seen = sight(fleet, (member,), window, now)
        try:
            pool = alone(member).name
            entry = before.get((member.workload.name, pool))
            yield _lesson(seen, member, slo or (None if entry is None else entry.slo), days)
        except (NothingKept, HistoryAtOtherStep, SourceError) as error:
            yield Lesson(workload=member.workload.name, pool="", learned=Learned(found=str(error), bins=(), profile=None))


def keep(store: Store, lesson: Lesson, author: str, now: datetime) -> ProfileEntry | None:
    """Keep what was learned as the pool's profile from `now` on; None where nothing was identified. Raises StoreError."""
    profile = lesson.learned.profile
    if profile is None or lesson.slo is None or not isinstance(lesson.learned.found, Carried):
        return None
    entry = ProfileEntry(at=now, author=author, profile=profile, slo=lesson.slo)
    store.append_profiles([(lesson.workload, lesson.pool, entry)])
    return entry


def _lesson(of: Sight, member: Member, slo: Slo | None, days: int) -> Lesson:
    pool, name = alone(member), member.workload.name
    if slo is None:
        return Lesson(workload=name, pool=pool.name, learned=Learned(found=_NO_SLO, bins=(), profile=None))
    window = lately(of.now, days * DAY_S, member.step_s)
    seen = observed(of, member, pool, slo, window)
    source = f"production, {days} {'day' if days == 1 else 'days'} to {window.end:%d %b %Y}"
    found = learned(seen, slo, source=source, setup=member.servings.get(pool.name, Setup()), at=window.end)
    return Lesson(workload=name, pool=pool.name, learned=found, slo=slo, in_use_rpm=pool.capacity.rpm)
