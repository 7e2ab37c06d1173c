"""Marks in the tags of an object of AWS, whose APIs have no versions: two writes in an order that a crash between them survives.

The marks go first and name the value before and the value after; then the minimum; then the mark of what stands. Cut short anywhere, the
original is in the tags, and what stands is one of the values that the mark names. A release goes the other way round.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from connectors.targets.marks import OURS, Marks, floor_mark, written_marks
from connectors.targets.writers import Writer

UNKNOWN_WRITER = "an unknown writer"
SCHEDULED = "forecaster/scheduled"
"""The mark of floors that were put as scheduled actions: the values that AWS may write in our name."""

_STACK = "aws:cloudformation:stack-name"
_MANAGED_BY = ("managedby", "managed-by", "managed_by", "terraform")


class TaggedFloor(Protocol):
    """An object with a minimum and tags beside it, as one turn sees it. Counts in the object's own unit."""

    @property
    def minimum(self) -> int:
        """The minimum that stands there."""

    def tag(self, tags: dict[str, str]) -> None:
        """Sets tags and leaves the others."""

    def untag(self, keys: tuple[str, ...]) -> None:
        """Removes tags; those that are not there are no error."""

    def resize(self, count: int) -> bool:
        """Writes the minimum. False: accepted, but it does not show yet."""


def write_floor(held: TaggedFloor, *, count: int, ours: bool, marks: Marks, valid_until: datetime) -> None:
    """Makes `count` stand with its marks. ours: whether it will be of our writing, as `is_ours` tells."""
    before = held.minimum
    floors = (before, count) if ours else ()
    held.tag(written_marks(original=original_of(before, marks), floors=floors, valid_until=valid_until))
    if count != before and held.resize(count):
        held.tag(floor_mark(count))


def put_back(held: TaggedFloor, *, count: int) -> None:
    """Makes the original stand and removes our marks."""
    if count != held.minimum:
        held.tag(floor_mark(held.minimum, count))
        held.resize(count)
    held.untag((*OURS, SCHEDULED))


def original_of(minimum: int, marks: Marks) -> int:
    """The minimum before we first wrote, the present one if we never did."""
    return minimum if marks.original is None else marks.original


def version_of(tags: Mapping[str, str], *limits: int) -> str:
    """All that a write rests on: limits and our own marks. Not what the autoscaler moves, which is read again anyway."""
    return json.dumps([*limits, {key: text for key, text in sorted(tags.items()) if key.startswith("forecaster/")}])


def second_writer(tags: Mapping[str, str], minimum: int, marks: Marks) -> str | None:
    """Somebody, where the minimum is neither what we last wrote or scheduled nor what stood before; None = nobody.

    AWS keeps no book of who it was: a tool that marks what it manages is the likely one.
    """
    if not marks.floors or minimum in marks.floors or minimum in scheduled_counts(tags):
        return None
    return managed_by(tags) or UNKNOWN_WRITER


def managed_by(tags: Mapping[str, str]) -> str | None:
    """The tool that says in a tag that it manages the object."""
    if _STACK in tags:
        return f"the CloudFormation stack {tags[_STACK]}"
    named = next((text for key, text in tags.items() if key.lower() in _MANAGED_BY), None)
    if named is None:
        return None
    return "Terraform" if named.lower() in {"terraform", "true", "opentofu", "terragrunt"} else named


def owner_of(tags: Mapping[str, str], *, terraform: tuple[str, ...], field: str) -> Writer | None:
    """Who manages the object by its tags, with `remedy_of`: whose next run writes the minimum back."""
    name = managed_by(tags)
    return None if name is None else Writer(name=name, remedy=remedy_of(name, terraform=terraform, field=field))


def remedy_of(writer: str | None, *, terraform: tuple[str, ...], field: str) -> str | None:
    """What to change so that the writer lets go. terraform: the attributes to ignore. field: what the API calls the minimum."""
    match writer:
        case None | "an unknown writer":
            return None
        case "Terraform":
            return f"add lifecycle {{ ignore_changes = [{', '.join(terraform)}] }} to its resource"
        case str(stack) if stack.startswith("the CloudFormation stack"):
            return f"updates of the stack write {field} back, and drift detection names ours: keep it at the least value in the template"
        case _:
            return f"take {field} out of what it manages"


def scheduled_mark(counts: tuple[int, ...]) -> dict[str, str]:
    """The mark of scheduled floors. A tag holds 256 characters, far more than a schedule has distinct counts."""
    return {SCHEDULED: "/".join(str(count) for count in sorted(set(counts)))}


def scheduled_counts(tags: Mapping[str, str]) -> tuple[int, ...]:
    """The counts that AWS may have written in our name."""
    return tuple(int(text) for text in tags.get(SCHEDULED, "").split("/") if text.isascii() and text.isdigit())
