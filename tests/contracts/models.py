"""Every model that there is, for the contract suite: the ensemble, the fallback, and each member alone."""

from forecaster.models.catalogue import EXTRAS, MEMBER_NAMES, MODEL_NAMES, model
from forecaster.models.ensemble import Ensemble
from tests.contracts.members import COSTLY, learned
from tests.services import library

ALL = MODEL_NAMES
QUICK = tuple(name for name in ALL if name not in COSTLY)
EXACT = tuple(name for name in QUICK if name != "gbm")
"""Those without an optimiser or a tree, which may follow the last digit of their input."""
DEMANDING = ("gbm", "holt_winters", *COSTLY)
"""Members that have no opinion on a history of a day; alone they leave it to the fallback."""
assert set(DEMANDING) <= set(MEMBER_NAMES)


def any_model(name: str) -> Ensemble:
    """The model of that name with what it has to be told, or the end of the test where its library cannot be here."""
    if name in EXTRAS:
        library(*EXTRAS[name])
    return model(name, learned=learned() if name == "gbm" else b"")
