"""What the log says of runs: what changed, once; what stays as it was is counted elsewhere and not repeated at every tick."""

from collections.abc import Iterable

import structlog

from forecaster.coming import UNMET
from forecaster.decision import Action, CycleRecord
from forecaster.reasons import Code
from forecaster.units import iso
from jobs.apply import Cycle
from jobs.draft import Draft
from jobs.failure import Failure
from jobs.telemetry.runs import Half, Outcome, Run

log = structlog.get_logger()


class News:
    """Tells apart what is new: a changed floor, an alert that began or ended, a failure that was not there, a run that goes otherwise."""

    def __init__(self) -> None:
        self._actions: dict[tuple[str, str, str], Action] = {}
        self._alerts: dict[tuple[str, str, str], frozenset[Code]] = {}
        self._asides: set[tuple[str, str, str]] = set()
        self._failures: dict[Half, frozenset[tuple[str, str, str]]] = {}
        self._runs: dict[Half, tuple[Outcome, str]] = {}
        self._unmet: frozenset[tuple[str, str, Code]] = frozenset()

    def tell_run(self, run: Run) -> None:
        """A run that did nothing or goes well again, once while it stays so, and every forecast; what an apply did its parts tell."""
        before = self._runs.get(run.half)
        self._runs[run.half] = (run.outcome, run.sentence)
        same, well_before = before == self._runs[run.half], before is not None and before[0] in {Outcome.DONE, Outcome.PARTLY}
        match run.outcome:
            case Outcome.FAILED if not same:
                log.error(run.half.value, sentence=run.sentence)
            case Outcome.SKIPPED if not same:
                log.info(run.half.value, sentence=run.sentence)
            case Outcome.DONE | Outcome.PARTLY if run.half is Half.FORECAST or not well_before:
                log.info(run.half.value, sentence=run.sentence, duration_s=round(run.duration_s, 1))
            case _:
                pass

    def tell_cycles(self, cycles: tuple[Cycle, ...]) -> None:
        """One line a decision that changed something, and a warning for each alert and failure that is new."""
        for cycle in cycles:
            for record in cycle.records:
                self._tell_record(record)
        self._tell_failures(Half.APPLY, [(cycle.workload, failed) for cycle in cycles for failed in cycle.failures])
        self._tell_asides((cycle.workload, failed) for cycle in cycles for failed in cycle.asides)

    def tell_drafts(self, drafts: tuple[Draft, ...]) -> None:
        """A warning for each plan that waits for a person and for each failure that is new."""
        for plan in (plan for draft in drafts for plan in draft.waiting):
            sentence = f"{plan.id} awaits approval until {iso(plan.valid_until)}; see `forecaster review {plan.workload}`"
            log.warning("plan", workload=plan.workload, pool=plan.pool, plan=plan.id, sentence=sentence)
        self._tell_unmet(drafts)
        self._tell_failures(Half.FORECAST, [(draft.name, failed) for draft in drafts for failed in draft.failures])
        self._tell_asides((draft.name, failed) for draft in drafts for failed in draft.asides)

    def _tell_unmet(self, drafts: tuple[Draft, ...]) -> None:
        """What objects will not give, once while it is so."""
        plans = [plan for draft in drafts for plan in draft.plans]
        now = {(plan.workload, plan.pool, reason.code): reason for plan in plans for reason in plan.reasons if reason.code in UNMET}
        for (workload, pool, code), reason in now.items():
            if (workload, pool, code) not in self._unmet:
                log.warning("plan", workload=workload, pool=pool, alert=code.value, sentence=reason.detail)
        self._unmet = frozenset(now)

    def _tell_asides(self, asides: Iterable[tuple[str, Failure]]) -> None:
        """Once in the life of the daemon: they come and go with what is looked at, and hinder nothing."""
        for workload, failed in asides:
            if (workload, failed.verb, failed.error) not in self._asides:
                log.info(failed.verb, workload=workload, error=failed.error, sentence=failed.sentence)
                self._asides.add((workload, failed.verb, failed.error))

    def _tell_record(self, record: CycleRecord) -> None:
        decision = record.decision
        key = (decision.workload, decision.pool, decision.target)
        names = dict(zip(("workload", "pool", "target"), key, strict=True))
        acted_otherwise = self._actions.get(key, decision.action) is not decision.action
        applied = record.applied
        moved = applied is not None and applied.written and applied.before != applied.after
        if decision.floor != decision.last or acted_otherwise or moved:
            log.info("apply", **names, floor=decision.floor, mode=record.mode.value, sentence=record.sentence)
        alerts, before = frozenset(reason.code for reason in decision.alerts), self._alerts.get(key, frozenset())
        for reason in decision.alerts:
            if reason.code not in before:
                log.warning("apply", **names, alert=reason.code.value, sentence=f"{decision.target}: {reason.detail}")
        for code in sorted(before - alerts):
            log.info("apply", **names, alert=code.value, sentence=f"{decision.target}: {code.value} is over")
        self._actions[key], self._alerts[key] = decision.action, alerts

    def _tell_failures(self, half: Half, failures: list[tuple[str, Failure]]) -> None:
        before, now = self._failures.get(half, frozenset()), {}
        for workload, failed in failures:
            now[workload, failed.verb, failed.error] = failed.sentence
        for (workload, verb, error), sentence in now.items():
            if (workload, verb, error) not in before:
                log.warning(verb, workload=workload, error=error, sentence=sentence)
        for workload, verb, error in sorted(before - now.keys()):
            log.info(verb, workload=workload, error=error, sentence=f"{workload}: {error} is over")
        self._failures[half] = frozenset(now)
