"""Another way to serve a workload, as the configuration has it: compared with what runs, and never run itself."""

from dataclasses import dataclass

from forecaster.capacity import Capacity
from forecaster.cost import Prices
from forecaster.leadtime import LeadTime
from forecaster.profile import Setup
from forecaster.profile_best import Asked
from jobs.cost.asked import TaskAsked


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """What would take the place of `pool`. asked: where its capacity shall come from. prices, task: None = untold."""

    name: str
    pool: str
    capacity: Capacity
    asked: Asked
    serving: Setup
    lead_time: LeadTime
    prices: Prices | None
    gpus_per_replica: int
    task: TaskAsked | None = None
