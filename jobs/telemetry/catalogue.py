"""Every metric that we serve: its name, kind, labels and meaning, in the order of the documentation."""

from jobs.telemetry.metric import Kind, Metric

TARGET = ("workload", "pool", "target")
POOL = ("workload", "pool")

RUNS = Metric(
    name="forecaster_runs_total",
    kind=Kind.COUNTER,
    labels=("verb", "outcome"),
    help="Runs of the two halves of the line, apply and forecast, by outcome: done, partly, failed, skipped (another process was at work).",
)
RUN_DURATION = Metric(name="forecaster_run_duration_seconds", kind=Kind.HISTOGRAM, labels=("verb",), help="How long runs took.")
LAST_RUN = Metric(
    name="forecaster_last_run_timestamp_seconds",
    kind=Kind.GAUGE,
    labels=("verb",),
    help="When the last run ended, whatever its outcome: the heartbeat.",
)
LAST_SUCCESS = Metric(
    name="forecaster_last_success_timestamp_seconds",
    kind=Kind.GAUGE,
    labels=("verb",),
    help="When the last run that got something done ended; for forecast by whichever process made it.",
)
FAILURES = Metric(
    name="forecaster_failures_total",
    kind=Kind.COUNTER,
    labels=("verb", "error"),
    help="Failures by step of the line and type of error.",
)
REASONS = Metric(
    name="forecaster_reasons_total",
    kind=Kind.COUNTER,
    labels=("code",),
    help="Reasons given by forecasts, plans and decisions, by code.",
)
DECISIONS = Metric(
    name="forecaster_decisions_total",
    kind=Kind.COUNTER,
    labels=(*TARGET, "action"),
    help="Decisions by target and action: set, leave, release.",
)
WRITES = Metric(
    name="forecaster_writes_total",
    kind=Kind.COUNTER,
    labels=TARGET,
    help="Writes that changed the target's object.",
)
FLOOR = Metric(
    name="forecaster_floor_replicas",
    kind=Kind.GAUGE,
    labels=TARGET,
    help="The floor last decided; in mode observe the one that would be written.",
)
OBJECT_FLOOR = Metric(
    name="forecaster_object_floor_replicas",
    kind=Kind.GAUGE,
    labels=TARGET,
    help="The floor that stands on the object after the last cycle.",
)
READY = Metric(name="forecaster_ready_replicas", kind=Kind.GAUGE, labels=TARGET, help="Ready replicas, where the target tells.")
PENDING = Metric(
    name="forecaster_pending_replicas",
    kind=Kind.GAUGE,
    labels=TARGET,
    help="Replicas asked for and not yet ready, where the target tells.",
)
OVERDUE = Metric(
    name="forecaster_overdue_replicas",
    kind=Kind.GAUGE,
    labels=TARGET,
    help="Replicas that were asked for a lead time ago and are not ready; absent where nobody can say.",
)
DUE_SECONDS = Metric(
    name="forecaster_due_replica_seconds_total",
    kind=Kind.COUNTER,
    labels=TARGET,
    help="Replica-seconds that floors had asked for a lead time before; 1 - shortfall / due is the share that was ready by its deadline.",
)
SHORTFALL_SECONDS = Metric(
    name="forecaster_shortfall_replica_seconds_total",
    kind=Kind.COUNTER,
    labels=TARGET,
    help="Those of them that were not ready.",
)
BINDING_SECONDS = Metric(
    name="forecaster_floor_binding_replica_seconds_total",
    kind=Kind.COUNTER,
    labels=TARGET,
    help="Replica-seconds above the original minimum that stood for the floor alone: no more replicas were ready than it asks for.",
)
WASTED_SECONDS = Metric(
    name="forecaster_floor_wasted_replica_seconds_total",
    kind=Kind.COUNTER,
    labels=TARGET,
    help="Those of them that live load had no use for at the time, floors asked for a ramp to come included.",
)
ALERT = Metric(
    name="forecaster_alert",
    kind=Kind.GAUGE,
    labels=(*TARGET, "code"),
    help="1 for each reason of the last decision that a person should hear of; absent when there is none.",
)
PLANNED = Metric(
    name="forecaster_planned_floor_replicas",
    kind=Kind.GAUGE,
    labels=POOL,
    help="The floor of the plan in force for now, before live correction, hold, limits and bounds.",
)
PLANNED_AHEAD = Metric(
    name="forecaster_planned_floor_ahead_replicas",
    kind=Kind.GAUGE,
    labels=POOL,
    help="The same one lead time from now.",
)
LIVE_NEED = Metric(
    name="forecaster_live_need_replicas",
    kind=Kind.GAUGE,
    labels=POOL,
    help="What live load and backlog of the last minutes ask for; absent while load is unknown.",
)
PULLED_FLOOR = Metric(
    name="forecaster_pull_floor_replicas",
    kind=Kind.GAUGE,
    labels=POOL,
    help="The floor that is answered to those who pull, at this moment: in mode observe the fallback; absent while nothing is known.",
)
PULLED_AGE = Metric(
    name="forecaster_pull_age_seconds",
    kind=Kind.GAUGE,
    labels=POOL,
    help="How old the last decision is that those who pull are answered from; absent before the first one.",
)
PLAN_ISSUED = Metric(
    name="forecaster_plan_issued_timestamp_seconds",
    kind=Kind.GAUGE,
    labels=POOL,
    help="When the plan in force was made; its distance to now is the age of the forecast.",
)
PLAN_VALID_UNTIL = Metric(
    name="forecaster_plan_valid_until_timestamp_seconds",
    kind=Kind.GAUGE,
    labels=POOL,
    help="When the plan in force expires; absent without one.",
)
AWAITING = Metric(
    name="forecaster_plans_awaiting_approval",
    kind=Kind.GAUGE,
    labels=POOL,
    help="1 while a plan awaits a person's approval, else 0.",
)
TROUBLES = Metric(
    name="forecaster_workload_failures",
    kind=Kind.GAUGE,
    labels=("workload", "verb"),
    help="Failures of the workload in the last run; 0 when all went well.",
)
HISTORY_RATIO = Metric(
    name="forecaster_history_measured_ratio",
    kind=Kind.GAUGE,
    labels=("workload", "signal"),
    help="Share of the history's buckets that were measured, at the last forecast.",
)
TRUST_SCORE = Metric(
    name="forecaster_trust_score",
    kind=Kind.GAUGE,
    labels=("workload", "signal"),
    help="Trust in the last forecast, 0 to 1, by how the earlier ones did; absent until one was scored.",
)
COVERAGE = Metric(
    name="forecaster_forecast_coverage_ratio",
    kind=Kind.GAUGE,
    labels=("workload", "signal"),
    help="Share of the load at or below the P95 forecast for it, lately; absent until one was scored.",
)
LEAD_TIME = Metric(
    name="forecaster_lead_time_seconds",
    kind=Kind.GAUGE,
    labels=(*POOL, "node"),
    help="Request to ready at P90 as plans have it, on a warm and on a cold node: as configured until enough starts were seen.",
)
STARTS = Metric(
    name="forecaster_lead_time_starts",
    kind=Kind.GAUGE,
    labels=POOL,
    help="Starts of replicas that the lead time rests on; absent while none was seen.",
)
LEVER_HELD = Metric(
    name="forecaster_lever_held",
    kind=Kind.GAUGE,
    labels=("lever",),
    help="1 while a lever stands as we set it, in mode observe as we would; absent once it is back.",
)
LEVER_LOST = Metric(
    name="forecaster_lever_lost",
    kind=Kind.GAUGE,
    labels=("lever",),
    help="1 while a lever is to go back and cannot be put back; the log says why.",
)
LEVER_MOVES = Metric(
    name="forecaster_lever_moves_total",
    kind=Kind.COUNTER,
    labels=("lever",),
    help="Writes that moved a lever.",
)
LADDER_STEPS = Metric(
    name="forecaster_ladder_steps",
    kind=Kind.GAUGE,
    labels=("ladder",),
    help="Steps that a ladder has taken, 0 while it rests; a rule is a ladder of one step.",
)
LEVER_RUN = Metric(
    name="forecaster_lever_last_run_timestamp_seconds",
    kind=Kind.GAUGE,
    help="When levers were last looked after: the heartbeat of their loop.",
)
WORKLOADS = Metric(name="forecaster_workloads", kind=Kind.GAUGE, help="Workloads in force, those of templates included.")
TEMPLATE_PROBLEMS = Metric(
    name="forecaster_template_problems",
    kind=Kind.GAUGE,
    help="Things that kept objects of templates out of the fleet at the last look; the log names them.",
)
CONFIG_OK = Metric(
    name="forecaster_config_last_reload_successful",
    kind=Kind.GAUGE,
    help="1 while the configuration on disk is the one in force as far as we know, 0 after a reload that was refused.",
)
CONFIG_LOADED = Metric(
    name="forecaster_config_loaded_timestamp_seconds",
    kind=Kind.GAUGE,
    help="When the configuration in force was read.",
)
BUILD = Metric(
    name="forecaster_build_info",
    kind=Kind.GAUGE,
    labels=("version", "python"),
    help="1, with the version of Forecaster and of Python.",
)

