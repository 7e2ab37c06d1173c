"""What becomes of a decided floor on an object that was seen: pure, so that a rehearsal tells exactly what a write would do."""

from forecaster.decision import Applied, Decision, Seen
from forecaster.reasons import Code, Reason
from forecaster.units import iso


def floor_taken(decision: Decision, seen: Seen, *, whole: int, reasons: tuple[Reason, ...]) -> Applied:
    """The outcome of writing `whole` replicas, which is no write at all when the floor and its expiry stand there already."""
    renewed = seen.valid_until is not None and iso(seen.valid_until) == iso(decision.valid_until)
    written = seen.floor != whole or not renewed
    return Applied(target=seen.target, before=seen.floor, after=whole, written=written, reasons=reasons)


def original_taken(seen: Seen, *, ceiling: str) -> Applied:
    """The outcome of a release: the original, at most the ceiling of today; nothing where we hold nothing."""
    if seen.valid_until is None:
        return Applied(target=seen.target, before=seen.floor, after=seen.floor, written=False)
    after, reasons = below_ceiling(seen.original, seen, ceiling=ceiling)
    if seen.writer is not None:
        detail = f"{seen.writer} had set {seen.floor} after us: the original {after} is put back all the same"
        reasons = (*reasons, Reason(code=Code.SECOND_WRITER, detail=detail, before=seen.floor, after=after))
    return Applied(target=seen.target, before=seen.floor, after=after, written=True, reasons=reasons)


def within_bounds(floor: int, seen: Seen, *, ceiling: str) -> tuple[int, tuple[Reason, ...]]:
    """`floor` as the object takes it: at least its least, and at most its ceiling, which outranks that."""
    least, raised = above_least(floor, seen)
    whole, limited = below_ceiling(least, seen, ceiling=ceiling)
    return whole, (*raised, *limited)


def above_least(floor: int, seen: Seen) -> tuple[int, tuple[Reason, ...]]:
    """`floor`, or the smallest one that the object takes now where that is higher."""
    least = seen.least
    if least is None or least.after is None or floor >= least.after:
        return floor, ()
    return least.after, (Reason(code=least.code, detail=least.detail, before=floor, after=least.after),)


def raise_only(floor: int, why: str) -> Reason:
    """The least of an object that only a release lowers: no loop above it would raise it again in an emergency."""
    return Reason(code=Code.RAISE_ONLY, detail=f"{why}: {floor} stays", after=floor)


def below_ceiling(floor: int, seen: Seen, *, ceiling: str) -> tuple[int, tuple[Reason, ...]]:
    """`floor`, or the target's own ceiling where that is lower. `ceiling` is what the API calls it."""
    if seen.ceiling is None or floor <= seen.ceiling:
        return floor, ()
    detail = f"{ceiling} of {seen.target} allows {seen.ceiling} of {floor} replicas: raise it, or lower the maximum of the policy"
    return seen.ceiling, (Reason(code=Code.CEILING_BELOW_FLOOR, detail=detail, before=floor, after=seen.ceiling),)


def is_ours(applied: Applied, seen: Seen) -> bool:
    """Whether the floor that will stand is of our writing. A value that somebody else set and that we keep stays theirs, and named."""
    return seen.writer is None or applied.after != seen.floor
