"""`presets` of a workload: what of its load is asked with which ready-made query."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from pydantic import BaseModel, Field, model_validator

from connectors.sources.presets.catalogue import PRESETS, PresetName
from connectors.sources.presets.expression import Use, expression
from connectors.sources.presets.preset import Preset
from connectors.sources.presets.quantity import Quantity
from forecaster.ports import Query
from forecaster.series import LOAD_SIGNALS, Signal
from jobs.config.policy import SECTION


class PresetSection(BaseModel):
    """Ready-made queries for what one system measures."""

    model_config = SECTION
    name: PresetName
    """What serves the workload or stands in front of it; docs/presets.md says what each supplies. No default."""
    match: dict[str, str] = Field(min_length=1)
    """Labels of its series, such as `{model_name: llama, namespace: inference}`; a value that begins with ~ is a regular expression. No
    default: without labels everybody's load would be added up."""
    only: tuple[Quantity, ...] = Field((), min_length=1)
    """Which of its quantities are taken. Default: all that no preset before it supplies."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        preset = self.use.preset
        stray = next((quantity for quantity in self.only if quantity not in preset.metrics), None)
        if stray is not None:
            msg = f"preset {self.name} does not supply {stray}; it supplies {', '.join(preset.metrics)}"
            raise ValueError(msg)
        return self

    @property
    def use(self) -> Use:
        """The same as the source takes it. Raises ValueError for a label that the preset does not know."""
        return Use(preset=PRESETS[self.name], match=self.match)


@dataclass(frozen=True, slots=True, kw_only=True)
class Supply:
    """A quantity, who supplies it, and the presets of the workload. Its query is made when it is asked for: checking needs none.

    counts_waiting: as `Query.counts_waiting`; only where one preset says both, since another's queue stands elsewhere.
    """

    quantity: Quantity
    use: Use
    beside: tuple[Use, ...]
    counts_waiting: bool = False

    @property
    def preset(self) -> Preset:
        """The preset that supplies it."""
        return self.use.preset

    @property
    def expression(self) -> str:
        """The question in the source's own language."""
        return expression(self.use, self.quantity, self.beside)

    @property
    def query(self) -> Query:
        """The question to the source. What the core has no signal for is asked as a condition: a plain number."""
        signal = self.quantity.signal
        return Query(
            signal=Signal.CONDITION if signal is None else signal,
            expression=self.expression,
            unit=self.preset.unit(self.quantity),
            counts_waiting=self.counts_waiting,
        )


def supplies(sections: Sequence[PresetSection], explicit: Collection[str]) -> tuple[Supply, ...]:
    """Who supplies each quantity, in the order of `Quantity`; those that explicit signals ask for are left to them.

    The first preset wins, but what a gateway says second best is taken of it only where no other preset has it.
    """
    found = tuple(_supplied(sections, explicit))
    queue = next((supply.use for supply in found if supply.quantity is Quantity.QUEUE_DEPTH), None)
    return tuple(replace(supply, counts_waiting=_counts_waiting(supply, queue)) for supply in found)


def _counts_waiting(supply: Supply, queue: Use | None) -> bool:
    return supply.quantity is Quantity.CONCURRENCY and supply.use == queue and supply.preset.counts_waiting


def used(found: Sequence[Supply], explicit: Collection[str], carried: Collection[Signal]) -> tuple[Supply, ...]:
    """The supplies that the core asks for: signals, without load that no pool has a capacity for where there is other load.

    carried: load signals that some pool has a capacity for.
    """
    load = [supply for supply in found if supply.quantity.signal in LOAD_SIGNALS]
    kept = [supply for supply in load if supply.quantity.signal in carried]
    if not kept and not set(explicit) & set(LOAD_SIGNALS):
        kept = load[:1]
    others = [supply for supply in found if supply.quantity.signal is not None and supply not in load]
    return (*kept, *others)


def idle_of(sections: Sequence[PresetSection]) -> str:
    """What presets without load supply, in words."""
    return "; ".join(f"{section.name} supplies {', '.join(q.words for q in PRESETS[section.name].metrics)}" for section in sections)


def _supplied(sections: Sequence[PresetSection], explicit: Collection[str]) -> Iterator[Supply]:
    uses = tuple(section.use for section in sections)
    for quantity in Quantity:
        able = [(s, use) for s, use in zip(sections, uses, strict=True) if use.supplies(quantity) and (not s.only or quantity in s.only)]
        best = [(s, use) for s, use in able if quantity not in use.preset.second or quantity in s.only] or able
        if best and quantity.value not in explicit:
            yield Supply(quantity=quantity, use=best[0][1], beside=uses)