METRICS = (
    RUNS,
    RUN_DURATION,
    LAST_RUN,
    LAST_SUCCESS,
    FAILURES,
    REASONS,
    DECISIONS,
    WRITES,
    FLOOR,
    OBJECT_FLOOR,
    READY,
    PENDING,
    OVERDUE,
    DUE_SECONDS,
    SHORTFALL_SECONDS,
    BINDING_SECONDS,
    WASTED_SECONDS,
    ALERT,
    PLANNED,
    PLANNED_AHEAD,
    LIVE_NEED,
    PULLED_FLOOR,
    PULLED_AGE,
    PLAN_ISSUED,
    PLAN_VALID_UNTIL,
    AWAITING,
    TROUBLES,
    HISTORY_RATIO,
    TRUST_SCORE,
    COVERAGE,
    LEAD_TIME,
    STARTS,
    LEVER_HELD,
    LEVER_LOST,
    LEVER_MOVES,
    LADDER_STEPS,
    LEVER_RUN,
    WORKLOADS,
    TEMPLATE_PROBLEMS,
    CONFIG_OK,
    CONFIG_LOADED,
    BUILD,
)


def metrics_table() -> str:
    """The catalogue as the Markdown table of docs/operations.md."""
    rows = (f"| `{metric.name}` | {metric.kind} | {', '.join(metric.labels) or '-'} | {metric.help} |\n" for metric in METRICS)
    return "| metric | kind | labels | meaning |\n|---|---|---|---|\n" + "".join(rows)
