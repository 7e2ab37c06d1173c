"""From the answers to one step of a load test to its point: what was served, and how long it took."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from forecaster.profile import PLAUSIBLE_S, Point, Spread
from forecaster.request_log import Schedule
from forecaster.series import Floats
from forecaster.units import check_not_negative, check_positive

_LEAST_TOKENS = 5
"""Of an answer, for a time per token: in fewer it is the noise of the first one."""
_LATE_S, _LATE_RATIO = 0.25, 0.02
"""A generator is behind once it is later than both a quarter of a second and 2 % of the step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What came of one request. sent_s: seconds from the step's start.

    failure: why there was no answer, empty where there was. Otherwise took_s until the last token, first_s until the first one, None = not
    streamed; tokens as the server counts them, None = it does not tell.
    """

    sent_s: float
    took_s: float = math.nan
    first_s: float | None = None
    input_tokens: float | None = None
    output_tokens: float | None = None
    failure: str = ""

    def __post_init__(self) -> None:
        if not self.failure:
            check_positive("answered.took_s", self.took_s, "seconds")
        if self.first_s is not None:
            check_not_negative("answered.first_s", self.first_s, "seconds")


def behind(schedule: Schedule, answers: Mapping[int, Answered]) -> float:
    """Seconds that the generator was late for the slowest twentieth of the requests, 0 where that is within what it may be."""
    late_s = [answer.sent_s - float(schedule.at_s[i]) for i, answer in answers.items()]
    slowest_s = float(np.percentile(late_s, 95)) if late_s else 0.0
    return slowest_s if slowest_s > max(_LATE_S, _LATE_RATIO * schedule.span_s) else 0.0


def measured(schedule: Schedule, answers: Mapping[int, Answered]) -> Point | None:
    """The point of a step, of its requests after the warm-up; None where not one of them was answered. A request without answer failed.

    achieved = offered x share answered / (1 + g), with g the seconds by which a request sent a second later takes longer, fitted over the
    step (0 at least). A replica that keeps up has g = 0; one that does not falls behind by offered / served - 1 seconds a second, so that
    1 + g = offered / served: what it serves, whatever was in flight when the step began and ended. Raises ValueError as Point does.
    """
    wanted = range(schedule.warm_up, schedule.at_s.size)
    good = [answers[i] for i in wanted if i in answers and not answers[i].failure]
    if not good:
        return None
    sent_s, took_s = (np.array([getattr(each, name) for each in good]) for name in ("sent_s", "took_s"))
    share = len(good) / len(wanted)
    inputs, outputs = (_told(good, name) for name in ("input_tokens", "output_tokens"))
    return Point(
        offered_rpm=schedule.rate_rpm,
        achieved_rpm=schedule.rate_rpm * share / (1 + _growth(sent_s, took_s)),
        ttft=_spread("ttft", _told(good, "first_s")),
        tpot=_per_token(good),
        e2e=_spread("e2e", took_s),
        error_ratio=1 - share,
        input_tokens=_mean(inputs),
        input_std=None if inputs is None else float(inputs.std()),
        output_tokens=_mean(outputs),
        output_std=None if outputs is None else float(outputs.std()),
    )


def _growth(sent_s: Floats, took_s: Floats) -> float:
    """Seconds a second by which requests take longer, by least squares; at least 0."""
    apart_s = sent_s - sent_s.mean()
    spread = float(apart_s @ apart_s)
    return max(0.0, float(apart_s @ took_s) / spread) if spread > 0 else 0.0


def _told(answers: list[Answered], name: str) -> Floats | None:
    values = [getattr(answer, name) for answer in answers]
    return None if None in values else np.array(values, dtype=float)


def _mean(values: Floats | None) -> float | None:
    return None if values is None or values.mean() <= 0 else float(values.mean())


def _spread(name: str, values: Floats | None, mean: float | None = None) -> Spread:
    """Of latencies that were measured here, so that those below what is plausible are no other unit: a server nearby is that quick."""
    if values is None or not values.size:
        return Spread()
    least_s, _ = PLAUSIBLE_S[name]
    told = (values.mean() if mean is None else mean, *np.percentile(values, [50, 95, 99]))
    mean_s, p50, p95, p99 = (max(least_s, float(each)) for each in told)
    return Spread(mean_s=mean_s, p50_s=p50, p95_s=p95, p99_s=p99)


def _per_token(answers: list[Answered]) -> Spread:
    """Seconds a token after the first one. The mean is one over tokens, so that it adds up to the requests' own time."""
    of_each = [
        (each.took_s - each.first_s, each.output_tokens - 1)
        for each in answers
        if each.first_s is not None and each.output_tokens is not None and each.output_tokens >= _LEAST_TOKENS
    ]
    if not of_each:
        return Spread()
    took_s, tokens = np.array(of_each).T
    return _spread("tpot", took_s / tokens, float(took_s.sum() / tokens.sum()))
