"""What people say of spans of history: mark, unmark, and the marks that stand."""

from typing import TYPE_CHECKING, Annotated

import typer

from jobs.cli.options import Author, ConfigFile, Json, Now, Output, OutputFormat, Reason, WorkloadName

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from forecaster.calendar import Calendar
    from forecaster.marks import MarkKind
    from forecaster.series import Window
    from jobs.cli.session import Session
    from jobs.cli.show import Table
    from jobs.views.marks import Marked

_KINDS = "outage, retry-storm, flash-crowd, censored, capture-fault, reset, gap, level-shift, leading-zeros, duplicate, late or manual"
Kind = Annotated[str, typer.Argument(metavar="KIND", help=f"What was the matter: {_KINDS}.")]
From = Annotated[str, typer.Option("--from", metavar="INSTANT|DURATION", help="Where it begins; a duration such as 2d is so long ago.")]
SpanEnd = Annotated[
    str | None, typer.Option("--until", metavar="INSTANT|DURATION", help="Where it ends, likewise. Default: now, or `--now`.")
]
Since = Annotated[str, typer.Option("--since", metavar="INSTANT|DURATION", help="Where the span begins, such as 7d.")]
_SHOWN = 12


def mark(
    workload: WorkloadName,
    kind: Kind,
    since: From,
    until: SpanEnd = None,
    reason: Reason = "",
    by: Author = None,
    config: ConfigFile = None,
    now: Now = None,
) -> None:
    """Say that a span of history was not the demand; models do with it what its kind asks for, from the next forecast on.

    A person's word stands above what is found there, until `forecaster history unmark` or another mark.

    Example: forecaster history mark chat outage --from 2024-05-18T09:15:00Z --until 2024-05-18T15:30:00Z -m "incident 4711"
    """
    from jobs.cli.session import session
    from jobs.cli.show import say

    with session(config, now) as at:
        found, span = _kind(kind), _span(since, until, at.now)
        _say(at, workload, found, span, reason, by, unmark=False)
        say(f"{workload}: {_spelled(span)} is marked {found}: {found.treatment} from the next forecast on")


def unmark(
    workload: WorkloadName,
    since: From,
    until: SpanEnd = None,
    reason: Reason = "",
    by: Author = None,
    config: ConfigFile = None,
    now: Now = None,
) -> None:
    """Say that a span of history was what it seems: whatever was said of it, or is found in it later, no longer holds.

    Example: forecaster history unmark chat --from 2024-05-18T00:00:00Z --until 2024-05-19T00:00:00Z -m "the launch was real"
    """
    from forecaster.marks import MarkKind
    from jobs.cli.session import session
    from jobs.cli.show import say

    with session(config, now) as at:
        span = _span(since, until, at.now)
        _say(at, workload, MarkKind.MANUAL, span, reason, by, unmark=True)
        say(f"{workload}: {_spelled(span)} is taken as it was measured, from the next forecast on")


def marks(
    workload: WorkloadName,
    since: Since = "8w",
    config: ConfigFile = None,
    now: Now = None,
    output: OutputFormat = Output.TABLE,
    json: Json = False,
) -> None:
    """The marks that stand: what was found in history or said of it, and what models do with each span.

    Example: forecaster history marks chat --since 4w
    """
    from jobs.cli.session import session
    from jobs.cli.show import show
    from jobs.views.kept import Kept
    from jobs.views.marks import marked_spans

    with session(config, now) as at:
        kept = Kept(store=at.fleet.store, member=at.member(workload), now=at.now)
        found = marked_spans(kept, kept.forecast_signals, _instant(since, at.now))
    show(marks_table(found, kept.workload.calendar), Output.JSON if json else output)


def marks_table(found: "Sequence[Marked]", calendar: "Calendar") -> "Table":
    """A row a mark."""
    from forecaster.units import HOUR_S
    from jobs.cli.show import Cell, Table, moment

    rows = tuple(
        (
            str(one.mark.kind),
            moment(one.mark.span.start, calendar),
            moment(one.mark.span.end, calendar),
            Cell(value=one.mark.span.length_s, words=f"{one.mark.span.length_s / HOUR_S:,.1f} h"),
            str(one.mark.signal),
            str(one.mark.kind.treatment),
            one.mark.detail,
            one.mark.author or None,
            moment(one.mark.at, calendar),
        )
        for one in found
    )
    columns = ("kind", "from", "until", "length", "signal", "models take it as", "why", "said by", "at")
    keys = ("kind", "from", "until", "length_s", "signal", "treatment", "detail", "author", "said_at")
    return Table(title="Marked history", columns=columns, keys=keys, rows=rows, empty="nothing is marked", named_by=3)


