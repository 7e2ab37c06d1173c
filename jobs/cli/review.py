"""What `review` prints for people: a row a pool over the fleet, a page with charts over one workload."""

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from forecaster.forecast import DailyPeak, Forecast
from forecaster.modes import mode_words
from jobs.cli.marks import mark_lines
from jobs.cli.members import gain_sentence, history_words, members_table, record_sentence
from jobs.cli.options import Output
from jobs.cli.points import member_lines
from jobs.cli.review_charts import charts
from jobs.cli.show import Cell, Table, change, moment, number, percent, show, show_chart, terminal, together
from jobs.cli.trusts import trust_cell, trust_sentence
from jobs.views.accuracy import MEDIAN, UPPER
from jobs.views.days import MeasuredDay, local_day
from jobs.views.review import Review
from jobs.views.signals import SignalReview, change_ratio

if TYPE_CHECKING:
    from jobs.views.pools import PoolReview

_LEVEL_RATIO = 0.0005  # less would read as 0.0%
_COLUMNS = (
    "workload",
    "pool",
    "peak",
    "signal",
    "P50",
    "P95",
    "yesterday",
    "last week",
    "error",
    "> P95",
    "trust",
    "floor",
    "change",
    "model",
    "needs",
)
_KEYS = (
    "workload",
    "pool",
    "peak_at",
    "signal",
    "peak_p50",
    "peak_p95",
    "yesterday_peak",
    "last_week_peak",
    "yesterday_median_error_ratio",
    "yesterday_above_p95_ratio",
    "trust",
    "floor_at_peak",
    "floor_change",
    "model",
    "needs",
)


def review_table(reviews: Sequence[Review]) -> Table:
    """A row a pool, with the signal that binds there at tomorrow's peak."""
    rows = tuple(_row(review, pool) for review in reviews for pool in review.pools)
    return Table(title="Tomorrow's peak, and yesterday's forecast", columns=_COLUMNS, keys=_KEYS, rows=rows, named_by=2)


def _row(review: Review, pool: "PoolReview") -> tuple[object, ...]:
    signal = sizing(review, pool)
    peak, scored, trust = signal.tomorrow, signal.scored, review.trust_in(signal.signal)
    return (
        review.member.workload.name,
        pool.pool.name,
        moment(pool.peak_at, review.member.workload.calendar, "%a %H:%M"),
        str(signal.signal),
        _at(peak, MEDIAN),
        _at(peak, UPPER),
        _compared(peak, signal.yesterday),
        _compared(peak, signal.last_week),
        percent(scored.median_error_ratio if scored is not None else None),
        percent(scored.above_upper_ratio if scored is not None else None),
        trust_cell((trust,) if trust is not None else ()),
        pool.floor,
        change(pool.floor_change),
        _model(signal),
        ", ".join(dict.fromkeys(str(found.code) for found in review.attention)),
    )


def sizing(review: Review, pool: "PoolReview") -> SignalReview:
    """The signal that binds at tomorrow's peak, else the first one."""
    return next((signal for signal in review.signals if signal.signal is pool.binding), review.signals[0])


def print_attention(reviews: Sequence[Review], options: str) -> None:
    """What needs a decision, each with the commands to choose from. options: what the reader must add to each command."""
    from rich.text import Text

    console = terminal()
    found = [(review.member.workload.name, item) for review in reviews for item in review.attention]
    console.print(Text("Needs a decision" if found else "Nothing needs a decision.", style="bold"))
    for names, item in together(found):
        console.print(Text(f"- {names}, {item.code}: {item.sentence}"))
        for command in item.commands:
            console.print(Text(f"    forecaster {command}{options}", style="green"), soft_wrap=True)


def print_page(review: Review, width: int, options: str) -> None:
    """One workload: peaks, accuracy, charts, floors, and what needs a decision."""
    from rich.text import Text

    console, calendar, policy = terminal(), review.member.workload.calendar, review.member.workload.policy
    as_of = f"as of {calendar.local(review.now):%a %d %b %Y %H:%M %Z} in {calendar.zone}"
    console.print(Text(f"{review.member.workload.name}: {as_of}, mode {mode_words(policy.mode, review.member.promotion)}\n", style="bold"))
    for signal in review.signals:
        show(peaks_table(review, signal), Output.TABLE)
        console.print(Text("\n".join(sentences(review, signal)) + "\n"))
        if signal.forecast is not None and signal.forecast.members:
            show(members_table(signal.forecast), Output.TABLE)
    for title, chart, told in charts(review, sizing(review, review.pools[0]), width):
        console.print(Text(title, style="bold"))
        if chart:
            show_chart(chart)
        console.print(Text(told + "\n" if told else ""))
    if review.member.points:
        console.print(Text("Operating point", style="bold"))
        for line in member_lines(review.member):
            console.print(Text(f"- {line}"), soft_wrap=True)
        console.print()
    if review.marks:
        console.print(Text("Marked history", style="bold"))
        for line in mark_lines(review.marks, calendar, options):
            console.print(Text(f"- {line}"), soft_wrap=True)
        console.print()
    print_attention((review,), options)


