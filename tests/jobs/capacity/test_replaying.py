"""The sweep of a replay: the knee of a replica whose capacity is known, and what is said where there is none."""

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.loadgen.endpoint import Served
from forecaster.errors import LoadTestFailed, LoadTestRejected, TraceRejected
from forecaster.load_step import Answered
from forecaster.profile import Origin, Profile, Slo
from forecaster.profile_carried import Carried, carried
from forecaster.request_log import RequestLog, Schedule
from jobs.capacity.replaying import Replay, Step, mix_notes
from jobs.config.replay import ReplaySection

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SERVED = Served(url="http://replica:8000", model="llama-8b")
SLO = Slo(e2e_p95_s=3)


@dataclass(slots=True, kw_only=True)
class Queue:
    """A generator with its replica: so many slots, a second a request, first come first served.

    late_s: how late it sends at the end of a step, by step. fails: whether a request gets no answer.
    """

    slots: int
    late_s: tuple[float, ...] = ()
    fails: bool = False
    streams: bool = True
    sent_rpm: list[float] = field(default_factory=list)

    def sent(self, schedule: Schedule, served: Served, *, timeout_s: float) -> Mapping[int, Answered]:
        assert served is SERVED
        late_s = self.late_s[len(self.sent_rpm)] if len(self.sent_rpm) < len(self.late_s) else 0.0
        self.sent_rpm.append(schedule.rate_rpm)
        free_s = [0.0] * self.slots
        answers = {}
        for i, at_s in enumerate(schedule.at_s * (1 + late_s / schedule.span_s)):
            begin_s = max(float(at_s), heapq.heappop(free_s))
            heapq.heappush(free_s, begin_s + 1)
            took_s = begin_s + 1 - float(at_s)
            is_answered = not self.fails and took_s <= timeout_s
            answers[i] = (
                Answered(sent_s=float(at_s), took_s=took_s, first_s=took_s - 0.9 if self.streams else None, output_tokens=30)
                if is_answered
                else Answered(sent_s=float(at_s), failure="HTTP 503, overloaded")
            )
        return answers


def a_log(size: int = 20_000, rpm: float = 300) -> RequestLog:
    rng = np.random.default_rng(1)
    gaps_s = rng.exponential(60 / rpm, size) * (1 + 0.5 * np.sin(np.arange(size) / 2_000))
    return RequestLog(arrived_s=gaps_s.cumsum(), input_tokens=rng.integers(1, 99, size).astype(float), output_tokens=np.full(size, 30.0))


LOG = a_log()


def swept(queue: Queue, *, log: RequestLog = LOG, slo: Slo = SLO, **section: object) -> tuple[Profile, list[Step]]:
    steps: list[Step] = []
    replay = Replay(
        name="requests.csv",
        log=log,
        model=SERVED.model,
        served=SERVED,
        generator=queue,
        slo=slo,
        section=ReplaySection.model_validate(section),
    )
    return replay.swept(NOW, steps.append), steps


@settings(max_examples=20)
@given(slots=st.integers(4, 60))
def test_the_knee_is_within_five_percent_of_a_known_capacity(slots: int) -> None:
    profile, _ = swept(Queue(slots=slots))
    found = carried(profile, SLO)
    assert isinstance(found, Carried)
    assert found.capacity.rpm == pytest.approx(60 * slots, rel=0.05)


def test_every_step_is_told_and_kept() -> None:
    profile, steps = swept(Queue(slots=10))
    assert profile.points == tuple(step.point for step in steps)
    assert (profile.origin, profile.source, profile.measured_at) == (Origin.REPLAY, "replay of requests.csv", NOW)
    assert profile.setup.model == "llama-8b"
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    assert steps[0].broke == ""
    assert "is above 3 s" in steps[2].broke


def test_it_begins_at_the_logs_own_rate_and_doubles() -> None:
    queue = Queue(slots=30)
    swept(queue)
    assert queue.sent_rpm[:3] == pytest.approx([LOG.rpm, 2 * LOG.rpm, 4 * LOG.rpm])


def test_it_begins_where_it_is_told_and_stays_below_the_most() -> None:
    queue = Queue(slots=10)
    swept(queue, first_rpm=550, most_rpm=700)
    assert queue.sent_rpm[:2] == [550, 700]


def test_a_bursty_log_carries_less_where_its_bursts_are_kept() -> None:
    """The same requests, whose load swings over minutes: held steady they fill the replica, as they stand they break its SLO earlier."""
    even, as_it_stands = (carried(swept(Queue(slots=10), even_out=over, step="5m")[0], SLO) for over in ("10s", "1d"))
    assert isinstance(even, Carried)
    assert isinstance(as_it_stands, Carried)
    assert (as_it_stands.capacity.rpm or 0) < (even.capacity.rpm or 0)


def test_where_none_holds_nothing_is_found() -> None:
    with pytest.raises(LoadTestRejected, match=r"no load down to 8\.\d+ rpm keeps P95 E2E 0.5 s: P95 E2E 1 s is above .*nothing was kept"):
        swept(Queue(slots=10), slo=Slo(e2e_p95_s=0.5))


def test_where_none_breaks_nothing_is_found() -> None:
    with pytest.raises(LoadTestRejected, match=r"no load up to 500 rpm broke P95 E2E 3 s; raise `replay.most_rpm`.*nothing was kept"):
        swept(Queue(slots=10), most_rpm=500)


def test_a_log_that_is_too_short_for_a_step_is_told() -> None:
    with pytest.raises(TraceRejected, match=r"requests\.csv has 50 requests, and a step takes at least 100: give a longer log"):
        swept(Queue(slots=10), log=a_log(50))
    with pytest.raises(TraceRejected, match="has 200 requests, and a step of 60 s at 500 rpm takes more"):
        swept(Queue(slots=10), log=a_log(200), first_rpm=500)


def test_a_step_that_was_sent_late_is_sent_again() -> None:
    queue = Queue(slots=10, late_s=(5,))
    swept(queue)
    assert queue.sent_rpm[0] == queue.sent_rpm[1]


def test_a_generator_that_is_late_twice_cannot_measure() -> None:
    with pytest.raises(LoadTestFailed, match=r"sent requests [45]\S* s late at \d+\.?\d* rpm, twice: run it on a machine with free"):
        swept(Queue(slots=10, late_s=(5, 5)))


def test_where_every_request_fails_the_endpoint_is_quoted() -> None:
    with pytest.raises(LoadTestFailed, match=r"every request at \S+ rpm failed \(HTTP 503, overloaded\); nothing was kept"):
        swept(Queue(slots=10, fails=True))


def test_a_limit_of_the_first_token_needs_a_stream() -> None:
    with pytest.raises(LoadTestFailed, match=r"P95 of TTFT is missing .*does the endpoint stream its answers"):
        swept(Queue(slots=10, streams=False), slo=Slo(ttft_p95_s=1))


def test_another_mix_than_the_logs_is_told() -> None:
    profile, _ = swept(Queue(slots=10))
    assert mix_notes(LOG, profile.points[0]) == ()
    longer = RequestLog(arrived_s=LOG.arrived_s, input_tokens=LOG.input_tokens, output_tokens=3 * LOG.output_tokens)
    assert mix_notes(longer, profile.points[0]) == ("the endpoint generated 30 tokens a request, and the log has 90",)
