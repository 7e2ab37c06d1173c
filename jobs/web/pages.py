"""The daemon's two pages, and nothing else: no documentation pages, no schema."""

from collections.abc import Callable
from http import HTTPStatus

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from jobs.web.health import Health


def pages(registry: CollectorRegistry, health: Callable[[], Health]) -> FastAPI:
    """The application with `/healthz` (200 while well, else 503, JSON either way) and `/metrics` of that registry.

    Anything else is 404 or 405 with `{"error": SENTENCE}`, which names the pages there are, those of whoever adds to the application too.
    """
    app = FastAPI(title="Forecaster", docs_url=None, redoc_url=None, openapi_url=None)

    @app.exception_handler(HTTPStatus.NOT_FOUND)
    def nothing_here(request: Request, _: Exception) -> JSONResponse:
        there = ", ".join(sorted({route.path for route in app.routes if isinstance(route, APIRoute)}))
        return JSONResponse({"error": f"there is no page {request.url.path}; there is: {there}"}, status_code=HTTPStatus.NOT_FOUND)

    @app.exception_handler(HTTPStatus.METHOD_NOT_ALLOWED)
    def only_read(request: Request, _: Exception) -> JSONResponse:
        said = f"{request.url.path} answers GET and HEAD, not {request.method}: nothing is changed over HTTP"
        return JSONResponse({"error": said}, status_code=HTTPStatus.METHOD_NOT_ALLOWED, headers={"Allow": "GET, HEAD"})

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
