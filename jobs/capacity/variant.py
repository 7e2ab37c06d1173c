"""Another way to serve a workload, as the configuration has it: compared with what runs, and never run itself."""

from dataclasses import dataclass

from forecaster.capacity import Capacity
from forecaster.cost import Prices
from forecaster.leadtime import LeadTime
from forecaster.profile import Setup
from jobs.cost.asked import TaskAsked


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """What would take the place of `pool`. is_imported: its capacity is that of its newest profile. prices, task: None = untold."""

    name: str
    pool: str
    capacity: Capacity
    is_imported: bool
    serving: Setup
    lead_time: LeadTime
    prices: Prices | None
    gpus_per_replica: int
    task: TaskAsked | None = None
