"""Spans of history that do not say what the demand was: found by detection or told by a person, and what a model does with them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from forecaster.series import Signal, Window
from forecaster.units import check_instant

_SAME_RATIO = 1.25


class Treatment(StrEnum):
    """What a model does with a span."""

    LEFT_OUT = "left out"
    LOWER_BOUND = "a lower bound"
    KEPT = "kept"


class MarkKind(StrEnum):
    """What is the matter with a span.

    | kind | what was measured there | what a model does with it |
    |---|---|---|
    | gap | nothing | left out; drawn through up to half an hour |
    | leading-zeros | zeros before the first request after a deployment | left out |
    | reset | a bucket or two of a counter that started again: next to nothing, or absurdly much | left out; drawn through |
    | capture-fault | one value, or exact zeros, for hours: the metric stood still, not the users | left out |
    | outage | next to nothing in hours that are always busy: the users were there, the service was not | left out |
    | retry-storm | the same requests again and again after an outage | left out |
    | flash-crowd | once, far more than on any other day | left out |
    | censored | what the replicas could serve of a larger demand | a lower bound: counts where it is above other days at that time |
    | level-shift | another level that has lasted | kept: models follow it by themselves |
    | duplicate, late | a row that came twice, or after its time | kept: each counts once, at its time |
    | manual | what a person does not want to be learnt | left out |
    """

    GAP = "gap"
    LEADING_ZEROS = "leading-zeros"
    RESET = "reset"
    CAPTURE_FAULT = "capture-fault"
    OUTAGE = "outage"
    RETRY_STORM = "retry-storm"
    FLASH_CROWD = "flash-crowd"
    CENSORED = "censored"
    LEVEL_SHIFT = "level-shift"
    DUPLICATE = "duplicate"
    LATE = "late"
    MANUAL = "manual"

    @property
    def treatment(self) -> Treatment:
        """What a model does with a span of this kind."""
        match self:
            case MarkKind.CENSORED:
                return Treatment.LOWER_BOUND
            case MarkKind.LEVEL_SHIFT | MarkKind.DUPLICATE | MarkKind.LATE:
                return Treatment.KEPT
            case _:
                return Treatment.LEFT_OUT


NEAR = timedelta(hours=2)
"""What is told of samples as they come counts as one when no more than this lies between."""
TOLD_KINDS = (MarkKind.DUPLICATE, MarkKind.LATE)
"""Kinds that show only as samples come: nobody finds them in a history afterwards, so none is taken back for not being found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One thing said of a span of a signal's history, `at` an instant.

    author: who said it; empty = it was detected. unmark: what was said of the span before is taken back: by a person for good and
    for every kind where the kind is `manual`, by detection only what detection had said, when it sees no more reason for it.
    """

    kind: MarkKind
    span: Window
    signal: Signal
    at: datetime
    detail: str = ""
    author: str = ""
    unmark: bool = False

    def __post_init__(self) -> None:
        check_instant("mark.at", self.at)
        if self.author != self.author.strip():
            msg = f"mark.author must be a name, or empty where nobody said it, got {self.author!r}"
            raise ValueError(msg)

    @property
    def detected(self) -> bool:
        """Whether no person said it."""
        return not self.author


def marks_in_force(marks: Iterable[Mark]) -> tuple[Mark, ...]:
    """What holds after everything that was said, by start: the last word of a person on a span, else what was detected there.

    A mark that was overruled in part stands for the rest of its span. Detected spans of one kind that touch are one.
    """
    standing: list[Mark] = []
    spoken: list[Mark] = []
    for said in sorted(marks, key=lambda mark: mark.at):
        if said.detected:
            if said.unmark:
                standing = [part for mark in standing for part in (_without(mark, said) if mark.detected else (mark,))]
            else:
                standing = _joined(standing, _outside(said, spoken))
            continue
        standing = [part for mark in standing for part in _without(mark, said)]
        spoken.append(said)
        if not said.unmark:
            standing.append(said)
    return tuple(sorted(standing, key=lambda mark: (mark.signal, mark.span.start, mark.span.end, mark.kind)))


def news(found: Iterable[Mark], kept: Iterable[Mark], seen: Window, now: datetime) -> tuple[Mark, ...]:
    """What is to be kept of the marks that detection found at `now`: the new ones and those that grew, and an unmark of each that is gone.

    A mark is the same while its span is much the same, so that what moves by a bucket is not told every hour. kept: what was said
    before. seen: where detection had enough around it to find again what it had found; what was detected beyond stays as it is.
    """
    found = tuple(found)
    detected = marks_in_force(mark for mark in kept if mark.detected and mark.kind not in TOLD_KINDS)
    fresh = tuple(mark for mark in found if not any(_of_one(mark, old) and _told(mark.span, old.span, seen) for old in detected))
    gone = tuple(
        replace(old, unmark=True, at=now, detail="no longer found")
        for old in detected
        if _covers(seen, old.span) and not any(_of_one(mark, old) and _stays(mark, old, fresh) for mark in found)
    )
    return (*gone, *fresh)


def told_anew(told: Iterable[Mark], kept: Iterable[Mark]) -> tuple[Mark, ...]:
    """What is to be kept of the marks that were told as samples came: those that no kept one of their kind covers.

    One that begins within two hours after a kept one goes on with it: a source that is late every hour is told as one span that grows.
    """
    known = marks_in_force(mark for mark in kept if mark.detected)
    fresh = (mark for mark in told if not any(_of_one(mark, old) and _covers(old.span, mark.span) for old in known))
    return tuple(_gone_on(mark, known) for mark in fresh)


def _gone_on(mark: Mark, known: Iterable[Mark]) -> Mark:
    ends = (old.span.end for old in known if _of_one(mark, old))
    near = max((end for end in ends if timedelta(0) < mark.span.start - end <= NEAR), default=mark.span.start)
    return replace(mark, span=Window(start=near, end=mark.span.end))


def _stays(mark: Mark, old: Mark, fresh: tuple[Mark, ...]) -> bool:
    """Whether what was found means the old mark: it is much the same, or has grown out of it."""
    return _covers(mark.span, old.span) or (mark not in fresh and _overlap(mark.span, old.span))


def _told(span: Window, old: Window, seen: Window) -> bool:
    """Whether an old mark says it already: much the same, or larger where detection can no longer judge it."""
    return _covers(old, span) and (old.length_s <= _SAME_RATIO * span.length_s or not _covers(seen, old))


def _outside(mark: Mark, spoken: Iterable[Mark]) -> list[Mark]:
    """The parts of a detected mark of which no person has spoken."""
    parts = [mark]
    for said in spoken:
        parts = [rest for part in parts for rest in _without(part, said)]
    return parts


def _without(mark: Mark, said: Mark) -> tuple[Mark, ...]:
    """The parts of a mark that stand after a later word: a person's mark replaces every kind, an unmark its own, or all if `manual`."""
    speaks = said.signal is mark.signal and (said.kind in {mark.kind, MarkKind.MANUAL} or not said.unmark)
    if not speaks or not _overlap(mark.span, said.span):
        return (mark,)
    parts = []
    if mark.span.start < said.span.start:
        parts.append(replace(mark, span=Window(start=mark.span.start, end=said.span.start)))
    if said.span.end < mark.span.end:
        parts.append(replace(mark, span=Window(start=said.span.end, end=mark.span.end)))
    return tuple(parts)


def _joined(standing: list[Mark], more: list[Mark]) -> list[Mark]:
    """Detected marks of one kind whose spans touch, as one that was first said when the first of them was."""
    for mark in more:
        met = [old for old in standing if old.detected and _of_one(old, mark) and _touch(old.span, mark.span)]
        start = min(old.span.start for old in (*met, mark))
        end = max(old.span.end for old in (*met, mark))
        whole = replace(mark, span=Window(start=start, end=end), at=min(old.at for old in (*met, mark)))
        standing = [*(old for old in standing if old not in met), whole]
    return standing


def _of_one(one: Mark, other: Mark) -> bool:
    return one.kind is other.kind and one.signal is other.signal


def _covers(outer: Window, inner: Window) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _overlap(one: Window, other: Window) -> bool:
    return one.start < other.end and other.start < one.end


def _touch(one: Window, other: Window) -> bool:
    return one.start <= other.end and other.start <= one.end
