"""A chunk of series through a model and its fallback: one answer a series, whatever happens to the others."""

from dataclasses import dataclass, replace

from forecaster.calendar import Calendar
from forecaster.errors import ForecasterError, ModelFailed, NotEnoughHistory
from forecaster.forecast import Forecast, Horizon
from forecaster.ports import ForecastModel
from forecaster.reasons import Code, Reason
from forecaster.series import Panel


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What every series of a chunk is asked for."""

    horizon: Horizon
    levels: tuple[float, ...]
    calendar: Calendar


def forecast_chunk(  # noqa: PLR0917  the port's own arguments in the port's order, then the two models
    panel: Panel,
    horizon: Horizon,
    levels: tuple[float, ...],
    calendar: Calendar,
    model: ForecastModel,
    fallback: ForecastModel,
) -> tuple[Forecast | ForecasterError, ...]:
    """A forecast of each series, in order, or the error that explains why there is none.

    A series that is too short for the model, or on which it fails, is forecast by the fallback and says so in its notes. Where that
    fails too the answer is the fallback's NotEnoughHistory or ModelFailed. Nothing is raised.
    """
    asked = _Asked(horizon=horizon, levels=levels, calendar=calendar)
    answers = _each(panel, asked, model)
    return tuple(
        answer if isinstance(answer, Forecast) else _second(_only(panel, row), asked, fallback, answer)
        for row, answer in enumerate(answers)
    )


def _each(panel: Panel, asked: _Asked, model: ForecastModel) -> tuple[Forecast | ForecasterError, ...]:
    """All series at once, and one by one when one of them spoils it for all."""
    whole = _tried(panel, asked, model)
    if not isinstance(whole, ForecasterError):
        return whole
    if len(panel.names) == 1:
        return (whole,)
    return tuple(_each(_only(panel, row), asked, model)[0] for row in range(len(panel.names)))


def _tried(panel: Panel, asked: _Asked, model: ForecastModel) -> tuple[Forecast, ...] | ForecasterError:
    try:
        state = model.fit(panel, asked.horizon.start)
        return model.forecast(panel, state, asked.horizon, asked.levels, asked.calendar)
    except ForecasterError as error:
        return error
    except Exception as error:  # noqa: BLE001  a model's library may raise anything, and no series may stop the others
        return ModelFailed(f"{model.name} failed on {', '.join(panel.names)} with {type(error).__name__}: {error}")


def _second(panel: Panel, asked: _Asked, fallback: ForecastModel, first: ForecasterError) -> Forecast | ForecasterError:
    """The fallback's answer for a panel of one series, with the reason why it was asked."""
    (answer,) = _each(panel, asked, fallback)
    if not isinstance(answer, Forecast):
        return answer
    code = Code.YOUNG_HISTORY if isinstance(first, NotEnoughHistory) else Code.MODEL_FAILED
    return replace(answer, notes=(Reason(code=code, detail=f"{first}; forecast by {fallback.name} instead"), *answer.notes))


def _only(panel: Panel, row: int) -> Panel:
    """The panel of one series."""
    one = slice(row, row + 1)
    return replace(panel, names=panel.names[one], mean=panel.mean[one], peak=panel.peak[one])
