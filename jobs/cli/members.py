"""What a forecast is made of and how it did, as `review` says it: why each member has the share that it has."""

import math
from collections.abc import Sequence

from forecaster.forecast import Forecast, MemberScore, TrackRecord
from forecaster.units import DAY_S, HOUR_S
from jobs.cli.show import Cell, Table, percent
from jobs.views.accuracy import UPPER

_ALIKE_RATIO = 0.005
"""Losses that differ by less are told as one."""


def members_table(forecast: Forecast) -> Table:
    """A row a member, the largest share first, those without one by their loss."""
    rows = tuple(
        (
            member.name,
            percent(member.weight_ratio),
            Cell(value=member.loss_ratio, words=f"{member.loss_ratio:.2f} x") if member.loss_ratio is not None else None,
            standing(member),
        )
        for member in ranked(forecast.members)
    )
    title = f"Members for {forecast.signal}, with their loss against that of the same time yesterday"
    return Table(title=title, columns=("member", "share", "loss", ""), rows=rows)


def ranked(members: Sequence[MemberScore]) -> list[MemberScore]:
    """By share, the largest first; then by loss, the unknown last."""
    return sorted(members, key=lambda m: (-m.weight_ratio, m.loss_ratio if m.loss_ratio is not None else math.inf, m.name))


def standing(member: MemberScore) -> str:
    """What share and loss alone do not say."""
    if not member.days and member.loss_ratio is None:
        return "not scored yet" if member.weight_ratio else "not scored yet, not used"
    if member.weight_ratio or not member.days:
        return ""
    return f"scored on {_days(member.days)}, not used"


def history_words(forecast: Forecast) -> str:
    """How much history a forecast was made from; hours while it is under two days."""
    length_s = forecast.trained_on.length_s
    return f"{length_s / DAY_S:.0f} days" if length_s >= 2 * DAY_S else f"{length_s / HOUR_S:.0f} hours"


def gain_sentence(forecast: Forecast) -> str:
    """What the model gains over its best member and over the naive forecast; empty while nothing was scored."""
    record = forecast.record
    if record is None:
        return ""
    best = best_member(forecast.members) if len(forecast.members) > 1 else None
    told = _median_gains(record.loss_ratio, best) if record.loss_ratio else ""
    if record.naive_pinball > 0 and math.isfinite(record.pinball):
        whose = "its quantiles lose" if told else "Its quantiles lose"
        told += f"{'; ' if told else ''}{whose} {_less(record.pinball / record.naive_pinball)} naive ones"
    return f"{told}." if told else ""


def _median_gains(loss_ratio: float, best: MemberScore | None) -> str:
    naive = f"{_less(loss_ratio)} the same time yesterday"
    if best is None or not best.loss_ratio or best.loss_ratio >= 1:
        return f"Its median errs {naive}"
    return f"Its median errs {_less(loss_ratio / best.loss_ratio)} {best.name}, its best member, and {naive}"


def best_member(members: Sequence[MemberScore]) -> MemberScore | None:
    """The lowest loss among those that were scored on at least half as many days as any: one lucky day makes nobody the best."""
    most = max((member.days for member in members), default=0)
    known = [member for member in members if member.loss_ratio is not None and 2 * member.days >= most]
    return min(known, key=lambda member: member.loss_ratio if member.loss_ratio is not None else math.inf, default=None)


def record_sentence(record: TrackRecord | None) -> str:
    """The scored days, how often P95 held against how often it should, and where the load went lately; empty without a record."""
    if record is None:
        return ""
    parts = []
    if math.isfinite(record.coverage):
        parts.append(f"P95 covered {record.coverage:.1%} of the load ({UPPER:.0%} is meant)")
    if math.isfinite(record.drift_log):
        off = math.expm1(record.drift_log)
        side = "above" if off > 0 else "below"
        parts.append(f"the load was {abs(off):.1%} {side} the median over the last 3" if abs(off) >= _ALIKE_RATIO else "without drift")
    return f"Track record of {_days(record.days)}: {', '.join(parts)}." if parts else ""


def members_json(forecast: Forecast) -> list[dict[str, object]]:
    """The members with their scores, null where not known."""
    return [
        {"name": m.name, "weight_ratio": m.weight_ratio, "loss_ratio": m.loss_ratio, "scored_days": m.days, "used": m.weight_ratio > 0}
        for m in ranked(forecast.members)
    ]


def record_json(record: TrackRecord | None) -> dict[str, object] | None:
    """The track record; loss_ratio is at the median, pinball over all scored levels."""
    if record is None:
        return None
    return {
        "scored_days": record.days,
        "pinball": record.pinball,
        "naive_pinball": record.naive_pinball,
        "loss_ratio": record.loss_ratio,
        "p95_coverage": record.coverage,
        "p95_nominal": UPPER,
        "drift_log": record.drift_log,
    }


def _less(ratio: float) -> str:
    """`12% less than`, of a loss over another one."""
    if abs(ratio - 1) < _ALIKE_RATIO:
        return "as much as"
    return f"{abs(ratio - 1):.0%} {'less' if ratio < 1 else 'more'} than"


def _days(count: int) -> str:
    return f"{count} day{'s' * (count != 1)}"
