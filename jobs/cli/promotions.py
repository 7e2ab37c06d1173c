"""How a workload came to be in `auto`, in words and for programs."""

from forecaster.decision import Ruling
from forecaster.units import iso


def promotion_words(promotion: Ruling) -> str:
    """Who promoted a workload, when, from which mode and why."""
    return f"promoted from {promotion.mode} by {promotion.author} on {iso(promotion.at)}: {promotion.reason}"


def promotion_json(promotion: Ruling | None) -> dict[str, object] | None:
    """The same for programs."""
    if promotion is None:
        return None
    return {"author": promotion.author, "reason": promotion.reason, "since": promotion.at, "from_mode": promotion.mode}
