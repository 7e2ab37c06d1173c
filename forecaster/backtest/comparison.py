"""What the same days cost under everything else that a person could have set up."""

from dataclasses import replace

import numpy as np

from forecaster.simulate.autoscaler import Hpa
from forecaster.simulate.baselines import aws_like, hpa, hpa_candidates, keda_cron_candidates, last_week, static
from forecaster.simulate.fleet import Ints, Outcome, Policies
from forecaster.simulate.rivals import clairvoyant_cold_start, dynamo_like, holt_winters
from forecaster.simulate.trial import Trial

PLAIN_TARGET = 0.7
"""The utilisation that most autoscalers in the field aim at."""


def others(trial: Trial, theirs: Hpa | None = None, *, waits: bool = False) -> dict[str, Outcome]:
    """The outcome of each policy by name; those named best are the best in hindsight, the others know what was known then.

    theirs: the user's own HPA, `hpa_yours` where it is known. waits: tell also how long requests wait.
    """
    found = {}
    for name, policies in ways(trial, theirs).items():
        outcome = trial.outcome(policies)
        best = trial.cheapest(outcome)
        found[name] = trial.outcome(policies.only(best), waits=True) if waits else outcome.only(best)
    return found


def ways(trial: Trial, theirs: Hpa | None = None) -> dict[str, Policies]:
    """What each name stands for on a trial: one policy, or the candidates among which the best is chosen in hindsight."""
    yours = {} if theirs is None else {"hpa_yours": as_it_is(theirs, len(trial))}
    return {
        **yours,
        "static": static(trial),
        f"hpa_{PLAIN_TARGET:g}": hpa(np.array([PLAIN_TARGET]), len(trial)),
        "hpa_best": hpa_candidates(len(trial)),
        "keda_cron_best": keda_cron_candidates(trial),
        "last_week": last_week(trial),
        "aws_like": aws_like(trial),
        "dynamo_like": dynamo_like(trial),
        "holt_winters": holt_winters(trial),
        "clairvoyant_cold_start": clairvoyant_cold_start(trial),
    }


def as_it_is(theirs: Hpa, minutes: int) -> Policies:
    """A HPA with all its settings and no floor of ours, over so many minutes."""
    return replace(hpa(np.array([theirs.target]), minutes), behavior=theirs.behavior)


def ours(trial: Trial, floors: Ints, step_s: int, target: float, theirs: Hpa | None = None, *, waits: bool = False) -> dict[str, Outcome]:
    """The outcome of our floors, one a step, under the autoscaler that everybody has and under the one that we recommend.

    theirs: the user's own HPA, under which they are `ours_hpa_yours` where it is known. waits: tell also how long requests wait.
    """
    both = Policies(
        targets=np.array([PLAIN_TARGET, target]),
        floors=np.stack([floors, floors]).astype(np.float64),
        column=trial.steps(step_s),
    )
    outcome = trial.outcome(both, waits=waits)
    yours = {}
    if theirs is not None:
        under = replace(both.only(0), targets=np.array([theirs.target]), behavior=theirs.behavior)
        yours = {"ours_hpa_yours": trial.outcome(under, waits=waits)}
    return {**yours, f"ours_hpa_{PLAIN_TARGET:g}": outcome.only(0), "ours": outcome.only(1)}
