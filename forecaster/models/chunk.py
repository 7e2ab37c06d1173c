"""A chunk of series through a model and its fallback: one answer a series, whatever happens to the others."""

from collections.abc import Sequence
from dataclasses import replace

from forecaster.errors import ForecasterError, ModelFailed, NotEnoughHistory
from forecaster.forecast import Issued, Request, State
from forecaster.ports import ForecastModel
from forecaster.reasons import Code, Reason
from forecaster.series import Panel


def forecast_chunk(
    panel: Panel, states: Sequence[State | None], request: Request, model: ForecastModel, fallback: ForecastModel
) -> tuple[Issued | ForecasterError, ...]:
    """A forecast of each series, in order, with what to keep of it, or the error that explains why there is none.

    A series that is too short for the model, or on which it fails, is forecast by the fallback and says so in its notes; what was kept
    of it stays. Where that fails too the answer is the fallback's NotEnoughHistory or ModelFailed. Nothing is raised.
    """
    answers = _walled(panel, states, request, model)
    return tuple(
        answer if isinstance(answer, Issued) else _second(_only(panel, row), states[row], request, fallback, answer)
        for row, answer in enumerate(answers)
    )


def _walled(panel: Panel, states: Sequence[State | None], request: Request, model: ForecastModel) -> tuple[Issued | ForecasterError, ...]:
    """All series at once, and one by one when one of them spoils it for all."""
    try:
        return model.forecast(panel, states, request)
    except ForecasterError as error:
        failed = error
    except Exception as error:  # noqa: BLE001  a model's library may raise anything, and no series may stop the others
        failed = ModelFailed(f"{model.name} failed on {', '.join(panel.names)} with {type(error).__name__}: {error}")
    if len(panel.names) == 1:
        return (failed,)
    return tuple(_walled(_only(panel, row), states[row : row + 1], request, model)[0] for row in range(len(panel.names)))


def _second(
    panel: Panel, state: State | None, request: Request, fallback: ForecastModel, first: ForecasterError
) -> Issued | ForecasterError:
    """The fallback's answer for a panel of one series, with the reason why it was asked."""
    (answer,) = _walled(panel, (None,), request, fallback)
    if not isinstance(answer, Issued):
        return answer
    code = Code.YOUNG_HISTORY if isinstance(first, NotEnoughHistory) else Code.MODEL_FAILED
    reason = Reason(code=code, detail=f"{first}; forecast by {fallback.name} instead")
    return Issued(forecast=replace(answer.forecast, notes=(reason, *answer.forecast.notes)), state=state)


def _only(panel: Panel, row: int) -> Panel:
    """The panel of one series."""
    one = slice(row, row + 1)
    return replace(panel, names=panel.names[one], mean=panel.mean[one], peak=panel.peak[one])
