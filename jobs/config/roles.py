"""The `roles` of a workload: prefill and decode as pools of their own, in a ratio."""

from typing import Annotated, Self

from pydantic import BaseModel, Field, model_validator

from forecaster.roles import Roles
from jobs.config.policy import SECTION
from jobs.config.scalars import Name, Positive


class RolesSection(BaseModel):
    """Which pools serve a request one after the other, and in which ratio their replicas must stand."""

    model_config = SECTION
    prefill: Name
    """The pool that reads prompts. No default."""
    decode: Name
    """The pool that writes answers. No default."""
    ratio: Annotated[tuple[Positive, ...], Field(min_length=2, max_length=2)]
    """Prefill replicas for one decode replica, at least and at most, such as `[0.25, 0.5]`. Floors of both are raised to it, never lowered.
    No default: it follows from the model and the lengths of requests."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        self.to_core()
        return self

    def to_core(self) -> Roles:
        """The same in the core's type. Raises ValueError for a ratio upside down, and for one pool in both roles."""
        least, most = self.ratio
        return Roles(prefill=self.prefill, decode=self.decode, least_ratio=least, most_ratio=most)
