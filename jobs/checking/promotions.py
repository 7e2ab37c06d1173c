"""Whether a workload was promoted, for the checks that ask what its mode comes to."""

from datetime import datetime

from forecaster.decision import Ruling
from forecaster.modes import promotion_of
from forecaster.ports import Store
from jobs.config.workloads import WorkloadSection
from jobs.standing import rulings_of


def promotion(section: WorkloadSection, store: Store | None, now: datetime) -> Ruling | None:
    """The promotion that holds at `now`, None where there is none or no store to ask. Raises StoreError."""
    return None if store is None else promotion_of(rulings_of(store, section.name, now), section.policy.mode, now)
