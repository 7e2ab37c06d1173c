"""The state of a model that fits nothing: who it is, when it was made, for whom."""

import json
from datetime import datetime

from forecaster.errors import StateIncompatible
from forecaster.forecast import Horizon, State
from forecaster.series import Panel
from forecaster.units import epoch_s, iso


def stamp(model: str, version: int, panel: Panel, now: datetime) -> State:
    """A state that holds the fit's instant and the names of the series, nothing else."""
    payload = {"fitted_s": epoch_s(now), "names": list(panel.names)}
    return State(model=model, version=version, payload=json.dumps(payload).encode())


def check_model(state: State, model: str, version: int) -> None:
    """Raise StateIncompatible unless the state is of this model and version."""
    if (state.model, state.version) != (model, version):
        msg = f"a state of {state.model} version {state.version} cannot be used by {model} version {version}: fit again"
        raise StateIncompatible(msg)


def check_stamp(state: State, model: str, version: int, panel: Panel, horizon: Horizon) -> None:
    """Raise StateIncompatible unless the state is of this model, version and panel, and of an instant that the horizon may know."""
    check_model(state, model, version)
    try:
        payload = json.loads(state.payload)
        fitted_s, names = int(payload["fitted_s"]), tuple(payload["names"])
    except (ValueError, KeyError, TypeError) as error:
        msg = f"the stored state of {model} cannot be read: fit again"
        raise StateIncompatible(msg) from error
    check_covers(model, names, panel, fitted_s, horizon)


def check_covers(model: str, names: tuple[str, ...], panel: Panel, fitted_s: int, horizon: Horizon) -> None:
    """Raise StateIncompatible when the state is of other series or was fitted later than the forecast is issued."""
    if names != panel.names:
        msg = f"the state of {model} is of other series than the panel's {', '.join(panel.names)}: fit again"
        raise StateIncompatible(msg)
    if fitted_s > epoch_s(horizon.issued_at):
        msg = f"the state of {model} was fitted after {iso(horizon.issued_at)} and would look into the future: fit again"
        raise StateIncompatible(msg)
