"""What the same days cost under everything else that a person could have set up."""

import numpy as np

from forecaster.simulate.baselines import aws_like, hpa, hpa_candidates, keda_cron_candidates, last_week, static
from forecaster.simulate.fleet import Ints, Outcome, Policies
from forecaster.simulate.trial import Trial

PLAIN_TARGET = 0.7
"""The utilisation that most autoscalers in the field aim at."""


def others(trial: Trial) -> dict[str, Outcome]:
    """The outcome of each policy by name; those named best are the best in hindsight, the others know what was known then."""
    outcomes = {name: trial.outcome(policies) for name, policies in ways(trial).items()}
    return {name: outcome.only(trial.cheapest(outcome)) for name, outcome in outcomes.items()}


def ways(trial: Trial) -> dict[str, Policies]:
    """What each name stands for on a trial: one policy, or the candidates among which the best is chosen in hindsight."""
    return {
        "static": static(trial),
        f"hpa_{PLAIN_TARGET:g}": hpa(np.array([PLAIN_TARGET]), len(trial)),
        "hpa_best": hpa_candidates(len(trial)),
        "keda_cron_best": keda_cron_candidates(trial),
        "last_week": last_week(trial),
        "aws_like": aws_like(trial),
    }


def ours(trial: Trial, floors: Ints, step_s: int, target: float) -> dict[str, Outcome]:
    """The outcome of our floors, one a step, under the autoscaler that everybody has and under the one that we recommend."""
    both = Policies(
        targets=np.array([PLAIN_TARGET, target]),
        floors=np.stack([floors, floors]).astype(np.float64),
        column=trial.steps(step_s),
    )
    outcome = trial.outcome(both)
    return {f"ours_hpa_{PLAIN_TARGET:g}": outcome.only(0), "ours": outcome.only(1)}
