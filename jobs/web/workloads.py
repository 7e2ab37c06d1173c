"""Floors and replicas as JSON, for KEDA's metrics-api and for balancers. What is not known is null, never 0."""

from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from forecaster.errors import FloorUnknown, ForecasterError, PoolUnknown, StoreError, WorkloadUnknown
from forecaster.units import iso
from jobs.hooks.answer import Answer, hpa_value
from jobs.hooks.desk import Desk, Floored

_STATUS: dict[type[ForecasterError], HTTPStatus] = {
    WorkloadUnknown: HTTPStatus.NOT_FOUND,
    PoolUnknown: HTTPStatus.BAD_REQUEST,
    FloorUnknown: HTTPStatus.SERVICE_UNAVAILABLE,
    StoreError: HTTPStatus.SERVICE_UNAVAILABLE,
}
_FRESH = {"Cache-Control": "no-store"}


def answer_workloads(app: FastAPI, desk: Desk) -> None:
    """Add `/v1/workloads/NAME/floor` and `/v1/workloads/NAME/replicas`; a failure is `{"error": SENTENCE}` with 400, 404 or 503."""

    @app.exception_handler(ForecasterError)
    def _refuse(_: Request, error: Exception) -> JSONResponse:
        status = next((status for kind, status in _STATUS.items() if isinstance(error, kind)), HTTPStatus.INTERNAL_SERVER_ERROR)
        return JSONResponse({"error": str(error)}, status_code=status, headers=_FRESH)

    @app.api_route("/v1/workloads/{name}/floor", methods=["GET", "HEAD"])
    def floor(name: str, pool: str | None = None) -> JSONResponse:
        return JSONResponse(floor_json(desk.floor(name, pool)), headers=_FRESH)

    @app.api_route("/v1/workloads/{name}/replicas", methods=["GET", "HEAD"])
    def replicas(name: str) -> JSONResponse:
        return JSONResponse(replicas_json(desk.of_workload(name)), headers=_FRESH)


def floor_json(found: Floored) -> dict[str, object]:
    """One pool's floor. hpa_value: the same as a metric that a HorizontalPodAutoscaler's tolerance of 10 % does not swallow."""
    known = found.answer
    return {
        "workload": known.workload,
        "pool": known.pool,
        "floor": found.replicas,
        "hpa_value": hpa_value(found.replicas, known.standing),
        "source": known.source.value,
        "why": known.why,
        "mode": known.mode.value,
        "age_s": _whole(known.age_s),
        "planned": known.planned,
        "planned_ahead": known.planned_ahead,
        "lead_time_s": _whole(known.lead_s),
    }


def replicas_json(answers: tuple[Answer, ...]) -> dict[str, object]:
    """A workload's replicas, pool by pool, and what its pools come to; a sum with an unknown part is unknown."""
    ages = [known.age_s for known in answers]
    return {
        "workload": answers[0].workload,
        "now": iso(answers[0].at),
        "ready": _sum([known.ready for known in answers]),
        "warming": _sum([known.warming for known in answers]),
        "age_s": None if None in ages else _whole(max(age for age in ages if age is not None)),
        "queue_depth": _sum([known.queue for known in answers]),
        "cold_start_eta_s": _whole(min(known.eta_s for known in answers)),
        "floor": _sum([known.floor for known in answers]),
        "planned": _sum([known.planned for known in answers]),
        "planned_ahead": _sum([known.planned_ahead for known in answers]),
        "pools": [_pool_json(known) for known in answers],
    }


def _pool_json(known: Answer) -> dict[str, object]:
    return {
        "pool": known.pool,
        "ready": known.ready,
        "warming": known.warming,
        "seen_at": None if known.seen_at is None else iso(known.seen_at),
        "age_s": _whole(known.age_s),
        "queue_depth": known.queue,
        "cold_start_eta_s": _whole(known.eta_s),
        "lead_time_s": _whole(known.lead_s),
        "floor": known.floor,
        "source": known.source.value,
        "why": known.why,
        "planned": known.planned,
        "planned_ahead": known.planned_ahead,
    }


def _sum(values: list[int | None] | list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _whole(span_s: float | None) -> int | None:
    return None if span_s is None else round(span_s)
