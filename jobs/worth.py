"""Which records of a cycle are worth keeping: what changed, what was written over somebody else, and a sign of life every hour."""

from collections.abc import Iterator

from forecaster.decision import CycleRecord
from forecaster.reasons import Code
from jobs.memory import NEWS_S


def news(records: tuple[CycleRecord, ...], before: tuple[CycleRecord, ...]) -> Iterator[CycleRecord]:
    """The records worth keeping: what changed since the last one of the same target, and a sign of life every hour."""
    last = {(r.decision.pool, r.decision.target): r for r in before}
    for record in records:
        if _is_news(record, last.get((record.decision.pool, record.decision.target))):
            yield record


def _is_news(record: CycleRecord, old: CycleRecord | None) -> bool:
    if old is None or (record.at - old.at).total_seconds() >= NEWS_S:
        return True
    if any(reason.code is Code.REASSERTED for reason in record.decision.reasons):  # how often it was is what ends it
        return True
    if old.at == record.at and not _wrote(record):  # a run done again finds its write done: the record of the write stays
        return (record.decision, record.error) != (old.decision, old.error)
    return _matter(record) != _matter(old)


def _matter(record: CycleRecord) -> tuple[object, ...]:
    """What makes a record news: all but its instant and the live figures in its words. Hold needs to know every change of `wanted`."""
    decision = record.decision
    codes = tuple(reason.code for reason in decision.reasons)
    return (
        record.mode,
        decision.action,
        decision.floor,
        decision.wanted,
        decision.plan_id,
        decision.valid_until,
        codes,
        record.error is None,
        _wrote(record),
    )


def _wrote(record: CycleRecord) -> bool:
    return record.applied is not None and record.applied.written
