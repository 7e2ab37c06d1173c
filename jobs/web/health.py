"""Whether the daemon does its work: a dead-man check, by what was done and not by what is alive."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from forecaster.units import iso
from jobs.telemetry.runs import Diary, Half

MISSED_APPLIES = 3
"""So many intervals may pass without a successful apply: one is bad luck, two a slow API, three are a fault."""
GRACE_S = 30.0
"""And this much longer: an apply of 2,000 targets takes most of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """The answer of `/healthz` at `now`. applied_at, forecast_at: when each half last got something done, None when not known."""

    ok: bool
    reason: str
    now: datetime
    applied_at: datetime | None
    forecast_at: datetime | None

    def to_json(self) -> dict[str, object]:
        """Names that say what they mean; instants in ISO 8601, ages in whole seconds, null where nothing is known."""
        return {
            "ok": self.ok,
            "reason": self.reason,
            "now": iso(self.now),
            "last_apply": iso(self.applied_at) if self.applied_at is not None else None,
            "last_apply_age_s": self._age_s(self.applied_at),
            "last_forecast": iso(self.forecast_at) if self.forecast_at is not None else None,
            "last_forecast_age_s": self._age_s(self.forecast_at),
        }

    def _age_s(self, at: datetime | None) -> int | None:
        return None if at is None else int((self.now - at).total_seconds())


def allowed_s(apply_every_s: float) -> float:
    """How old the last successful apply may be, in seconds, while somebody still decides."""
    return MISSED_APPLIES * apply_every_s + GRACE_S


def health(diary: Diary, apply_every_s: float, now: datetime) -> Health:
    """Well while the last apply succeeded within 3 intervals and a grace; before the first one the start counts.

    So is a replica that stands by: the lease of the one at work is good, whose own health says how it works.
    """
    applied_at, forecast_at = diary.succeeded_at(Half.APPLY), diary.succeeded_at(Half.FORECAST)
    longest_s = allowed_s(apply_every_s)
    ok = now - (applied_at or diary.started_at) <= timedelta(seconds=longest_s)
    stood_by_at = diary.stood_by_at()
    if stood_by_at is not None and now - stood_by_at <= timedelta(seconds=longest_s) and (applied_at is None or applied_at < stood_by_at):
        ok, reason = True, "standing by: another replica has the lease"
    elif ok:
        reason = "the last apply succeeded" if applied_at is not None else "started, no apply has ended yet"
    else:
        last = diary.last(Half.APPLY)
        why = last.sentence if last is not None else "none has ended"
        since = f"since {iso(applied_at)}" if applied_at is not None else f"since the start at {iso(diary.started_at)}"
        reason = f"no apply has succeeded {since}, {longest_s:g} s are allowed; the last one: {why}"
    return Health(ok=ok, reason=reason, now=now, applied_at=applied_at, forecast_at=forecast_at)
