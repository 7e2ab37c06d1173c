"""One reading a signal: from pages of metrics and sources as of this moment, else from sources as of the last minute that they have."""

import math
from datetime import datetime

from connectors.live.pages import Look
from forecaster.errors import SourceError
from jobs.failure import Failure, failure
from jobs.levers.desk import Desk


def read(desk: Desk, before: Look | None, now: datetime) -> tuple[Look | None, dict[str, float], list[Failure]]:
    """This look at the pages, the readings by signal (NaN = unknown), and what could not be read."""
    look, readings, errors = desk.pages.look(desk.asked, before, now) if desk.asked else (None, {}, [])
    failures = [failure("levers", error) for error in errors]
    for signal, answer in desk.asking.ask(desk.sources, now).items():
        if isinstance(answer, SourceError):
            failures.append(failure("levers", answer, f"{signal} could not be read: {answer}"))
        readings[signal] = math.nan if isinstance(answer, SourceError) else answer
    return look, readings, failures
