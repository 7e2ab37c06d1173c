"""A request log at rising rates against an endpoint: the sweep that finds the knee, step by step."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from connectors.loadgen.aiperf import LoadGenerator
from connectors.loadgen.endpoint import Served
from forecaster.bisection import Ended, Judged, Search, next_rpm
from forecaster.errors import LoadTestFailed, LoadTestRejected, TraceRejected
from forecaster.load_step import Answered, behind, measured
from forecaster.profile import Origin, Point, Profile, Setup, Slo
from forecaster.profile_carried import outside, untold
from forecaster.request_log import RequestLog, Schedule, scheduled
from forecaster.units import MINUTE_S, spell_number
from jobs.config.replay import ReplaySection

_FALL_RATIO = 32
"""So far below the first load the search goes down: it is a rate that whoever replays takes for normal."""
_PATIENCE_RATIO, _LEAST_PATIENCE_S, _PATIENCE_S = 20.0, 60.0, 600.0
"""A request is given up after 20 times what P95 may take, a minute at least; after ten where only the first token has a limit."""
_MIX_RATIO = 0.1
_NOTHING = "nothing was kept"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One load of the sweep as it was measured. broke: why it is outside the SLO, empty where it holds."""

    number: int
    point: Point
    broke: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What is replayed, where, how, and within which limits. name: of the log, in words. model: what is served, as the pool calls it."""

    name: str
    log: RequestLog
    model: str
    served: Served
    generator: LoadGenerator
    slo: Slo
    section: ReplaySection

    def swept(self, now: datetime, told: Callable[[Step], None]) -> Profile:
        """Every step of the search for the knee; each is told as it ends.

        Raises TraceRejected for a log that is too short, LoadTestFailed where requests could not be sent in time or none was answered, and
        LoadTestRejected where no load held or none broke.
        """
        search, log = self._search(), self.log.evened(self.section.even_out)
        start = log.typical_start(self.section.requests)
        judged: list[Judged] = []
        points: list[Point] = []
        while not isinstance(rpm := next_rpm(search, judged), Ended):
            schedule = scheduled(log, rpm, start=start, seconds=self.section.step, least=self.section.requests)
            point, failures = self._measured(schedule)
            missing = untold(point, self.slo, Origin.REPLAY)
            if missing:
                raise LoadTestFailed(f"{missing}: does the endpoint stream its answers? {_NOTHING}")
            broke = outside(point, self.slo)
            points.append(point)
            judged.append(Judged(rpm=rpm, holds=not broke))
            told(Step(number=len(points), point=point, broke=f"{broke} {failures}".strip() if broke else ""))
        self._check_ended(rpm, points)
        return Profile(
            origin=Origin.REPLAY,
            source=f"replay of {self.name}",
            points=tuple(points),
            setup=Setup(model=self.model),
            measured_at=now,
        )

    def _search(self) -> Search:
        """Between a 32nd of the first load and what the log has requests for."""
        size, section = self.log.arrived_s.size, self.section
        if size < section.requests:
            raise TraceRejected(f"{self.name} has {size:,} requests, and a step takes at least {section.requests}: give a longer log")
        longest_rpm = size * MINUTE_S / section.step
        most_rpm = longest_rpm if section.most_rpm is None else min(section.most_rpm, longest_rpm)
        first_rpm = section.first_rpm or min(self.log.rpm, most_rpm)
        if first_rpm > most_rpm:
            raise TraceRejected(
                f"{self.name} has {size:,} requests, and a step of {section.step:g} s at {spell_number(first_rpm)} rpm takes more: "
                "give a longer log, a shorter `replay.step` or a smaller `replay.first_rpm`"
            )
        return Search(first_rpm=first_rpm, least_rpm=first_rpm / _FALL_RATIO, most_rpm=most_rpm)

    def _measured(self, schedule: Schedule) -> tuple[Point, str]:
        """The step's point, and what its failed requests say; sent once more where the generator was late, as it may be at times."""
        late_s, answers = self._sent(schedule)
        if late_s:
            late_s, answers = self._sent(schedule)
        rate = f"{spell_number(schedule.rate_rpm)} rpm"
        if late_s:
            raise LoadTestFailed(
                f"the load generator sent requests {late_s:.2g} s late at {rate}, twice: run it on a machine with free processors, or set "
                f"`replay.most_rpm` below that; {_NOTHING}"
            )
        try:
            point = measured(schedule, answers)
        except ValueError as error:
            raise LoadTestRejected(f"at {rate} {error}; {_NOTHING}") from error
        failures = _most_common_failure(answers)
        if point is None:
            raise LoadTestFailed(f"every request at {rate} failed {failures or '(no answer)'}; {_NOTHING}")
        return point, failures

    def _sent(self, schedule: Schedule) -> tuple[float, Mapping[int, Answered]]:
        limit_s = self.slo.e2e_p95_s
        timeout_s = _PATIENCE_S if limit_s is None else max(_LEAST_PATIENCE_S, _PATIENCE_RATIO * limit_s)
        answers = self.generator.sent(schedule, self.served, timeout_s=timeout_s)
        return behind(schedule, answers), answers

    def _check_ended(self, ended: Ended, points: list[Point]) -> None:
        loads = [point.load_rpm for point in points]
        if ended is Ended.NEVER_HELD:
            why = outside(min(points, key=lambda point: point.load_rpm), self.slo)
            remedy = "loosen --slo, or begin with a smaller `replay.first_rpm`"
            raise LoadTestRejected(f"no load down to {spell_number(min(loads))} rpm keeps {self.slo.told}: {why}; {remedy}; {_NOTHING}")
        if ended is Ended.NEVER_BROKE:
            remedy = "raise `replay.most_rpm`, shorten `replay.step`, or give a longer log"
            raise LoadTestRejected(f"no load up to {spell_number(max(loads))} rpm broke {self.slo.told}; {remedy}; {_NOTHING}")


def mix_notes(log: RequestLog, point: Point) -> tuple[str, ...]:
    """Where the endpoint counted other lengths than the log has, in words: its capacity is then one for another mix."""
    both = (("read", point.input_tokens, log.input_tokens), ("generated", point.output_tokens, log.output_tokens))
    return tuple(
        f"the endpoint {verb} {spell_number(counted)} tokens a request, and the log has {spell_number(float(lengths.mean()))}"
        for verb, counted, lengths in both
        if counted is not None and abs(counted / float(lengths.mean()) - 1) > _MIX_RATIO
    )


def _most_common_failure(answers: Mapping[int, Answered]) -> str:
    failures = Counter(answer.failure for answer in answers.values() if answer.failure)
    return f"({failures.most_common(1)[0][0]})" if failures else ""
