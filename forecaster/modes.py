"""In which mode a workload runs: the configured one, or `auto` where a promotion holds."""

from collections.abc import Sequence
from datetime import datetime

from forecaster.approval import active
from forecaster.decision import Ruling, RulingKind
from forecaster.workload import Mode

_RANK = {Mode.OBSERVE: 0, Mode.REVIEW: 1, Mode.AUTO: 2}


def promotion_of(rulings: Sequence[Ruling], configured: Mode, now: datetime) -> Ruling | None:
    """The promotion that holds at `now`: the last one given, unless it was taken back or the configured mode is lower than it was then."""
    found = active(tuple(rulings), RulingKind.PROMOTE, RulingKind.DEMOTE, now)
    return found if found is not None and found.mode is not None and _RANK[configured] >= _RANK[found.mode] else None


def mode_words(mode: Mode, promotion: Ruling | None) -> str:
    """A mode, and where it is `auto` whether that was earned."""
    if mode is not Mode.AUTO:
        return str(mode)
    return "auto, not earned" if promotion is None else f"auto, promoted by {promotion.author}"
