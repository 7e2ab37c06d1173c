"""Models by name."""

import subprocess
import sys

import pytest

from forecaster.errors import ConfigRejected
from forecaster.models.catalogue import DEFAULT_MODEL, FALLBACK_MODEL, MODEL_NAMES, model


@pytest.mark.parametrize("name", MODEL_NAMES)
def test_a_model_answers_to_its_name(name: str) -> None:
    assert model(name).name == name


def test_the_default_and_the_fallback_are_in_the_catalogue() -> None:
    assert (DEFAULT_MODEL, FALLBACK_MODEL) == ("profile", "seasonal_naive")
    assert {DEFAULT_MODEL, FALLBACK_MODEL} <= set(MODEL_NAMES)


def test_an_unknown_name_is_refused_with_the_ones_there_are() -> None:
    with pytest.raises(
        ConfigRejected, match=r"^there is no model named 'arima': choose one of profile, seasonal_naive, holt_winters, prophet$"
    ):
        model("arima")


def test_no_model_library_is_loaded_before_it_is_asked_for() -> None:
    heavy = "{'pandas', 'prophet', 'statsmodels'}"
    code = f"import sys; from forecaster.models.catalogue import model; model('profile'); print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)  # noqa: S603  our own code
    assert done.stdout.strip() == "set()"
