"""What every command begins with: the configuration, the instant, the log and the fleet; and who is speaking."""

import getpass
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from forecaster.errors import ConfigRejected
from forecaster.ports import Clock
from jobs.capacity.known import with_capacities
from jobs.cli.show import say
from jobs.clock import FixedClock, SystemClock
from jobs.config.document import Config
from jobs.config.reading import config_path, read_config
from jobs.config.scalars import duration_s
from jobs.earned import with_promotions
from jobs.fleet import Fleet, Member
from jobs.telemetry import start_logging
from jobs.wiring import Rehearse, open_fleet, store_url

_FIRST_YEAR, _LAST_YEAR = 1971, 2200
"""Instants beyond are typing errors, and years of history around them leave the calendar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One command at work."""

    path: Path
    config: Config
    clock: Clock
    fleet: Fleet

    @property
    def now(self) -> datetime:
        """The instant that the command acts at, in whole seconds, as plans are named."""
        return self.clock.now().replace(microsecond=0)

    @property
    def store_url(self) -> str:
        """The store's address."""
        return store_url(self.config, self.path.parent)

    def member(self, name: str) -> Member:
        """The workload of that name. Raises ConfigRejected naming those there are."""
        for member in self.fleet.members:
            if member.workload.name == name:
                return member
        known = ", ".join(member.workload.name for member in self.fleet.members) or "none"
        raise ConfigRejected(f"there is no workload {name!r} in {self.path}; there is: {known}")

    def members(self, name: str | None) -> tuple[Member, ...]:
        """The workload of that name, or all."""
        return self.fleet.members if name is None else (self.member(name),)


@contextmanager
def session(config: Path | None, now: str | None = None, *, rehearse: Rehearse = "by-mode") -> Iterator[Session]:
    """Read the configuration, start the log, open the fleet; close it at the end. Raises ConfigRejected or StoreError."""
    path = config_path(config).absolute()
    document = read_config(path)
    start_logging(document.log.model_copy(update={"level": "warning"}))  # what a command does stands on its stdout
    clock = SystemClock() if now is None else FixedClock(instant(now))
    with ExitStack() as closing:
        fleet = closing.enter_context(open_fleet(document, path.parent, rehearse=rehearse))
        for problem in fleet.problems:
            say(f"forecaster: {problem}")
        yield Session(path=path, config=document, clock=clock, fleet=_as_known(fleet, clock.now()))


def _as_known(fleet: Fleet, now: datetime) -> Fleet:
    """With what the store adds to the configuration: promotions, and capacities that were imported."""
    return with_capacities(with_promotions(fleet, now), now)


def instant(text: str) -> datetime:
    """An instant as a person writes it; one without a zone is refused, since it means another hour to everybody."""
    try:
        value = datetime.fromisoformat(text)
    except ValueError as error:
        raise ConfigRejected(f"{text!r} is no instant; write ISO 8601, such as 2024-05-18T08:00:00Z") from error
    if value.tzinfo is None:
        raise ConfigRejected(f"{text!r} has no zone; end it with Z for UTC, or an offset such as +02:00")
    if not _FIRST_YEAR <= value.year < _LAST_YEAR:
        raise ConfigRejected(f"{text!r} lies outside of {_FIRST_YEAR} to {_LAST_YEAR}; look for a mistyped year")
    return value.astimezone(UTC)


def until(text: str | None, now: datetime) -> datetime | None:
    """The end of a ruling: an instant, or a duration from now; None = until it is taken back. Raises ConfigRejected when it has passed."""
    if text is None:
        return None
    try:
        end = now + timedelta(seconds=duration_s(text))
    except (ValueError, OverflowError):
        end = instant(text)
    if end <= now:
        raise ConfigRejected(f"{text} has passed; name an instant ahead, or a duration such as 2h")
    return end


def author(given: str | None) -> str:
    """Who is speaking: the name given, else the user of the process. Raises ConfigRejected when the name is blank."""
    return _user() if given is None else said("--author", given)


def said(option: str, text: str) -> str:
    """What a person says; it is kept for others to read. Raises ConfigRejected when it is blank."""
    if not text.strip():
        raise ConfigRejected(f"{option} is blank; write a word or two, it is kept for others to read")
    return text


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user need not have a name
        return f"user {os.getuid()}"
