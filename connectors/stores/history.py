"""Days of history as rows: read, merged with what came, written again."""

from collections.abc import Mapping

from sqlalchemy import Connection

from connectors.stores.codec import decode, encode
from connectors.stores.days import Day, merged, other_step
from connectors.stores.engine import alone
from connectors.stores.statements import HISTORY_DAYS, HISTORY_STEPS
from connectors.stores.tables import HISTORY
from connectors.stores.upsert import Row, upsert
from forecaster.series import Signal


def days_in(connection: Connection, key: Row, numbers: range) -> dict[int, Day]:
    """The days that were kept among the given ones."""
    rows = connection.execute(HISTORY_DAYS, key | {"first_day": numbers.start, "end_day": numbers.stop})
    return {number: decode(Day, payload) for number, payload in rows}


def append_days(connection: Connection, key: Row, days: Mapping[int, Day]) -> None:
    """Write days, merged with what is kept of them; who writes the same signal waits."""
    alone(connection, f"history/{key['workload']}/{key['signal']}")
    kept = days_in(connection, key, range(min(days), max(days) + 1))
    whole = {number: merged(kept[number], day) if number in kept else day for number, day in days.items()}
    upsert(connection, HISTORY, [key | {"day": number, "payload": encode(day)} for number, day in whole.items()])


def refuse_other_step(connection: Connection, workload: str, signal: Signal, step_s: int) -> None:
    """Refuse to tell nothing of a signal that is kept at another step. Raises HistoryAtOtherStep."""
    steps = connection.scalars(HISTORY_STEPS, {"workload": workload, "signal": signal.value}).all()
    if steps and step_s not in steps:
        raise other_step(workload, signal, step_s, kept=steps)
