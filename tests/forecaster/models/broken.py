"""Models and members that fail on purpose, count, or draw what they are told: whole ones, through the same doors as real ones."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from forecaster.errors import ForecasterError
from forecaster.forecast import Issued, Request, State
from forecaster.models.catalogue import DEFAULT_MODEL, PRIORS, member
from forecaster.models.ensemble import Ensemble, Voice
from forecaster.models.past import Member, Past
from forecaster.series import Floats, Panel


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A model whose library raises what nobody expects."""

    name: str = "broken"
    minimum_history_s: int = 0

    def forecast(self, panel: Panel, states: Sequence[State | None], request: Request) -> tuple[Issued | ForecasterError, ...]:
        raise ZeroDivisionError(panel.names, states, request)


@dataclass(frozen=True, slots=True, kw_only=True)
class AfraidOf:
    """A model that is another one, but for one series on which its library breaks."""

    afraid_of: str
    main: Ensemble
    name: str = "afraid"
    minimum_history_s: int = 0

    def forecast(self, panel: Panel, states: Sequence[State | None], request: Request) -> tuple[Issued | ForecasterError, ...]:
        if self.afraid_of in panel.names:
            raise FloatingPointError(self.afraid_of)
        return self.main.forecast(panel, states, request)


@dataclass(frozen=True, slots=True, kw_only=True)
class Raises:
    """A member whose library raises on the named series, on all of them where none is named; else it draws the load of yesterday."""

    on: tuple[str, ...] = ()
    name: str = "raises"

    def draw(self, past: Past, reach: int) -> Floats:
        if not self.on or set(self.on) & set(past.names):
            raise FloatingPointError("matrix is singular")
        return member("naive_day").draw(past, reach)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flat:
    """A member that draws one load, whatever history says; NaN = it has no opinion."""

    load: float
    name: str = "flat"

    def draw(self, past: Past, reach: int) -> Floats:
        level = np.log(np.maximum(self.load + past.offset, 1e-9)) if np.isfinite(self.load) else np.full(len(past.names), self.load)
        return np.repeat(level[:, None], reach, axis=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A member that writes down the local day on the wall and the series of every drawing it is asked for."""

    main: Member
    asked: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.main.name

    def draw(self, past: Past, reach: int) -> Floats:
        self.asked.append((past.clock.local_s, past.names))
        return self.main.draw(past, reach)


def ensemble_of(*members: Member, watched: tuple[Member, ...] = ()) -> Ensemble:
    """An ensemble of any members, with the say that they have in the catalogue, 1 for others."""
    return Ensemble(
        name=DEFAULT_MODEL, voices=tuple(Voice(member=one, prior=PRIORS.get(one.name, 1.0)) for one in members), watched=watched
    )
