"""Every member that there is, for the contract suite, and the pasts that they are asked about. A new member is one row here."""

from datetime import datetime
from functools import cache

from forecaster.calendar import Calendar
from forecaster.models.members.gbm import Gbm, learn
from forecaster.models.members.holt_winters import HoltWinters
from forecaster.models.members.naive import NaiveDay, NaiveWeek
from forecaster.models.members.profile import Profile
from forecaster.models.members.prophet import Prophet
from forecaster.models.members.ridge import Ridge
from forecaster.models.members.sarimax import Sarimax
from forecaster.models.members.slot_quantile import SlotQuantile
from forecaster.models.members.statsforecast import StatsForecast
from forecaster.models.members.unobserved_components import UnobservedComponents
from forecaster.models.past import Member, Past, past_of
from forecaster.models.sampling import COSTLY
from forecaster.series import Series
from tests.services import library
from tests.traces import MONDAY, panel, usual_rpm

MEMBERS: tuple[Member, ...] = (
    NaiveDay(),
    NaiveWeek(),
    SlotQuantile(),
    Profile(),
    Ridge(name="ridge_slow", half_life_days=14.0),
    Ridge(name="ridge_quick", half_life_days=4.0),
    Gbm(),
    HoltWinters(),
    Prophet(),
    UnobservedComponents(),
    Sarimax(),
    StatsForecast(),
)
ALL = tuple(one.name for one in MEMBERS)
QUICK = tuple(name for name in ALL if name not in COSTLY)


@cache
def _learned() -> bytes:
    """What the global model keeps of a small fleet."""
    library("lightgbm", extra="gbm")
    return learn(past(*(usual_rpm(28, seed=seed, noise_ratio=0.02 + 0.03 * seed) for seed in range(6))))


def member(name: str) -> Member:
    """The member of that name, or the end of the test where its library cannot be here."""
    if name == "statsforecast":
        library("statsforecast", extra="statsforecast")
    if name == "gbm":
        return Gbm(learned=_learned())
    return next(one for one in MEMBERS if one.name == name)


def past(*series: Series, at: datetime = MONDAY, zone: str = "UTC") -> Past:
    """The past of a chunk of series named a, b, c and so on."""
    return past_of(panel(*series), at, Calendar(zone=zone))
