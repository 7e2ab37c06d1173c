"""Whether a second process would be kept out."""

from collections.abc import Callable
from contextlib import suppress

from forecaster.errors import ForecasterError
from forecaster.ports import Lease
from jobs.drill.outcome import Found, broken, idle, kept

NAME = "drill"
"""Of the lease, which is nobody's but the drill's."""


def exclusive(lease: Callable[[str], Lease] | None) -> Found:
    """A lease of the drill's own name, taken by one holder, refused to another, given back and taken again. None: nobody else can come."""
    if lease is None:
        return idle("the store memory: is this process's own: no other one can work on it")
    first, second = lease("one"), lease("two")
    try:
        if not first.try_acquire():
            return idle("another drill has the lease: a second holder is refused, as it should be; drill again when it has ended")
        refused = not second.try_acquire()
        still = first.renew()
        first.release()
        handed_on = second.try_acquire()
        second.release()
    except ForecasterError as error:
        return broken(str(error))
    finally:
        for holder in (first, second):
            with suppress(ForecasterError):  # what cannot be given back ends by itself
                holder.release()
    if not (refused and still and handed_on):
        then = "gets it" if handed_on else "is kept out"
        return broken(f"a second holder is {'refused' if refused else 'let in'}, and {then} once it was given back")
    return kept("taken, refused to a second holder, given back, and then taken by the other")
