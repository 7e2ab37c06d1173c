"""What every command begins with: the configuration, the instant, the log and the fleet; and who is speaking."""

import getpass
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from forecaster.errors import ConfigRejected
from forecaster.ports import Clock
from jobs.cli.show import say
from jobs.clock import FixedClock, SystemClock
from jobs.config.document import Config
from jobs.config.reading import config_path, read_config
from jobs.config.scalars import duration_s
from jobs.fleet import Fleet, Member
from jobs.telemetry import start_logging
from jobs.wiring import Rehearse, open_fleet, store_url


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
    path = config_path(config).resolve()
    document = read_config(path)
    start_logging(document.log.model_copy(update={"level": "warning"}))  # what a command does stands on its stdout
    clock = SystemClock() if now is None else FixedClock(instant(now))
    with ExitStack() as closing:
        fleet = closing.enter_context(open_fleet(document, path.parent, rehearse=rehearse))
        for problem in fleet.problems:
            say(f"forecaster: {problem}")
        yield Session(path=path, config=document, clock=clock, fleet=fleet)


def instant(text: str) -> datetime:
    """An instant as a person writes it; one without a zone is refused, since it means another hour to everybody."""
    try:
        value = datetime.fromisoformat(text)
    except ValueError as error:
        raise ConfigRejected(f"{text!r} is no instant; write ISO 8601, such as 2024-05-18T08:00:00Z") from error
    if value.tzinfo is None:
        raise ConfigRejected(f"{text!r} has no zone; end it with Z for UTC, or an offset such as +02:00")
    return value.astimezone(UTC)


def until(text: str | None, now: datetime) -> datetime | None:
    """The end of a ruling: an instant, or a duration from now; None = until it is taken back. Raises ConfigRejected when it has passed."""
    if text is None:
        return None
    try:
        end = now + timedelta(seconds=duration_s(text))
    except ValueError:
        end = instant(text)
    if end <= now:
        raise ConfigRejected(f"{text} has passed; name an instant ahead, or a duration such as 2h")
    return end


def author(given: str | None) -> str:
    """Who is speaking: the name given, else the user of the process."""
    return given if given is not None else getpass.getuser()
