"""What `status` says of levers: those that mode auto moved and that are not back, from the store alone."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from forecaster.levers import shown
from forecaster.reasons import Code
from forecaster.units import iso
from jobs.cli.show import Table
from jobs.levers.state import Memory

if TYPE_CHECKING:
    from forecaster.ports import Store


def moved_by_auto(store: "Store") -> Memory:
    """What mode auto remembers. Raises StoreError."""
    from jobs.levers.once import AUTO
    from jobs.levers.state import recall

    return recall(store, AUTO)


def levers_table(memory: Memory) -> Table:
    """A row a lever that is not back."""
    failing = memory.failing
    rows = tuple(
        (name, shown(held.value), shown(held.original), iso(held.since), _wrong(failing.get(name))) for name, held in memory.held.items()
    )
    return Table(title="Levers that are moved", columns=("lever", "stands at", "was", "since", "error"), rows=rows)


def levers_json(memory: Memory) -> list[Mapping[str, object]]:
    """The same for programs."""
    return [
        {"name": name, "value": held.value, "original": held.original, "since": iso(held.since), "error": memory.failing.get(name)}
        for name, held in memory.held.items()
    ]


def _wrong(error: str | None) -> str | None:
    if error == Code.LEVER_LOST:
        return "is to go back and cannot: `forecaster levers` says why"
    return None if error is None else f"{error}: `forecaster levers` says why"
