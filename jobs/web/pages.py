"""The daemon's two pages, and nothing else: no documentation pages, no schema."""

from collections.abc import Callable
from http import HTTPStatus

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from jobs.web.health import Health


def pages(registry: CollectorRegistry, health: Callable[[], Health]) -> FastAPI:
    """The application with `/healthz` (200 while well, else 503, JSON either way) and `/metrics` of that registry."""
    app = FastAPI(title="Forecaster", docs_url=None, redoc_url=None, openapi_url=None)

    @app.api_route("/healthz", methods=["GET", "HEAD"])
    def healthz() -> JSONResponse:
        answer = health()
        status = HTTPStatus.OK if answer.ok else HTTPStatus.SERVICE_UNAVAILABLE
        return JSONResponse(answer.to_json(), status_code=status, headers={"Cache-Control": "no-store"})

    @app.api_route("/metrics", methods=["GET", "HEAD"])
    def metrics(request: Request) -> Response:
        encode, content_type = choose_encoder(request.headers.get("accept", ""))
        return Response(encode(registry), media_type=content_type)

    return app
