"""The numbers on the page, by what real runs on a small fleet did."""

import inspect
from datetime import timedelta

from prometheus_client import CollectorRegistry

from forecaster import errors
from forecaster.decision import Ruling, RulingKind
from forecaster.errors import ForecasterError, StoreError
from forecaster.reasons import Code
from jobs.apply import Cycle, apply_fleet
from jobs.failure import failure
from jobs.forecast import forecast_fleet
from jobs.telemetry.catalogue import METRICS
from jobs.telemetry.metric import Kind
from jobs.telemetry.metrics import KNOWN_FAILURES, Metrics
from jobs.telemetry.runs import Half, Outcome, Run
from tests.jobs.world import NOW, World

HPA = {"workload": "chat", "pool": "gpu", "target": "kubernetes-hpa:serving/chat"}
POOL = {"workload": "chat", "pool": "gpu"}
MINUTE = timedelta(minutes=1)


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    """The number on the page, None where there is none."""
    return metrics.registry.get_sample_value(name, labels)


def workloads_on(registry: CollectorRegistry) -> set[str]:
    return {sample.labels["workload"] for family in registry.collect() for sample in family.samples if "workload" in sample.labels}


def worked(world: World) -> tuple[Metrics, tuple[Cycle, ...]]:
    """Both halves once, recorded."""
    metrics = Metrics()
    with world.fleet() as fleet:
        metrics.record_drafts(forecast_fleet(fleet, NOW))
        cycles = apply_fleet(fleet, NOW)
        metrics.record_cycles(cycles, NOW)
    return metrics, cycles


def test_floors_are_shown_as_decided_and_as_they_stand_on_the_object(world: World) -> None:
    world.workload("chat")
    world.workload("watched", mode="observe")
    metrics, cycles = worked(world)
    decided = {record.decision.workload: record.decision.floor for cycle in cycles for record in cycle.records}
    assert value(metrics, "forecaster_floor_replicas", **HPA) == decided["chat"] == world.floor("chat")
    assert value(metrics, "forecaster_object_floor_replicas", **HPA) == world.floor("chat")
    watched = HPA | {"workload": "watched", "target": "kubernetes-hpa:serving/watched"}
    assert value(metrics, "forecaster_floor_replicas", **watched) == decided["watched"] > 2
    assert value(metrics, "forecaster_object_floor_replicas", **watched) == 2


def test_the_plan_is_shown_now_and_one_lead_time_ahead(world: World) -> None:
    world.workload("chat")
    metrics, (cycle,) = worked(world)
    plan = cycle.bases[0].in_force.plan
    assert plan is not None
    assert plan.demand is not None
    floors = [plan.floor_at(at) for at in (NOW, NOW + timedelta(seconds=plan.demand.lead_time_s))]
    shown = [value(metrics, f"forecaster_planned_floor{ahead}_replicas", **POOL) for ahead in ("", "_ahead")]
    assert shown == [floor.replicas for floor in floors if floor is not None]
    assert value(metrics, "forecaster_plan_issued_timestamp_seconds", **POOL) == NOW.timestamp()
    assert value(metrics, "forecaster_plan_valid_until_timestamp_seconds", **POOL) == plan.valid_until.timestamp()


def test_live_need_is_what_live_load_asks_for(world: World) -> None:
    world.workload("chat")
    metrics, _ = worked(world)
    assert value(metrics, "forecaster_live_need_replicas", **POOL) in {3, 4}  # 325 requests a minute, 100 a replica


def test_what_is_unknown_is_absent_and_never_zero(world: World) -> None:
    world.workload("chat", trace="missing.csv")
    metrics, _ = worked(world)
    for name in ("live_need_replicas", "planned_floor_replicas", "plan_valid_until_timestamp_seconds", "plan_issued_timestamp_seconds"):
        assert value(metrics, f"forecaster_{name}", **POOL) is None
    assert value(metrics, "forecaster_history_measured_ratio", workload="chat", signal="rpm") == 0  # that is known: nothing was
    assert value(metrics, "forecaster_floor_replicas", **HPA) == 2


def test_alerts_stand_as_long_as_the_last_decision_gives_them(world: World) -> None:
    world.workload("chat")
    metrics = Metrics()
    with world.fleet() as fleet:
        metrics.record_cycles(apply_fleet(fleet, NOW), NOW)
        assert value(metrics, "forecaster_alert", **HPA, code="plan-missing") == 1
        forecast_fleet(fleet, NOW)
        metrics.record_cycles(apply_fleet(fleet, NOW + MINUTE), NOW + MINUTE)
    assert value(metrics, "forecaster_alert", **HPA, code="plan-missing") is None


def test_decisions_reasons_and_writes_are_counted(world: World) -> None:
    world.workload("chat")
    metrics = Metrics()
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW)
        for minutes in (0, 0, 1):
            metrics.record_cycles(apply_fleet(fleet, NOW + minutes * MINUTE), NOW + minutes * MINUTE)
    assert value(metrics, "forecaster_decisions_total", **HPA, action="set") == 3
    assert value(metrics, "forecaster_writes_total", **HPA) == len(world.api.writes)
    assert value(metrics, "forecaster_reasons_total", code="plan-followed") == 3


def test_a_plan_that_awaits_a_person_is_shown_until_it_does_not(world: World) -> None:
    world.workload("chat", mode="review")
    metrics = Metrics()
    with world.fleet() as fleet:
        (draft,) = forecast_fleet(fleet, NOW)
        metrics.record_cycles(apply_fleet(fleet, NOW), NOW)
        assert value(metrics, "forecaster_plans_awaiting_approval", **POOL) == 1
        (plan,) = draft.plans
        word = Ruling(at=NOW, workload="chat", kind=RulingKind.APPROVE, author="ada", reason="ok", plan_id=plan.id)
        fleet.store.append_ruling(word)
        metrics.record_cycles(apply_fleet(fleet, NOW + MINUTE), NOW + MINUTE)
    assert value(metrics, "forecaster_plans_awaiting_approval", **POOL) == 0


