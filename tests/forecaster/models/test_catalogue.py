"""Models by name."""

import subprocess
import sys

import pytest

from forecaster.errors import ConfigRejected
from forecaster.models.catalogue import (
    DEFAULT_MEMBERS,
    DEFAULT_MODEL,
    EXTRAS,
    FALLBACK_MODEL,
    MEMBER_NAMES,
    MODEL_NAMES,
    is_installed,
    member,
    model,
)

LISTED = ", ".join(MODEL_NAMES)


def names(*members: str, watched: tuple[str, ...] = ()) -> list[str]:
    """Who speaks in an ensemble of those members."""
    return [voice.member.name for voice in model(DEFAULT_MODEL, members=members or DEFAULT_MEMBERS, watched=watched).voices]


@pytest.mark.parametrize("name", [name for name in MODEL_NAMES if is_installed(name)])
def test_a_model_answers_to_its_name(name: str) -> None:
    assert model(name).name == name


@pytest.mark.parametrize("name", [name for name in MEMBER_NAMES if is_installed(name)])
def test_a_member_alone_is_the_only_voice_of_its_model(name: str) -> None:
    (voice,) = model(name).voices
    assert voice.member.name == name == member(name).name


def test_the_default_is_the_ensemble_and_the_fallback_needs_the_least() -> None:
    assert (DEFAULT_MODEL, FALLBACK_MODEL) == ("ensemble", "seasonal_naive")
    assert {DEFAULT_MODEL, FALLBACK_MODEL} <= set(MODEL_NAMES)
    assert [voice.member.name for voice in model(FALLBACK_MODEL).voices] == ["naive_day", "naive_week"]


def test_default_members_speak_but_for_those_whose_extra_is_missing() -> None:
    assert names() == [name for name in DEFAULT_MEMBERS if is_installed(name)]


def test_members_that_are_asked_for_speak_and_no_other() -> None:
    assert names("profile", "naive_week") == ["profile", "naive_week"]


def test_a_member_that_speaks_is_not_watched_as_well() -> None:
    chosen = model(DEFAULT_MODEL, members=("profile", "prophet"), watched=("prophet", "sarimax"))
    assert [one.name for one in chosen.watched] == ["sarimax"]


@pytest.mark.parametrize("name", [name for name in EXTRAS if not is_installed(name)])
def test_a_member_whose_extra_is_missing_is_refused_with_the_remedy(name: str) -> None:
    with pytest.raises(ConfigRejected, match=rf"which is not installed: pip install 'forecaster\[{EXTRAS[name][1]}\]'$"):
        model(DEFAULT_MODEL, members=("profile", name))


def test_an_unknown_name_is_refused_with_the_ones_there_are() -> None:
    with pytest.raises(ConfigRejected, match=rf"^there is no model named 'arima': choose one of {LISTED}$"):
        model("arima")
    with pytest.raises(ConfigRejected, match=r"^there is no member named 'arima': choose from naive_day, .*statsforecast$"):
        model(DEFAULT_MODEL, members=("profile", "arima"))


def test_no_model_library_is_loaded_before_it_is_asked_for() -> None:
    heavy = "{'pandas', 'prophet', 'statsmodels', 'lightgbm'}"
    code = f"import sys; from forecaster.models.catalogue import model; model('ensemble'); print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)  # noqa: S603  our own code
    assert done.stdout.strip() == "set()"
