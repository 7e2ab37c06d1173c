"""Every member that there is, for the contract suite, and the pasts that they are asked about. A row of the catalogue is enough."""

from datetime import datetime
from functools import cache

from forecaster.calendar import Calendar
from forecaster.models import catalogue
from forecaster.models.members.gbm import learn
from forecaster.models.past import Member, Past, past_of
from forecaster.series import Series
from tests.services import library
from tests.traces import MONDAY, panel, usual_rpm

ALL = catalogue.MEMBER_NAMES
COSTLY = ("prophet", "unobserved_components", "sarimax", "statsforecast")  # asked fewer questions: the suite should take seconds
QUICK = tuple(name for name in ALL if name not in COSTLY)


@cache
def learned() -> bytes:
    """What the global model keeps of a small fleet."""
    return learn(past(*(usual_rpm(28, seed=seed, noise_ratio=0.02 + 0.03 * seed) for seed in range(6))))


def member(name: str) -> Member:
    """The member of that name, or the end of the test where its library cannot be here."""
    if name in catalogue.EXTRAS:
        library(*catalogue.EXTRAS[name])
    return catalogue.member(name, learned() if name == "gbm" else b"")


def past(*series: Series, at: datetime = MONDAY, zone: str = "UTC") -> Past:
    """The past of a chunk of series named a, b, c and so on."""
    return past_of(panel(*series), at, Calendar(zone=zone))
