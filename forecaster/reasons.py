"""Why a number is what it is. Codes are stable: they stand in metrics, logs and stored records."""

from dataclasses import dataclass
from enum import StrEnum


class Code(StrEnum):
    """Every reason that a forecast, a plan or a decision can give."""

    # forecast
    YOUNG_HISTORY = "young-history"
    BORROWED_SHAPE = "borrowed-shape"
    MODEL_FAILED = "model-failed"
    MEMBER_FAILED = "member-failed"
    GAPS_IN_HISTORY = "gaps-in-history"
    FLAT_ZERO = "flat-zero"
    EVENT = "event"
    # trust
    TRUST_YOUNG = "trust-young"
    TRUST_NAIVE = "trust-naive"
    TRUST_REACTIVE = "trust-reactive"
    # demand and plan
    SIGNAL_BINDS = "signal-binds"
    WINDOW_BINDS = "window-binds"
    DAILY_PEAK_BINDS = "daily-peak-binds"
    QUEUEING_BINDS = "queueing-binds"
    LEAD_TIME_WIDENED = "lead-time-widened"
    OPERATING_POINT = "operating-point"
    NO_CAPACITY = "no-capacity"
    CAPACITY_STALE = "capacity-stale"
    CAPACITY_DRIFT = "capacity-drift"
    ENVELOPE = "envelope"
    CEILING_AHEAD = "ceiling-ahead"
    SHORTAGE_AHEAD = "shortage-ahead"
    BUDGET_BINDS = "budget-binds"
    ROLE_RATIO = "role-ratio"
    ROLE_UNMET = "role-unmet"
    SPOT_LOSSES = "spot-losses"
    ALWAYS_ON = "always-on"
    CACHE_HITS = "cache-hits"
    CACHE_UNKNOWN = "cache-unknown"
    BULK = "bulk"
    BULK_LATE = "bulk-late"
    # correct
    PLAN_FOLLOWED = "plan-followed"
    LIVE_ABOVE_PLAN = "live-above-plan"
    LIVE_BELOW_PLAN = "live-below-plan"
    BREAK_GLASS = "break-glass"
    QUEUE_DRAIN = "queue-drain"
    CACHE_COLD = "cache-cold"
    PENDING_COUNTED = "pending-counted"
    FLOOR_DECAYED = "floor-decayed"
    NODES_AHEAD = "nodes-ahead"
    STANDS_IN = "stands-in"
    # guard
    PAUSED = "paused"
    RELEASED = "released"
    OVERRIDDEN = "overridden"
    LOAD_UNKNOWN = "load-unknown"
    PLAN_MISSING = "plan-missing"
    PLAN_STALE = "plan-stale"
    AWAITS_APPROVAL = "awaits-approval"
    HOLD = "hold"
    DEAD_BAND = "dead-band"
    HOLD_WHEN = "hold-when"
    HOLD_WHEN_EXPIRED = "hold-when-expired"
    RAISE_LIMITED = "raise-limited"
    LOWER_LIMITED = "lower-limited"
    MIN_BINDS = "min-binds"
    MAX_BINDS = "max-binds"
    CEILING_BELOW_FLOOR = "ceiling-below-floor"
    # apply
    ZERO_NOT_TAKEN = "zero-not-taken"
    RAISE_ONLY = "raise-only"
    SECOND_WRITER = "second-writer"
    REASSERTED = "reasserted"
    LET_GO = "let-go"
    YIELDED = "yielded"
    OVERDUE = "overdue"
    TARGET_FAILED = "target-failed"
    WORKLOAD_FAILED = "workload-failed"
    # levers
    LEVER_STEP = "lever-step"
    LEVER_RESTORED = "lever-restored"
    LEVER_EXPIRED = "lever-expired"
    LEVER_LOST = "lever-lost"
    SIGNAL_UNKNOWN = "signal-unknown"


ALERTS = frozenset(
    {
        Code.NO_CAPACITY,
        Code.CAPACITY_STALE,
        Code.CAPACITY_DRIFT,
        Code.PLAN_STALE,
        Code.PLAN_MISSING,
        Code.AWAITS_APPROVAL,
        Code.LOAD_UNKNOWN,
        Code.CEILING_BELOW_FLOOR,
        Code.MAX_BINDS,
        Code.BREAK_GLASS,
        Code.CACHE_COLD,
        Code.SECOND_WRITER,
        Code.LET_GO,
        Code.OVERDUE,
        Code.STANDS_IN,
        Code.TARGET_FAILED,
        Code.WORKLOAD_FAILED,
        Code.ENVELOPE,
        Code.CEILING_AHEAD,
        Code.SHORTAGE_AHEAD,
        Code.BUDGET_BINDS,
        Code.ROLE_UNMET,
        Code.BULK_LATE,
        Code.HOLD_WHEN_EXPIRED,
        Code.TRUST_NAIVE,
        Code.TRUST_REACTIVE,
        Code.LEVER_STEP,
        Code.LEVER_EXPIRED,
        Code.LEVER_LOST,
    }
)
"""The codes that a person should hear of: logged as warnings and counted apart."""

PLAN_ALERTS = frozenset(
    {
        Code.CAPACITY_STALE,
        Code.TRUST_NAIVE,
        Code.TRUST_REACTIVE,
        Code.CAPACITY_DRIFT,
        Code.CEILING_AHEAD,
        Code.SHORTAGE_AHEAD,
        Code.BUDGET_BINDS,
        Code.ROLE_UNMET,
        Code.BULK_LATE,
    }
)
"""Those that a plan tells, for all of its days."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One step of a decision: the code, what stood before and after it (in replicas, None where no number changed), a detail."""

    code: Code
    detail: str
    before: int | None = None
    after: int | None = None
