"""The `task` section of a workload: what a task takes, so that `forecaster cost` can say what one costs."""

from typing import Annotated, Self, TypeAlias

from pydantic import BaseModel, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidatorFunctionWrapHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema
from pydantic_core.core_schema import chain_schema, no_info_wrap_validator_function, union_schema

from forecaster.ports import Query, Unit
from forecaster.series import Signal
from jobs.config.policy import SECTION
from jobs.config.scalars import Number
from jobs.cost.asked import TaskAsked


class TaskQuerySection(BaseModel):
    """A question to the workload's source, asked when `forecaster cost` runs; nothing of it is kept."""

    model_config = SECTION
    query: str = Field(min_length=1)
    """In the source's own language; it answers with the ratio itself, such as calls over tasks. Busy hours count by their requests. No
    default."""


class _NumberOrQuery:
    """A number, or a section with a query; what is wrong is said of the one that was meant."""

    def __get_pydantic_core_schema__(self, _: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        def validate_section(value: object, of_section: ValidatorFunctionWrapHandler) -> object:
            return of_section(value) if isinstance(value, dict) else value

        def validate_number(value: object, of_number: ValidatorFunctionWrapHandler) -> object:
            return value if isinstance(value, TaskQuerySection) else of_number(value)

        section, number = handler.generate_schema(TaskQuerySection), handler.generate_schema(Number)
        return chain_schema(
            [no_info_wrap_validator_function(validate_section, section), no_info_wrap_validator_function(validate_number, number)]
        )

    def __get_pydantic_json_schema__(self, _: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(union_schema([{"type": "float"}, TaskQuerySection.__pydantic_core_schema__]))


Figure: TypeAlias = Annotated[float | TaskQuerySection, _NumberOrQuery()]


class TaskSection(BaseModel):
    """What a task takes, each a number or `{query: ...}` of the workload's source."""

    model_config = SECTION
    calls: Figure
    """Calls of the model a round, repeated ones included. No default: nobody can guess it."""
    rounds: Figure = 1.0
    """Rounds a task. Default 1: a task is one round of calls."""
    completion: Figure = 1.0
    """Completed tasks of those begun, above 0 to 1; what went into the others is paid by those. Default 1: each is completed."""
    retries: Figure | None = None
    """Calls that repeat a failed one, of all calls, 0 to below 1; shown as their own cost. Default: not known, and within the calls."""
    invalid: Figure | None = None
    """Rounds whose answer nobody can use, of all rounds, 0 to below 1; shown as their own cost. Default: not known, and within the
    rounds."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        self.to_core()
        return self

    def to_core(self) -> TaskAsked:
        """The same as jobs ask it. Raises ValueError for a number out of its range."""
        return TaskAsked(
            calls=_asked(self.calls),
            rounds=_asked(self.rounds),
            completion=_asked(self.completion),
            retries=None if self.retries is None else _asked(self.retries),
            invalid=None if self.invalid is None else _asked(self.invalid),
        )


def _asked(told: float | TaskQuerySection) -> float | Query:
    """A number, or a question whose answer is taken as it is."""
    return Query(signal=Signal.CONDITION, expression=told.query, unit=Unit.COUNT) if isinstance(told, TaskQuerySection) else told
