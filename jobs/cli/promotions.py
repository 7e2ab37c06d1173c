"""How a workload came to its mode, in words and for programs."""

from forecaster.decision import Ruling
from forecaster.units import iso
from forecaster.workload import Mode


def mode_words(mode: Mode, promotion: Ruling | None) -> str:
    """A mode, and where it is `auto` whether that was earned."""
    if mode is not Mode.AUTO:
        return str(mode)
    return "auto, not earned" if promotion is None else f"auto, promoted by {promotion.author}"


def promotion_words(promotion: Ruling) -> str:
    """Who promoted a workload, when, from which mode and why."""
    return f"promoted from {promotion.mode} by {promotion.author} on {iso(promotion.at)}: {promotion.reason}"


def promotion_json(promotion: Ruling | None) -> dict[str, object] | None:
    """The same for programs."""
    if promotion is None:
        return None
    return {"author": promotion.author, "reason": promotion.reason, "since": promotion.at, "from_mode": promotion.mode}
