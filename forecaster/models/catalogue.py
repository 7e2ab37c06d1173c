"""The models by name. Each is imported when it is asked for, so that nobody waits for a library that he does not use."""

from forecaster.errors import ConfigRejected
from forecaster.ports import ForecastModel

MODEL_NAMES = ("profile", "seasonal_naive", "holt_winters", "prophet")
DEFAULT_MODEL = "profile"
FALLBACK_MODEL = "seasonal_naive"


def model(name: str) -> ForecastModel:
    """The model of that name. Raises ConfigRejected naming the ones there are."""
    match name:
        case "profile":
            from forecaster.models.profile import Profile  # noqa: PLC0415

            return Profile()
        case "seasonal_naive":
            from forecaster.models.seasonal_naive import SeasonalNaive  # noqa: PLC0415

            return SeasonalNaive()
        case "holt_winters":
            from forecaster.models.holt_winters import HoltWinters  # noqa: PLC0415

            return HoltWinters()
        case "prophet":
            from forecaster.models.prophet import ProphetModel  # noqa: PLC0415

            return ProphetModel()
        case _:
            msg = f"there is no model named {name!r}: choose one of {', '.join(MODEL_NAMES)}"
            raise ConfigRejected(msg)
