"""One chunk after the other, in this process."""

from collections.abc import Callable, Iterable, Iterator
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")


class SerialConfig(BaseModel):
    """One chunk after the other in the process itself."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["serial"] = Field(description="This kind of executor: no workers. Least memory.")


class SerialExecutor:
    """A `forecaster.ports.Executor` without any machinery. A chunk is taken when its result is asked for, not before."""

    def map(self, function: Callable[[Chunk], Result], chunks: Iterable[Chunk]) -> Iterator[Result]:
        """The results in order, as the port says."""
        return map(function, chunks)

    def close(self) -> None:
        """Nothing was started."""
