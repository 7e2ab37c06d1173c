"""What a person looks at before a day: tomorrow's load and floors against the past, and what needs a decision."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from forecaster.errors import NothingKept
from forecaster.events import Event
from forecaster.ports import Store
from forecaster.series import Signal
from forecaster.trust import Trust
from jobs.fleet import Member
from jobs.views.attention import Attention, attention
from jobs.views.days import local_day
from jobs.views.kept import Kept
from jobs.views.marks import Marked, marked_spans
from jobs.views.pools import PoolReview, review_pool
from jobs.views.signals import SignalReview, review_signal


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """One workload. `tomorrow` is the local day after that of `now`; marks: what of the history behind it is not as measured."""

    now: datetime
    member: Member
    tomorrow: date
    signals: tuple[SignalReview, ...]
    pools: tuple[PoolReview, ...]
    marks: tuple[Marked, ...]
    attention: tuple[Attention, ...]

    def trust_in(self, signal: Signal) -> Trust | None:
        """What the newest plan thought of a signal's forecast, None where it did not judge it."""
        told = (found for pool in self.pools if pool.proposed is not None for found in pool.proposed.trusts)
        return next((found for found in told if found.signal is signal), None)


def review_members(store: Store, members: tuple[Member, ...], now: datetime, events: tuple[Event, ...] = ()) -> tuple[Review, ...]:
    """A review of each member. Raises NothingKept when the store holds neither forecast nor plan of any of them, and StoreError."""
    reviews = tuple(review(Kept(store=store, member=member, now=now, events=events)) for member in members)
    if not any(s.forecast for r in reviews for s in r.signals) and not any(p.proposed for r in reviews for p in r.pools):
        of = f" of {members[0].workload.name}" if len(members) == 1 else ""
        missing = "the store holds no forecast of the last two weeks"
        raise NothingKept(f"there is nothing to review{of}: {missing}; run `forecaster run` first, it says what stands in the way")
    return reviews


def review(kept: Kept) -> Review:
    """One workload."""
    tomorrow = kept.workload.calendar.local(kept.now).date() + timedelta(days=1)
    signals = tuple(review_signal(kept, signal, tomorrow) for signal in kept.forecast_signals)
    trained = [signal.forecast.trained_on.start for signal in signals if signal.forecast is not None]
    shown = [*trained, local_day(kept.workload.calendar, tomorrow - timedelta(days=7)).start]
    pools = tuple(review_pool(kept, pool, signals, tomorrow) for pool in kept.workload.pools)
    return Review(
        now=kept.now,
        member=kept.member,
        tomorrow=tomorrow,
        signals=signals,
        pools=pools,
        marks=marked_spans(kept, kept.forecast_signals, min(shown)),
        attention=attention(kept, pools, signals),
    )
