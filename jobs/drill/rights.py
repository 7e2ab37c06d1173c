"""What our role may do beyond what it needs, as far as an API tells: the same for targets and levers."""

from collections.abc import Callable

from forecaster.errors import TargetError
from jobs.drill.outcome import Found, doubtful, idle, kept


def excess_found(more: Callable[[], tuple[str, ...]] | None, *, page: str, enough: str) -> Found:
    """Whether it may do more. more: None = its API does not tell. page: where the least is listed; enough: what to give it instead."""
    if more is None:
        return idle(f"its API does not tell what we may; {page} has the least that is needed")
    try:
        found = more()
    except TargetError as error:
        return doubtful(f"what else we may is not known: {error}")
    if found:
        return doubtful(f"our role may also {', '.join(found)}: give it {enough}")
    return kept("our role may neither create nor delete it, read secrets, delete pods nor run commands in them")
