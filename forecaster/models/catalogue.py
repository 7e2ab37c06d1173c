"""The models by name. Each member is imported when it is asked for, so that nobody waits for a library that he does not use."""

from collections.abc import Sequence
from importlib.util import find_spec

from forecaster.errors import ConfigRejected
from forecaster.models.ensemble import Ensemble, Voice
from forecaster.models.past import Member

PRIORS = {
    "naive_day": 0.3,
    "naive_week": 0.4,
    "slot_quantile": 0.5,
    "profile": 4.0,
    "ridge_slow": 1.5,
    "ridge_quick": 1.0,
    "gbm": 0.5,
    "holt_winters": 0.7,
    "prophet": 0.5,
    "unobserved_components": 0.5,
    "sarimax": 0.5,
    "statsforecast": 0.5,
}
"""Every member, and its say while no score of it is known: by how members did on the shared traces in their first days."""
MEMBER_NAMES = tuple(PRIORS)
DEFAULT_MEMBERS = MEMBER_NAMES[:8]
DEFAULT_MODEL, FALLBACK_MODEL = "ensemble", "seasonal_naive"
MODEL_NAMES = (DEFAULT_MODEL, FALLBACK_MODEL, *MEMBER_NAMES)
EXTRAS = {"gbm": ("lightgbm", "gbm"), "statsforecast": ("statsforecast", "statsforecast")}
"""Member -> the library that it needs and the extra that brings it."""


def model(name: str, *, members: Sequence[str] = DEFAULT_MEMBERS, watched: Sequence[str] = (), learned: bytes = b"") -> Ensemble:
    """The model of that name: the ensemble of `members`, the naive one, or one member alone.

    watched: members that are scored on a sample of days. learned: what `learning.learn` gave. A default member whose extra is
    not installed is left out of the ensemble. Raises ConfigRejected naming the models there are, or the extra that is missing.
    """
    match name:
        case "ensemble":
            spoken = tuple(one for one in members if one != "gbm" or tuple(members) != DEFAULT_MEMBERS or is_installed(one))
            voices = tuple(Voice(member=member(one, learned), prior=PRIORS[one]) for one in spoken)
            return Ensemble(name=name, voices=voices, watched=tuple(member(one) for one in watched if one not in spoken))
        case "seasonal_naive":
            return Ensemble(name=name, voices=tuple(Voice(member=member(one), prior=1.0) for one in ("naive_day", "naive_week")))
        case _ if name in PRIORS:
            return Ensemble(name=name, voices=(Voice(member=member(name, learned), prior=1.0),))
        case _:
            msg = f"there is no model named {name!r}: choose one of {', '.join(MODEL_NAMES)}"
            raise ConfigRejected(msg)


def is_installed(name: str) -> bool:
    """Whether a member's library is there."""
    return name not in EXTRAS or find_spec(EXTRAS[name][0]) is not None


def member(name: str, learned: bytes = b"") -> Member:  # noqa: PLR0911  a table of classes, each imported on its line
    """The member of that name. Raises ConfigRejected as `model` does."""
    if not is_installed(name):
        library, extra = EXTRAS[name]
        msg = f"the member {name} needs {library}, which is not installed: pip install 'forecaster[{extra}]'"
        raise ConfigRejected(msg)
    match name:
        case "naive_day":
            from forecaster.models.members.naive import NaiveDay  # noqa: PLC0415

            return NaiveDay()
        case "naive_week":
            from forecaster.models.members.naive import NaiveWeek  # noqa: PLC0415

            return NaiveWeek()
        case "slot_quantile":
            from forecaster.models.members.slot_quantile import SlotQuantile  # noqa: PLC0415

            return SlotQuantile()
        case "profile":
            from forecaster.models.members.profile import Profile  # noqa: PLC0415

            return Profile()
        case "ridge_slow" | "ridge_quick":
            from forecaster.models.members.ridge import Ridge  # noqa: PLC0415

            return Ridge(name=name, half_life_days=28.0 if name == "ridge_slow" else 7.0)
        case "gbm":
            from forecaster.models.members.gbm import Gbm  # noqa: PLC0415

            return Gbm(learned=learned)
        case _:
            return _borrowed(name)


def _borrowed(name: str) -> Member:
    """A member that brings its own library."""
    match name:
        case "holt_winters":
            from forecaster.models.members.holt_winters import HoltWinters  # noqa: PLC0415

            return HoltWinters()
        case "prophet":
            from forecaster.models.members.prophet import Prophet  # noqa: PLC0415

            return Prophet()
        case "unobserved_components":
            from forecaster.models.members.unobserved_components import UnobservedComponents  # noqa: PLC0415

            return UnobservedComponents()
        case "sarimax":
            from forecaster.models.members.sarimax import Sarimax  # noqa: PLC0415

            return Sarimax()
        case "statsforecast":
            from forecaster.models.members.statsforecast import StatsForecast  # noqa: PLC0415

            return StatsForecast()
        case _:
            msg = f"there is no member named {name!r}: choose from {', '.join(MEMBER_NAMES)}"
            raise ConfigRejected(msg)
