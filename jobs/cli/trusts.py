"""How far forecasts are believed, as commands say it."""

from collections.abc import Sequence

from forecaster.reasons import ALERTS
from forecaster.trust import Trust, Verdict
from jobs.cli.show import Cell
from jobs.draft import Draft


def trust_cell(trusts: Sequence[Trust]) -> Cell | None:
    """The least trusted of a pool's forecasts: the score, and what plans rest on where that is not the forecast."""
    known = [found for found in trusts if found.is_judged]
    if not known:
        return Cell(value=None, words="young") if trusts else None
    least = min(known, key=lambda found: (found.verdict is Verdict.TRUSTED, found.score if found.score is not None else 0.0))
    score = f"{least.score:.2f}" if least.score is not None else ""
    verdict = "" if least.verdict is Verdict.TRUSTED else str(least.verdict)
    return Cell(value=least.score, words=" ".join(word for word in (score, verdict) if word))


def trust_sentence(found: Trust) -> str:
    """What a page that shows the track record still has to say: all of a verdict against the forecast, the score of one for it."""
    if found.verdict is Verdict.TRUSTED and found.score is not None and found.reason is None:
        return f"Trust {found.score:.2f}: plans rest on the forecast."
    return f"{found.sentence}."


def trust_json(found: Trust) -> dict[str, object]:
    """One verdict with what it rests on, null where it is not known."""
    return {
        "signal": found.signal,
        "verdict": found.verdict,
        "score": found.score,
        "pinball_ratio": found.pinball_ratio,
        "coverage": found.coverage,
        "drift_log": found.drift_log,
        "cycle_ratio": found.cycle_ratio,
        "sentence": found.sentence,
    }


def distrust(drafts: Sequence[Draft]) -> list[str]:
    """A sentence for each forecast that plans do not rest on."""
    return [
        f"{draft.name}: {found.reason.detail}"
        for draft in drafts
        for found in draft.trusts
        if found.reason is not None and found.reason.code in ALERTS
    ]
