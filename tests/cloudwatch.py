"""CloudWatch on loopback: moto's own server, with a clock, pages and answers as they are told.

    with cloudwatch_to_ask(now) as double:
        double.record("AWS/SQS", "NumberOfMessagesSent", start, [1, None, 3], QueueName="jobs")
        ...                                   # a source with region REGION and `endpoint_url: double.url`
        double.asked[0]["StartTime"]          # what GetMetricData was asked

In front of moto: the Date of `now` in every answer, at most `page` points an answer, and prepared answers in turn.
"""

import io
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from email.utils import format_datetime
from http import HTTPStatus
from http.client import HTTPConnection
from typing import Any, Self, TypeAlias

import pytest
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import make_server

from connectors.aws import AwsAccount, AwsConnection
from tests.aws import AWS_ENV

Json: TypeAlias = dict[str, Any]
Started: TypeAlias = Callable[[str, list[tuple[str, str]]], object]

REGION = "eu-west-1"
_JSON = "application/x-amz-json-1.0"


class CloudWatch:
    """The server, listening between `__enter__` and `__exit__`. `asked` are the bodies of GetMetricData as they came."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.page: int | None = None
        self.asked: list[Json] = []
        self._prepared: list[tuple[int, Json]] = []
        self._moto = DomainDispatcherApplication(create_backend_app)
        self._server = make_server("127.0.0.1", 0, self._serve, threaded=True, request_handler=_handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        connection = HTTPConnection("127.0.0.1", self._server.server_port)
        connection.request("POST", "/moto-api/reset")
        connection.getresponse().read()
        connection.close()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def record(self, namespace: str, name: str, start: datetime, values: Sequence[float | None], step_s: int = 60, **labels: str) -> None:
        """Points of a metric from `start` on; None = none was sent."""
        data = [
            {
                "MetricName": name,
                "Dimensions": [{"Name": key, "Value": value} for key, value in labels.items()],
                "Timestamp": start + timedelta(seconds=i * step_s),
                "Value": value,
            }
            for i, value in enumerate(values)
            if value is not None
        ]
        account = AwsAccount(AwsConnection(region=REGION, endpoint_url=self.url))
        for at in range(0, len(data), 1_000):
            account.call("cloudwatch", "put_metric_data", Namespace=namespace, MetricData=data[at : at + 1_000])

    def answer_next(self, body: Json, status: int = 200, *, times: int = 1) -> None:
        """Answer the next requests for data so."""
        self._prepared += [(status, body)] * times

    def fail_next(self, code: str, said: str, *, status: int = 400, times: int = 1) -> None:
        """Refuse the next requests for data with that code."""
        self.answer_next({"__type": code, "message": said}, status, times=times)

    def _serve(self, environ: Json, start: Started) -> Iterable[bytes]:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        if not environ.get("HTTP_X_AMZ_TARGET", "").endswith("GetMetricData"):
            return list(self._moto(environ, start))
        asked = json.loads(body)
        self.asked.append(asked)
        status, answer = self._prepared.pop(0) if self._prepared else (200, self._paged(asked, environ))
        start(f"{status} {HTTPStatus(status).phrase}", [("Content-Type", _JSON)])
        return [json.dumps(answer).encode()]

    def _paged(self, asked: Json, environ: Json) -> Json:
        answer: Json = json.loads(b"".join(self._moto(environ, _unheard)))
        if self.page is None:
            return answer
        first = int(asked.get("NextToken", 0))
        last = first + self.page
        for result in answer["MetricDataResults"]:
            whole = len(result["Values"]) <= last
            result.update(Values=result["Values"][first:last], Timestamps=result["Timestamps"][first:last])
            if not whole:
                result["StatusCode"] = "PartialData"
                answer["NextToken"] = str(last)
        return answer


def result(label: str, points: dict[datetime, float], status: str = "Complete") -> Json:
    """One result of GetMetricData."""
    stamps = [at.timestamp() for at in points]
    return {"Id": "answer", "Label": label, "Timestamps": stamps, "Values": list(points.values()), "StatusCode": status}


@contextmanager
def cloudwatch_to_ask(now: datetime) -> Iterator[CloudWatch]:
    """The server at that time, and its credentials in the environment of this process meanwhile."""
    with pytest.MonkeyPatch.context() as environment, CloudWatch(now) as double:
        for name, value in AWS_ENV.items():
            environment.setenv(name, value)
        yield double


def _unheard(status: str, headers: list[tuple[str, str]]) -> None:
    """Where the beginning of moto's answer goes: another one is sent."""


def _handler(double: CloudWatch) -> type[MotoRequestHandler]:
    class Handler(MotoRequestHandler):
        def date_time_string(self, timestamp: float | None = None) -> str:  # noqa: ARG002  # the server's own clock is not asked
            return format_datetime(double.now, usegmt=True)

        def log_request(self, *_: object) -> None:
            """Keep quiet: `asked` remembers."""

    return Handler
