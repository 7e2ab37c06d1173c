"""The `spot` of a pool: replicas that are cheap and may be taken away."""

from pydantic import BaseModel, Field

from jobs.config.policy import SECTION
from jobs.config.scalars import Number


class SpotSection(BaseModel):
    """How often replicas of the pool are taken away; their price is the pool's `gpu_hour`."""

    model_config = SECTION
    preempted_per_hour: Number = Field(gt=0, le=60)
    """Preemptions of one replica an hour, on average: 0.05 is one in twenty hours. No default: it differs by kind of machine and zone."""
