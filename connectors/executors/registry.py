"""Every executor there is: a row for its configuration and a case that opens it."""

from typing import Annotated, Protocol, TypeAlias, assert_never

from pydantic import Field

from connectors.executors.dask import DaskConfig, DaskExecutor
from connectors.executors.processes import ProcessesConfig, ProcessesExecutor
from connectors.executors.ray import RayConfig, RayExecutor
from connectors.executors.serial import SerialConfig, SerialExecutor
from forecaster.ports import Executor

ExecutorConfig: TypeAlias = Annotated[SerialConfig | ProcessesConfig | RayConfig | DaskConfig, Field(discriminator="type")]


class OpenedExecutor(Executor, Protocol):
    """An executor as it is wired: what the core needs of it, and what the end of a run needs."""

    def close(self) -> None:
        """End the workers that were started. Done once, at the end."""


def open_executor(config: ExecutorConfig) -> OpenedExecutor:
    """The executor of a configuration. Starts no worker and reaches no cluster yet: most commands never need one."""
    match config:
        case SerialConfig():
            return SerialExecutor()
        case ProcessesConfig():
            return ProcessesExecutor(config)
        case RayConfig():
            return RayExecutor(config)
        case DaskConfig():
            return DaskExecutor(config)
        case _:
            assert_never(config)