def test_failures_are_counted_by_verb_and_type_and_shown_by_workload(world: World) -> None:
    world.workload("broken", trace="missing.csv")
    world.workload("gone")
    world.workload("chat")
    world.api.delete_hpa("serving", "gone")
    metrics, _ = worked(world)
    assert value(metrics, "forecaster_failures_total", verb="fetch", error="SourceRejected") == 2  # once for history, once live
    assert value(metrics, "forecaster_failures_total", verb="apply", error="TargetMissing") == 1
    shown = {name: value(metrics, "forecaster_workload_failures", workload=name, verb="apply") for name in ("broken", "gone", "chat")}
    assert shown == {"broken": 1, "gone": 1, "chat": 0}
    assert value(metrics, "forecaster_floor_replicas", **HPA | {"workload": "gone", "target": "kubernetes-hpa:serving/gone"}) is None


def test_a_write_that_is_refused_keeps_its_type(world: World) -> None:
    world.workload("chat")
    world.api.fail_next(403, verb="patch")
    metrics, _ = worked(world)
    assert value(metrics, "forecaster_failures_total", verb="apply", error="TargetForbidden") == 1


def test_every_error_that_a_daemon_meets_is_counted_from_zero() -> None:
    metrics = Metrics()
    for verb, error in KNOWN_FAILURES:
        assert value(metrics, "forecaster_failures_total", verb=verb, error=error) == 0
    kinds = {name for name, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, ForecasterError)}
    roots = {"ForecasterError", "SourceError", "TargetError"}
    commands_only = {"PlanUnknown", "TraceRejected", "LoadTestRejected", "LoadTestFailed", "NothingKept", "ReplayUnsupported"}
    assert kinds - roots - commands_only <= {error for _, error in KNOWN_FAILURES}


def test_every_reason_is_counted_from_zero() -> None:
    assert {value(Metrics(), "forecaster_reasons_total", code=code.value) for code in Code} == {0}


def test_a_workload_that_is_removed_disappears_with_all_its_series(world: World) -> None:
    world.workload("chat")
    world.workload("code")
    metrics, cycles = worked(world)
    assert workloads_on(metrics.registry) == {"chat", "code"}
    metrics.record_workloads(frozenset({"chat"}), 0)
    assert workloads_on(metrics.registry) == {"chat"}
    metrics.record_cycles(cycles, NOW)  # a run on the configuration before ends late
    assert workloads_on(metrics.registry) == {"chat"}
    assert value(metrics, "forecaster_decisions_total", **HPA, action="set") == 2


def test_a_refused_configuration_shows_until_one_is_taken() -> None:
    metrics = Metrics()
    metrics.record_config(NOW)
    metrics.record_refused_config(failure("reload", StoreError("the store cannot be reached")))
    assert value(metrics, "forecaster_config_last_reload_successful") == 0
    assert value(metrics, "forecaster_failures_total", verb="reload", error="StoreError") == 1
    metrics.record_config(NOW + MINUTE)
    assert value(metrics, "forecaster_config_last_reload_successful") == 1
    assert value(metrics, "forecaster_config_loaded_timestamp_seconds") == (NOW + MINUTE).timestamp()


def test_l40_the_heartbeat_beats_for_each_run_of_our_own_and_stops_with_it() -> None:
    metrics = Metrics()
    for minutes, outcome in enumerate((Outcome.DONE, Outcome.FAILED, Outcome.SKIPPED)):
        at = NOW + minutes * MINUTE
        metrics.record_run(Run(half=Half.APPLY, at=at, ended_at=at, duration_s=0.2, outcome=outcome, sentence="so"))
    assert value(metrics, "forecaster_last_run_timestamp_seconds", verb="apply") == (NOW + MINUTE).timestamp()
    assert value(metrics, "forecaster_last_success_timestamp_seconds", verb="apply") == NOW.timestamp()
    assert value(metrics, "forecaster_runs_total", verb="apply", outcome="skipped") == 1
    assert value(metrics, "forecaster_run_duration_seconds_count", verb="apply") == 2
    assert value(metrics, "forecaster_last_run_timestamp_seconds", verb="forecast") is None


def test_the_page_holds_the_catalogue_and_nothing_else(world: World) -> None:
    world.workload("chat")
    metrics, _ = worked(world)
    metrics.record_config(NOW)
    metrics.record_workloads(frozenset({"chat"}), 0)
    metrics.record_run(Run(half=Half.APPLY, at=NOW, ended_at=NOW, duration_s=0.2, outcome=Outcome.DONE, sentence="so"))
    families = {family.name: family for family in metrics.registry.collect()}
    bare = {metric.name.removesuffix("_total") if metric.kind is Kind.COUNTER else metric.name: metric for metric in METRICS}
    assert families.keys() == bare.keys()
    for name, family in families.items():
        assert (family.type, family.documentation) == (bare[name].kind.value, bare[name].help)
        for sample in family.samples:
            assert set(sample.labels) - {"le"} == set(bare[name].labels)


def test_no_label_names_more_than_a_workload_its_parts_and_a_closed_list() -> None:
    closed = {"outcome", "verb", "error", "code", "action", "signal", "node", "lever", "ladder", "version", "python"}
    assert {label for metric in METRICS for label in metric.labels} == {"workload", "pool", "target"} | closed
