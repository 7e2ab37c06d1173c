"""Prophet behind our port: quiet, in our units, with our quantiles."""

import json
import logging
from dataclasses import replace

import numpy as np
import pytest

from forecaster.calendar import Calendar
from forecaster.errors import StateIncompatible
from forecaster.models.prophet import ProphetModel
from forecaster.reasons import Code
from tests.traces import MONDAY, horizon, panel, usual_rpm

LEVELS = (0.05, 0.5, 0.95)


def test_fitting_and_forecasting_log_nothing_and_leave_loggers_as_they_were(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    model, load = ProphetModel(), panel(usual_rpm(4))
    with caplog.at_level(logging.DEBUG):
        model.forecast(load, model.fit(load, MONDAY), horizon(), LEVELS, Calendar())
    assert [record for record in caplog.records if record.name.startswith(("prophet", "cmdstanpy"))] == []
    assert capfd.readouterr() == ("", "")
    assert not logging.getLogger("cmdstanpy").disabled


def test_a_state_carries_models_and_not_their_training_data() -> None:
    one, three = (len(ProphetModel().fit(panel(usual_rpm(days)), MONDAY).payload) for days in (10, 30))
    assert three < 1.5 * one


def test_the_models_of_earlier_days_are_trained_on_what_was_known_then() -> None:
    load = usual_rpm(12)
    changed = load.mean.copy()
    changed[-24:] = np.roll(changed[-24:], 6)
    stored = [
        json.loads(ProphetModel().fit(panel(replace(load, mean=mean, peak=mean)), MONDAY).payload)["series"]["a"]["models"]
        for mean in (load.mean, changed)
    ]
    assert len(stored[0]) == 8
    assert stored[0][0] != stored[1][0]
    assert stored[0][1:] == stored[1][1:]


def test_without_the_logarithm_load_itself_is_modelled() -> None:
    load = panel(usual_rpm(21, noise_ratio=0.02))
    models = (ProphetModel(), ProphetModel(log=False))
    logged, plain = (model.forecast(load, model.fit(load, MONDAY), horizon(), LEVELS, Calendar())[0] for model in models)
    np.testing.assert_allclose(logged.at_level(0.5), plain.at_level(0.5), rtol=0.4)
    assert not np.array_equal(logged.at_level(0.5), plain.at_level(0.5))


def test_a_state_with_the_logarithm_is_of_no_use_without() -> None:
    load = panel(usual_rpm(3))
    state = ProphetModel().fit(load, MONDAY)
    with pytest.raises(StateIncompatible, match="log=True and cannot be used with log=False"):
        ProphetModel(log=False).forecast(load, state, horizon(), LEVELS, Calendar())


def test_a_state_from_before_there_was_history_asks_to_be_fitted_again() -> None:
    load = panel(usual_rpm(5))
    state = ProphetModel().fit(load, MONDAY.replace(day=1, month=2))
    with pytest.raises(StateIncompatible, match="fitted before a had enough history: fit again"):
        ProphetModel().forecast(load, state, horizon(), LEVELS, Calendar())


def test_under_two_weeks_it_says_that_it_knows_no_weekdays() -> None:
    load = panel(usual_rpm(5))
    model = ProphetModel()
    (answer,) = model.forecast(load, model.fit(load, MONDAY), horizon(), LEVELS, Calendar())
    assert [note.code for note in answer.notes] == [Code.YOUNG_HISTORY]
