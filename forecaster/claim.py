"""What a pool may take of GPUs that it shares with others, and what is left of them for it now."""

from dataclasses import dataclass

from forecaster.units import check_named, check_not_negative, check_positive


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A pool's place under a GPU budget. priority: the higher is served first; gpus_per_replica: of the budget's kind."""

    budget: str
    gpus_per_replica: int = 1
    priority: int = 0

    def __post_init__(self) -> None:
        check_named("claim.budget", self.budget)
        check_positive("claim.gpus_per_replica", self.gpus_per_replica, "GPUs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """The most replicas that a pool's floor may have now under a budget of so many GPUs, found before any pool is decided on."""

    budget: str
    gpus: int
    most: int

    def __post_init__(self) -> None:
        check_named("room.budget", self.budget)
        check_not_negative("room.most", self.most, "replicas")

    def told(self, asked: int) -> str:
        """`budget h100 of 32 GPUs leaves 20 replicas, 24 were asked for`."""
        return f"budget {self.budget} of {self.gpus} GPUs leaves {self.most} replicas, {asked} were asked for"