def peaks_table(review: Review, signal: SignalReview) -> Table:
    """Measured and forecast daily peaks side by side, the oldest day first."""
    tomorrow, calendar = review.tomorrow, review.member.workload.calendar
    yesterday_peak = signal.scored.peak if signal.scored is not None else None
    days: list[tuple[int, MeasuredDay | None, DailyPeak | None, str]] = [
        (7, signal.last_week, None, "a week before tomorrow"),
        (2, signal.yesterday, yesterday_peak, "yesterday"),
        (1, None, signal.today, "today"),
        (0, None, signal.tomorrow, "tomorrow"),
    ]
    rows = []
    for back, measured, peak, what in days:
        if measured is None and peak is None and back:
            continue
        day = tomorrow - timedelta(days=back)
        whole = local_day(calendar, day)
        parts = [what]
        if measured is not None and measured.measured_ratio < 1:
            parts.append(f"{percent_words(measured.measured_ratio)} measured")
        if measured is not None and measured.marked is not None:
            parts.append(f"marked {measured.marked}")
        if peak is not None and peak.covers != whole:
            edge = "from" if peak.covers.start > whole.start else "until"
            parts.append(f"forecast {edge} {calendar.local(peak.covers.start if edge == 'from' else peak.covers.end):%H:%M}")
        rows.append(
            (
                f"{day:%a %d %b}",
                measured.peak if measured is not None else None,
                moment(measured.peak_at if measured is not None else None, calendar, "%H:%M"),
                _at(peak, MEDIAN),
                _at(peak, UPPER),
                moment(peak.at if peak is not None else None, calendar, "%H:%M"),
                ", ".join(parts),
            )
        )
    columns = ("day", "measured", "at", "P50", "P95", "at", "")
    return Table(title=f"Daily peaks of {signal.signal} ({signal.signal.unit})", columns=columns, rows=tuple(rows))


def sentences(review: Review, signal: SignalReview) -> list[str]:
    """What the numbers say: the change, the accuracy, the model with its record, and what it is not sure of."""
    told = []
    parts = [
        f"level with {name}" if abs(ratio) < _LEVEL_RATIO else f"{percent_words(ratio, signed=True)} on {name}"
        for ratio, name in (
            (change_ratio(signal.tomorrow, signal.yesterday), "yesterday's"),
            (change_ratio(signal.tomorrow, signal.last_week), f"that of {review.tomorrow - timedelta(days=7):%a %d %b}"),
        )
        if ratio is not None
    ]
    if parts:
        told.append(f"Tomorrow's peak at P50 is {' and '.join(parts)}.")
    told.append(_accuracy(review, signal))
    if signal.forecast is not None:
        told += [
            _origin(review, signal.forecast),
            _inherited(review),
            gain_sentence(signal.forecast),
            record_sentence(signal.forecast.record),
        ]
        told += [f"{note.code}: {note.detail}." for note in signal.forecast.notes]
    if (trust := review.trust_in(signal.signal)) is not None:
        told.append(trust_sentence(trust))
    return [sentence for sentence in told if sentence]


def _accuracy(review: Review, signal: SignalReview) -> str:
    scored = signal.scored
    if scored is None or scored.median_error_ratio is None or scored.above_upper_ratio is None or scored.bias_ratio is None:
        return "Yesterday's forecast cannot be judged: no forecast, or no load, was kept."
    issued = f"{review.member.workload.calendar.local(scored.forecast.issued_at):%a %H:%M}"
    side = "high" if scored.bias_ratio > 0 else "low"
    bias = f"{percent_words(abs(scored.bias_ratio))} too {side} on the whole"
    off = f"median off by {percent_words(scored.median_error_ratio)} of the load, {bias}"
    return f"Yesterday's forecast (of {issued}): {off}; {percent_words(scored.above_upper_ratio)} of the time above P95."


def _origin(review: Review, forecast: Forecast) -> str:
    issued = f"{review.member.workload.calendar.local(forecast.issued_at):%a %d %b %H:%M}"
    return f"Model {forecast.model}, forecast of {issued} from {history_words(forecast)}."


def _inherited(review: Review) -> str:
    older = " plus ".join(f"{one.share_ratio:g} x that of {one.name}" for one in review.member.lineage.continues)
    return f"Before its own first request its history is {older}." if older else ""


def percent_words(ratio: float, *, signed: bool = False) -> str:
    """A ratio in percent, as a sentence says it."""
    cell = percent(ratio, signed=signed)
    return cell.words if cell is not None else ""


def _at(peak: DailyPeak | None, level: float) -> float | None:
    return peak.at_level(level) if peak is not None else None


def _compared(peak: DailyPeak | None, day: MeasuredDay | None) -> Cell | None:
    if day is None or day.peak is None:
        return None
    ratio = change_ratio(peak, day)
    words = number(day.peak) if day.enough else f"at least {number(day.peak)}"
    said = percent_words(ratio, signed=True) if ratio is not None else day.marked
    return Cell(value=day.peak, words=f"{words} ({said})" if said is not None else words)


def _model(signal: SignalReview) -> str | None:
    if signal.forecast is None:
        return None
    notes = dict.fromkeys(str(note.code) for note in signal.forecast.notes)
    return f"{signal.forecast.model} ({', '.join(notes)})" if notes else signal.forecast.model
