"""Plans of two pools whose replicas must stand in a ratio: raised where it does not hold, and told where it cannot."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from forecaster.plan import Floor, Plan, cut_at, merged
from forecaster.reasons import Code, Reason
from forecaster.roles import Roles
from forecaster.units import iso


def balanced(plans: Sequence[Plan], roles: Roles | None, maximum: int | None) -> tuple[Plan, ...]:
    """A workload's plans with those of both roles raised to the ratio, up to the maximum of their policy; others are as they were."""
    pair = _pair(plans, roles)
    if roles is None or pair is None:
        return tuple(plans)
    pieces = _pieces(*pair)
    pairs = [(p, d, *roles.raised(p.replicas, d.replicas)) for p, d in pieces]
    raised = {
        roles.prefill: [_raised(p, most, f"{d.replicas} of {roles.decode}", roles, maximum) for p, d, most, _ in pairs],
        roles.decode: [_raised(d, most, f"{p.replicas} of {roles.prefill}", roles, maximum) for p, d, _, most in pairs],
    }
    return tuple(_with(plan, raised) for plan in plans)


def unbalanced(plans: Sequence[Plan], roles: Roles | None, now: datetime) -> tuple[Plan, ...]:
    """The plans, of which those of both roles tell where their ratio does not hold from now on: a maximum or a budget is in the way."""
    pair = _pair(plans, roles)
    if roles is None or pair is None:
        return tuple(plans)
    pieces = [(p, d) for p, d in _pieces(*pair) if p.until > now and not roles.are_held(p.replicas, d.replicas)]
    if not pieces:
        return tuple(plans)
    p, d = pieces[0]
    at = iso(max(p.start, now))
    has = f"{p.replicas} of {roles.prefill} for {d.replicas} of {roles.decode}"
    detail = f"{at}: {has} is out of the ratio, {roles.told}, until {iso(_end(pieces))}: raise max or the budget, or widen the ratio"
    told = Reason(code=Code.ROLE_UNMET, detail=detail)
    return tuple(replace(plan, reasons=(*plan.reasons, told)) if plan.pool in {roles.prefill, roles.decode} else plan for plan in plans)


def _end(pieces: list[tuple[Floor, Floor]]) -> datetime:
    """When the first span of pieces without a gap ends."""
    end = pieces[0][0].until
    for p, _ in pieces[1:]:
        if p.start != end:
            break
        end = p.until
    return end


def _pair(plans: Sequence[Plan], roles: Roles | None) -> tuple[Plan, Plan] | None:
    """The plans of both roles, None where there are not both."""
    if roles is None:
        return None
    by_pool = {plan.pool: plan for plan in plans}
    prefill, decode = by_pool.get(roles.prefill), by_pool.get(roles.decode)
    return None if prefill is None or decode is None else (prefill, decode)


def _pieces(prefill: Plan, decode: Plan) -> list[tuple[Floor, Floor]]:
    """The floors of both where both have one, cut so that they begin and end together."""
    edges = sorted({edge for plan in (prefill, decode) for floor in plan.floors for edge in (floor.start, floor.until)})
    beside = {piece.start: piece for piece in cut_at(list(decode.floors), edges)}
    return [(piece, beside[piece.start]) for piece in cut_at(list(prefill.floors), edges) if piece.start in beside]


def _raised(piece: Floor, to: int, other: str, roles: Roles, maximum: int | None) -> Floor:
    most = to if maximum is None else min(to, maximum)
    if most <= piece.replicas:
        return piece
    reason = Reason(code=Code.ROLE_RATIO, detail=f"beside {other}: {roles.told}", before=piece.replicas, after=most)
    return replace(piece, replicas=most, reason=reason)


def _with(plan: Plan, raised: Mapping[str, list[Floor]]) -> Plan:
    pieces = raised.get(plan.pool)
    if not pieces:
        return plan
    found = {piece.start: piece for piece in pieces}
    edges = sorted({*found, *(piece.until for piece in pieces)})
    return replace(plan, floors=merged([found.get(piece.start, piece) for piece in cut_at(list(plan.floors), edges)]))
