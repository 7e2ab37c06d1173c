"""The engine: members weighted by how they did lately, calibrated on what the ensemble itself had said."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from forecaster.errors import ForecasterError, ModelFailed, NotEnoughHistory
from forecaster.forecast import Forecast, Issued, MemberScore, Request, State
from forecaster.models.borrowing import Borrowed, borrowed
from forecaster.models.drawing import Drawing, drawn
from forecaster.models.issuing import Basis, forecasts, future_slots
from forecaster.models.keeping import Circle, bring_up_to_date
from forecaster.models.kept import DAYS, Form, recalled
from forecaster.models.past import Member, Past, past_of
from forecaster.models.rows import coarse_slots
from forecaster.models.sampling import loss_ratio, watch
from forecaster.models.weights import weights
from forecaster.models.zero import zero
from forecaster.reasons import Code, Reason
from forecaster.series import Floats, Panel
from forecaster.units import DAY_S, HOUR_S

_NAIVE = "naive_day"
_YOUNG_DAYS = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """A member with its say before any score is known."""

    member: Member
    prior: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ensemble:
    """The weighted mean of members' log medians, with quantiles learned from the errors of what it had said on earlier days.

    One row a local day is kept of each series (`kept`): so a run draws every member once, and whatever is missing is drawn as it would
    have been drawn then. Weights: `weights`. Quantiles of buckets and of window maxima: `calibration`. Daily peaks: `peaks`. Holidays are
    taken out of what members see and put back as the series' own effect: `holidays`.

    Reference: Bates and Granger 1969 (combination); split conformal prediction, see `calibration`. Cost: docs/benchmarks.md.
    """

    name: str
    voices: tuple[Voice, ...]
    watched: tuple[Member, ...] = ()
    minimum_history_s: int = DAY_S

    def forecast(self, panel: Panel, states: Sequence[State | None], request: Request) -> tuple[Issued | ForecasterError, ...]:
        """One answer a series, in order: its forecast and what to keep, or NotEnoughHistory or ModelFailed naming it.

        states: what was kept of each series, None = nothing. A series that was never above zero is forecast as zero. Raises ModelFailed
        where history and request differ in their step, or no day has a whole number of steps.
        """
        if panel.step_s != request.horizon.step_s:
            msg = f"history at a step of {panel.step_s} s cannot be forecast at one of {request.horizon.step_s} s: bring it to that step"
            raise ModelFailed(msg)
        past = past_of(panel, request.horizon.start, request.calendar)
        lent = borrowed(past)
        measured = ~np.isnan(past.lines)
        answers: dict[int, Issued | ForecasterError] = {}
        for row, name in enumerate(past.names):
            short = None if name in lent.lenders else self._too_short(name, np.flatnonzero(measured[row]), past)
            if short is not None:
                answers[row] = short
            elif not (panel.mean[row] > 0).any():
                answers[row] = zero(panel, row, request, self.name)
        rows = np.array([row for row in range(len(past.names)) if row not in answers], dtype=np.intp)
        if rows.size:
            largest = past_of(replace(panel, mean=panel.peak), request.horizon.start, request.calendar)
            answers |= zip(
                rows.tolist(),
                self._issued(past.only(rows), lent.only(rows), largest.only(rows), [states[row] for row in rows], request),
                strict=True,
            )
        return tuple(answers[row] for row in range(len(past.names)))

    def _too_short(self, name: str, measured: NDArray[np.intp], past: Past) -> NotEnoughHistory | None:
        needed = self.minimum_history_s // past.clock.step_s
        span = int(measured[-1] - measured[0] + 1) if measured.size else 0
        if span >= needed and 2 * measured.size >= needed:
            return None
        hour = HOUR_S / past.clock.step_s
        return NotEnoughHistory(
            f"{name} has {span / hour:.1f} h of history of which {measured.size / hour:.1f} h were measured, and {self.name} "
            f"needs {needed / hour:.0f} h, half of it measured: wait for more, or fetch history from further back"
        )

    def _issued(
        self, past: Past, lent: Borrowed, largest: Past, states: Sequence[State | None], request: Request
    ) -> list[Issued | ForecasterError]:
        circle = self._circle(past, lent, request)
        kept = recalled(states, self._form(past, request), int(past.clock.days(np.zeros(1, dtype=np.int64))[0]))
        least_days = self.minimum_history_s / DAY_S
        new_day = not kept.drawn[:, 0].any()  # a series that is too young for a row of today must not make every run the first one
        drawing = drawn(circle.members, lent.past, _reach(request), request.calendar)
        early = (past.clock.local_s % DAY_S) // past.clock.step_s
        day_long = drawing.paths.shape[2] >= past.clock.per_day
        bring_up_to_date(kept, circle, least_days, drawing.paths if not early and day_long else None)
        if self.watched and new_day:
            watch(kept, circle, self.watched, least_days)
        kept = kept.rounded()
        losses, whole = circle.losses(kept), circle.losses_of_whole(kept)
        shares = weights(losses[:, :, : len(self.voices)], ~np.isnan(drawing.paths[:, :, 0]), circle.priors)
        basis = Basis(
            request=request,
            circle=circle,
            kept=kept,
            median=np.einsum("sm,smp->sp", shares, np.nan_to_num(drawing.paths)),
            early=early,
            largest=_by_day(largest)[0],
        )
        issued = zip(forecasts(basis, self.name), kept.states(), strict=True)
        answers: list[Issued | ForecasterError] = []
        for row, (name, (forecast, state)) in enumerate(zip(past.names, issued, strict=True)):
            if shares[row].any():
                notes = _notes(name, circle.history_days[row] + early / past.clock.per_day, drawing, lent)
                said = replace(forecast, members=self._scores(shares[row], losses[row]), notes=notes)
                answers.append(Issued(forecast=self._scored(said, whole[row], losses[row]), state=state))
            else:
                answers.append(ModelFailed(f"no member of {self.name} has an opinion on {name}: {_why(drawing, name)}"))
        return answers

    def _form(self, past: Past, request: Request) -> Form:
        per_day = past.clock.per_day
        return Form(
            step_s=past.clock.step_s,
            zone=request.calendar.zone,
            members=self._names(),
            levels=request.levels,
            per_day=per_day,
            parts=coarse_slots(per_day),
        )

    def _circle(self, past: Past, lent: Borrowed, request: Request) -> Circle:
        actual, early = _by_day(past)
        return Circle(
            members=tuple(voice.member for voice in self.voices),
            priors=np.array([voice.prior for voice in self.voices]),
            midnight=past.at_midnight(),
            actual=actual,
            history_days=(-_first_slots(past) - early) / past.clock.per_day,
            known_days=(-_first_slots(lent.past) - early) / past.clock.per_day,
            levels=np.array(request.levels),
            calendar=request.calendar,
        )

    def _names(self) -> tuple[str, ...]:
        return (*(voice.member.name for voice in self.voices), *(one.name for one in self.watched))

    def _scores(self, shares: Floats, losses: Floats) -> tuple[MemberScore, ...]:
        shares = np.pad(shares, (0, len(self.watched)))
        naive = self._naive(losses)
        scored = np.count_nonzero(~np.isnan(losses), axis=0).tolist()
        return tuple(
            MemberScore(name=name, weight_ratio=float(share), loss_ratio=loss_ratio(losses[:, i], naive), days=scored[i])
            for i, (name, share) in enumerate(zip(self._names(), shares, strict=True))
        )

    def _scored(self, forecast: Forecast, whole: Floats, losses: Floats) -> Forecast:
        """The forecast with the loss of earlier ones beside those of the members."""
        if forecast.record is None:
            return forecast
        return replace(forecast, record=replace(forecast.record, loss_ratio=loss_ratio(whole, self._naive(losses))))

    def _naive(self, losses: Floats) -> Floats:
        names = self._names()
        return losses[:, names.index(_NAIVE)] if _NAIVE in names else np.full(len(losses), np.nan)


def _by_day(past: Past) -> tuple[Floats, int]:
    """Loads of the newest local days, (series, DAYS, slots), row 0 is today, NaN = unmeasured; and the slots of today before the origin."""
    days, early = past.by_midnight(DAYS + (1 if past.clock.local_s % DAY_S else 0))
    today = days if early else np.concatenate((np.full((len(days), 1, days.shape[2]), np.nan), days), axis=1)
    loads = np.full((len(days), DAYS, days.shape[2]), np.nan)
    rows = min(DAYS, today.shape[1])
    loads[:, :rows] = np.exp(today[:, :rows]) - past.offset[:, None, None]
    return np.maximum(loads, 0.0), early


def _reach(request: Request) -> int:
    """How many slots ahead members draw: to the end of the window after the horizon's last bucket."""
    return int(future_slots(request).max()) + request.horizon.window_steps


def _first_slots(past: Past) -> NDArray[np.int64]:
    """The slot of each series' first measured bucket, below 0; of its last one where none was."""
    lines = ~np.isnan(past.lines)
    first: NDArray[np.int64] = np.where(lines.any(axis=1), lines.argmax(axis=1), lines.shape[1] - 1) - lines.shape[1]
    return first


def _why(drawing: Drawing, name: str) -> str:
    said = [sentence for _, series, sentence in drawing.failed if series == name]
    return "; ".join(said) if said else "too little of its history is usable"


def _notes(name: str, history_days: float, drawing: Drawing, lent: Borrowed) -> tuple[Reason, ...]:
    notes = []
    if history_days < _YOUNG_DAYS:
        detail = f"{name} has {history_days:.1f} days of history, under a week: what weekdays and weekends do to it is not known yet"
        notes.append(Reason(code=Code.YOUNG_HISTORY, detail=detail))
    if name in lent.lenders:
        notes.append(Reason(code=Code.BORROWED_SHAPE, detail=lent.sentence(name, history_days)))
    return (*notes, *(Reason(code=Code.MEMBER_FAILED, detail=said) for _, series, said in drawing.failed if series == name))
