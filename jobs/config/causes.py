"""Faults without those that only follow from others."""

from collections.abc import Iterable

from pydantic_core import ErrorDetails


def causes(faults: Iterable[ErrorDetails]) -> list[ErrorDetails]:
    """The faults, without the complaint that a list is too short because its entries were refused."""
    found = list(faults)
    broken = {fault["loc"][:i] for fault in found for i in range(len(fault["loc"]))}
    return [fault for fault in found if not (fault["type"] == "too_short" and fault["loc"] in broken)]
