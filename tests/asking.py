"""Models as the forecast job asks them: a chunk, what was kept of each series, and one request."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from forecaster.calendar import Calendar
from forecaster.errors import ForecasterError
from forecaster.forecast import STANDARD_LEVELS, Forecast, Horizon, Issued, Request, State
from forecaster.models.catalogue import DEFAULT_MODEL, model
from forecaster.ports import ForecastModel
from forecaster.series import Panel, Series
from tests.traces import horizon, panel


def asked(ahead: Horizon | None = None, *, calendar: Calendar | None = None, levels: tuple[float, ...] = STANDARD_LEVELS) -> Request:
    """A request at the standard levels, in UTC, for the day after the usual Monday midnight."""
    return Request(horizon=ahead or horizon(), levels=levels, calendar=calendar or Calendar())


def answers(
    main: ForecastModel, load: Panel, request: Request | None = None, states: Sequence[State | None] | None = None
) -> tuple[Issued | ForecasterError, ...]:
    """What the model says of each series; nothing is kept of any unless `states` are given."""
    return main.forecast(load, states if states is not None else (None,) * len(load.names), request or asked())


def issued(
    main: ForecastModel, load: Panel, request: Request | None = None, states: Sequence[State | None] | None = None
) -> tuple[Issued, ...]:
    """The same where each series is known to have a forecast."""
    found = answers(main, load, request, states)
    assert all(isinstance(one, Issued) for one in found), found
    return tuple(one for one in found if isinstance(one, Issued))


def forecast(main: ForecastModel, load: Panel, request: Request | None = None) -> Forecast:
    """The forecast of the first series."""
    return issued(main, load, request)[0].forecast


def run(
    load: Series,
    at: datetime,
    state: State | None = None,
    *,
    main: ForecastModel | None = None,
    calendar: Calendar | None = None,
    steps: int | None = None,
) -> Issued:
    """One run of the job for one series as known at `at`; two days ahead unless told."""
    steps = steps or int(timedelta(days=2).total_seconds()) // load.step_s
    ahead = horizon(start=at, step_s=load.step_s, steps=steps)
    known = load.known_at(at)
    return issued(main or model(DEFAULT_MODEL), panel(known), asked(ahead, calendar=calendar), (state,))[0]