def marks_json(found: "Sequence[Marked]") -> list[dict[str, object]]:
    """The marks for programs, each with the command that takes it back."""
    return [
        {
            "kind": one.mark.kind,
            "signal": one.mark.signal,
            "from": one.mark.span.start,
            "until": one.mark.span.end,
            "treatment": one.mark.kind.treatment,
            "detail": one.mark.detail,
            "author": one.mark.author or None,
            "said_at": one.mark.at,
            "command": f"forecaster {one.command}",
        }
        for one in found
    ]


def mark_lines(found: "Sequence[Marked]", calendar: "Calendar", options: str) -> list[str]:
    """A line a mark: kind, local span, what is done with it, and how to overrule it. The newest ones, and how many more there are."""
    newest = sorted(found, key=lambda one: one.mark.span.start)[-_SHOWN:]
    more = [f"... and {len(found) - len(newest)} earlier ones: `forecaster history marks`"] if len(found) > len(newest) else []
    return [_line(one, calendar, options) for one in newest] + more


def _line(one: "Marked", calendar: "Calendar", options: str) -> str:
    said, start, end = one.mark, calendar.local(one.mark.span.start), calendar.local(one.mark.span.end)
    until = f"{end:%H:%M}" if end.date() == start.date() else f"{end:%a %d %b %H:%M}"
    who = f", said by {said.author}" if said.author else ""
    why = f" ({said.detail}{who})" if said.detail else f" ({who.removeprefix(', ')})" if who else ""
    return f"{said.signal}, {start:%a %d %b %H:%M} to {until}: {said.kind}{why}: {said.kind.treatment}; `forecaster {one.command}{options}`"


def _say(at: "Session", workload: str, kind: "MarkKind", span: "Window", reason: str, by: str | None, *, unmark: bool) -> None:
    from forecaster.marks import Mark
    from jobs.cli.session import author
    from jobs.views.kept import Kept

    kept, who = Kept(store=at.fleet.store, member=at.member(workload), now=at.now), author(by)
    words: list[Mark] = [
        Mark(kind=kind, span=span, signal=signal, at=at.now, detail=reason.strip(), author=who.strip(), unmark=unmark)
        for signal in kept.forecast_signals
    ]
    at.fleet.store.append_marks(workload, words)


def _kind(text: str) -> "MarkKind":
    """The kind of that name. Raises ConfigRejected naming those there are."""
    from forecaster.errors import ConfigRejected
    from forecaster.marks import MarkKind
    from jobs.config.scalars import did_you_mean

    try:
        return MarkKind(text)
    except ValueError as error:
        raise ConfigRejected(f"there is no kind {text!r}{did_you_mean(text, tuple(MarkKind)) or f'; there is {_KINDS}'}") from error


def _span(since: str, until: str | None, now: "datetime") -> "Window":
    """The span between two instants in the past. Raises ConfigRejected when it is empty, or not past."""
    from forecaster.errors import ConfigRejected
    from forecaster.series import Window

    start, end = _instant(since, now), now if until is None else _instant(until, now)
    if end > now:
        raise ConfigRejected(f"--until {until} lies ahead, and history ends now; what is to come belongs into `forecaster calendar`")
    if start >= end:
        raise ConfigRejected(f"--from {since} is not before the end of the span; name an instant before it, or a duration such as 2d")
    return Window(start=start, end=end)


def _instant(text: str, now: "datetime") -> "datetime":
    """An instant, or so long before now."""
    from datetime import timedelta

    from jobs.cli.session import instant
    from jobs.config.scalars import duration_s

    try:
        return now - timedelta(seconds=duration_s(text))
    except (ValueError, OverflowError):
        return instant(text)


def _spelled(span: "Window") -> str:
    from forecaster.units import iso

    return f"{iso(span.start)} to {iso(span.end)}"
