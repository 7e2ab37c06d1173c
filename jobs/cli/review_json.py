"""What `review` prints for programs."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from forecaster.forecast import DailyPeak
from forecaster.reasons import Reason
from forecaster.series import Window
from forecaster.units import DAY_S, floor_to, from_epoch_s
from jobs.cli.marks import marks_json
from jobs.cli.members import members_json, record_json
from jobs.cli.points import points_json
from jobs.cli.promotions import promotion_json
from jobs.cli.trusts import trust_json
from jobs.views.accuracy import MEDIAN, UPPER, Scored, over
from jobs.views.days import MeasuredDay
from jobs.views.pools import PoolReview
from jobs.views.review import Review
from jobs.views.signals import SignalReview, change_ratio


def reviews_json(reviews: Sequence[Review], now: datetime, *, ahead: bool) -> dict[str, object]:
    """Every number of the reviews, null where it is not known. ahead: with every step of the next 24 hours."""
    return {"now": now, "workloads": [_review(review, ahead=ahead) for review in reviews]}


def _review(review: Review, *, ahead: bool) -> dict[str, object]:
    workload = review.member.workload
    return {
        "name": workload.name,
        "zone": workload.calendar.zone,
        "mode": workload.policy.mode,
        "promotion": promotion_json(review.member.promotion),
        "operating_points": points_json(review.member.points),
        "tomorrow": review.tomorrow,
        "signals": [_signal(review, signal) | ({"next_24_h": _load_ahead(review, signal)} if ahead else {}) for signal in review.signals],
        "pools": [_pool(pool) | ({"next_24_h": _floors_ahead(review, pool)} if ahead else {}) for pool in review.pools],
        "marks": marks_json(review.marks),
        "needs": [
            {"code": item.code, "sentence": item.sentence, "commands": [f"forecaster {command}" for command in item.commands]}
            for item in review.attention
        ],
    }


def _signal(review: Review, signal: SignalReview) -> dict[str, object]:
    forecast, trust = signal.forecast, review.trust_in(signal.signal)
    return {
        "signal": signal.signal,
        "unit": signal.signal.unit,
        "model": forecast.model if forecast is not None else None,
        "issued_at": forecast.issued_at if forecast is not None else None,
        "notes": reasons_json(forecast.notes) if forecast is not None else [],
        "members": members_json(forecast) if forecast is not None else [],
        "record": record_json(forecast.record) if forecast is not None else None,
        "today": _peak(signal.today),
        "tomorrow": _peak(signal.tomorrow),
        "tomorrow_is_covered": signal.whole,
        "yesterday": measured_json(signal.yesterday),
        "last_week": measured_json(signal.last_week),
        "change_on_yesterday_ratio": change_ratio(signal.tomorrow, signal.yesterday),
        "change_on_last_week_ratio": change_ratio(signal.tomorrow, signal.last_week),
        "yesterdays_forecast": _scored(signal.scored),
        "trust": trust_json(trust) if trust is not None else None,
    }


def _peak(peak: DailyPeak | None) -> dict[str, object] | None:
    if peak is None:
        return None
    return {
        "day": peak.day,
        "p50": peak.at_level(MEDIAN),
        "p95": peak.at_level(UPPER),
        "at": peak.at,
        "from": peak.covers.start,
        "until": peak.covers.end,
    }


def measured_json(day: MeasuredDay | None) -> dict[str, object] | None:
    """A measured day."""
    if day is None:
        return None
    return {
        "day": day.day,
        "mean": day.mean,
        "peak": day.peak,
        "peak_at": day.peak_at,
        "peak_minute": day.peak_minute,
        "measured_ratio": day.measured_ratio,
        "marked": day.marked,
        "gaps": [{"from": gap.start, "until": gap.end} for gap in day.gaps],
    }


def _scored(scored: Scored | None) -> dict[str, object] | None:
    if scored is None:
        return None
    return {
        "issued_at": scored.forecast.issued_at,
        "model": scored.forecast.model,
        "from": scored.covers.start,
        "until": scored.covers.end,
        "median_error_ratio": scored.median_error_ratio,
        "bias_ratio": scored.bias_ratio,
        "above_p95_ratio": scored.above_upper_ratio,
        "peak": _peak(scored.peak),
    }


def _pool(review: PoolReview) -> dict[str, object]:
    plan, baseline, approval = review.proposed, review.baseline, review.approval
    return {
        "name": review.pool.name,
        "state": review.in_force.state,
        "plan": plan.id if plan is not None else None,
        "valid_until": plan.valid_until if plan is not None else None,
        "waits": review.in_force.waiting is not None,
        "peak_at": review.peak_at,
        "binding": review.binding,
        "floor_at_peak": review.floor,
        "replica_hours": review.replica_hours,
        "compared_with": baseline.id if baseline is not None else None,
        "approved_by": approval.author if approval is not None else None,
        "floor_before": review.floor_before,
        "floor_change": review.floor_change,
        "replica_hours_before": review.replica_hours_before,
    }


def reasons_json(reasons: Sequence[Reason]) -> list[dict[str, object]]:
    """Reasons, in order."""
    return [{"code": r.code, "detail": r.detail, "before": r.before, "after": r.after} for r in reasons]


def _next_day(review: Review) -> Window:
    start = floor_to(review.now, review.member.step_s)
    return Window(start=start, end=start + timedelta(seconds=DAY_S))


def _load_ahead(review: Review, signal: SignalReview) -> list[dict[str, object]]:
    if signal.forecast is None:
        return []
    median, upper = (over(signal.forecast, level, _next_day(review)) for level in (MEDIAN, UPPER))
    steps = zip(median.times_s().tolist(), median.mean.tolist(), upper.mean.tolist(), strict=True)
    return [{"at": from_epoch_s(at_s), "p50": p50, "p95": p95} for at_s, p50, p95 in steps]


def _floors_ahead(review: Review, pool: PoolReview) -> list[dict[str, object]]:
    day = _next_day(review)
    floors = pool.proposed.floors if pool.proposed is not None else ()
    return [{"from": f.start, "until": f.until, "replicas": f.replicas} for f in floors if f.until > day.start and f.start < day.end]
