"""moto's own HTTP server of AWS on loopback, spoken to by boto3, with what moto leaves out.

    with aws_to_ask() as aws:                            # or Aws() with AWS_ENV in the environment of whoever asks it
        aws.add_nodegroup("prod", "gpu", minimum=1, desired=2, maximum=10)
        ...                                              # a target with region REGION and `endpoint_url: aws.url`
        assert aws.size("prod", "gpu") == {"minSize": 4, "desiredSize": 4, "maxSize": 10}
        assert aws.writes == ["TagResource", "UpdateNodegroupConfig"]

In front of moto: tags of node groups (moto knows those of clusters only), the refusal of a minimum above the desired size and of a desired
size above the maximum, the gaps that tests/aws_gaps.py fills, and faults on request. Its state is one a process: `__enter__` resets it.
"""

import io
import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPConnection
from typing import Any, Self, TypeAlias
from urllib.parse import parse_qs, urlencode

import pytest
from moto.autoscaling.models import autoscaling_backends
from moto.eks.models import eks_backends
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import make_server

from tests.aws_gaps import ACCOUNT, REGION, Gaps, Refusal

AWS_ENV = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
}
"""The environment of a process that asks the server: credentials that open nothing else."""

__all__ = ("ACCOUNT", "AWS_ENV", "REGION", "WRITES", "Aws", "aws_to_ask")

WRITES = frozenset(
    {
        "TagResource", "UntagResource", "UpdateNodegroupConfig", "UpdateAutoScalingGroup", "CreateOrUpdateTags", "DeleteTags",
        "BatchPutScheduledUpdateGroupAction", "BatchDeleteScheduledAction", "RegisterScalableTarget", "PutScheduledAction",
        "DeleteScheduledAction",
    }
)  # fmt: skip
_SIGNED_AS = {"monitoring": "cloudwatch"}
"""Services whose signatures name them otherwise than their IAM actions do."""

Json: TypeAlias = dict[str, Any]
Started: TypeAlias = Callable[[str, list[tuple[str, str]]], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What the next request for an operation gets instead of its answer. taken: it is carried out all the same."""

    operation: str
    code: str
    status: int
    taken: bool
    message: str


class Aws:
    """The server, listening between `__enter__` and `__exit__`.

    `operations` are those that were asked for, `actions` the same as IAM names them (`eks:DescribeNodegroup`), `writes` those carried out.
    """

    def __init__(self) -> None:
        self.operations: list[str] = []
        self.actions: list[str] = []
        self.gaps = Gaps()
        self.writes: list[str] = []
        self._faults: list[Fault] = []
        self._afterwards: list[tuple[str, Callable[[], object]]] = []
        self._moto = DomainDispatcherApplication(create_backend_app)
        self._server = make_server("127.0.0.1", 0, self._serve, threaded=True, request_handler=_Quiet)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        connection = HTTPConnection("127.0.0.1", self._server.server_port)
        connection.request("POST", "/moto-api/reset")
        connection.getresponse().read()
        connection.close()
        self.operations.clear()
        self.actions.clear()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def add_nodegroup(self, cluster: str, name: str, *, minimum: int, desired: int, maximum: int, in_service: int | None = None) -> None:
        """A node group; with `in_service`, also the Auto Scaling group behind it, in which that many instances run."""
        eks = eks_backends[ACCOUNT][REGION]
        role = f"arn:aws:iam::{ACCOUNT}:role/nodes"
        if cluster not in eks.clusters:
            eks.create_cluster(cluster, role, {"subnetIds": ["subnet-1", "subnet-2"]})
        size = {"minSize": minimum, "desiredSize": desired, "maxSize": maximum}
        group = eks.create_nodegroup(cluster, role, name, ["subnet-1"], scaling_config=size)
        if in_service is not None:
            self.add_group(f"eks-{group.uuid}", minimum=0, desired=desired, maximum=maximum, in_service=in_service)

    def add_group(self, name: str, *, minimum: int, desired: int, maximum: int, in_service: int) -> None:
        """An Auto Scaling group in which that many instances run."""
        template = {"LaunchConfigurationName": name, "ImageId": "ami-12c6146b", "InstanceType": "t2.micro"}
        sizes = {"MinSize": minimum, "MaxSize": maximum, "DesiredCapacity": in_service, "AvailabilityZones.member.1": f"{REGION}a"}
        self._ask_autoscaling({"Action": "CreateLaunchConfiguration", **template})
        self._ask_autoscaling({"Action": "CreateAutoScalingGroup", "AutoScalingGroupName": name, "LaunchConfigurationName": name, **sizes})
        autoscaling_backends[ACCOUNT][REGION].autoscaling_groups[name].desired_capacity = desired

    def remove_group(self, name: str) -> None:
        """Delete an Auto Scaling group."""
        del autoscaling_backends[ACCOUNT][REGION].autoscaling_groups[name]

    def size(self, cluster: str, name: str) -> dict[str, int]:
        """The scalingConfig as it stands."""
        return dict(self._group(cluster, name).scaling_config)

    def tags(self, cluster: str, name: str) -> dict[str, str]:
        """The tags as they stand."""
        return dict(self._group(cluster, name).tags)

    def edit(self, cluster: str, name: str, *, tags: dict[str, str] | None = None, status: str | None = None, **size: int) -> None:
        """Change scalingConfig (minSize=3), tags or status as somebody else does."""
        group = self._group(cluster, name)
        group.scaling_config.update(size)
        group.tags.update(tags or {})
        group.status = status or group.status

    def make_ill(self, cluster: str, name: str, code: str, message: str) -> None:
        """Give the node group a health issue."""
        self._group(cluster, name).health = {"issues": [{"code": code, "message": message, "resourceIds": []}]}

    def delete_nodegroup(self, cluster: str, name: str) -> None:
        """Delete the node group."""
        del eks_backends[ACCOUNT][REGION].clusters[cluster].nodegroups[name]

    def fail_next(
        self, operation: str, code: str, *, status: int = 400, times: int = 1, taken: bool = False, message: str = "injected"
    ) -> None:
        """Answer the next `times` requests for `operation` (`DescribeNodegroup`) by an error code."""
        self._faults.extend([Fault(operation=operation, code=code, status=status, taken=taken, message=message)] * times)

    def after_next(self, operation: str, act: Callable[[], object]) -> None:
        """Run `act` once the next such operation was carried out, before its answer leaves."""
        self._afterwards.append((operation, act))

    def _group(self, cluster: str, name: str) -> Any:
        return eks_backends[ACCOUNT][REGION].clusters[cluster].nodegroups[name]

    def _ask_autoscaling(self, fields: dict[str, object]) -> None:
        scope = f"AWS4-HMAC-SHA256 Credential=test/20240501/{REGION}/autoscaling/aws4_request"
        headers = {"Authorization": scope, "Content-Type": "application/x-www-form-urlencoded"}
        connection = HTTPConnection("127.0.0.1", self._server.server_port)
        connection.request("POST", "/", urlencode({**fields, "Version": "2011-01-01"}), headers)
        connection.getresponse().read()
        connection.close()

    def _serve(self, environ: Json, start: Started) -> Iterable[bytes]:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        operation = _operation(environ, body)
        self.operations.append(operation)
        self.actions.append(f"{_service(environ)}:{operation}")
        fault = next((fault for fault in self._faults if fault.operation == operation), None)
        if fault is not None:
            self._faults.remove(fault)
            if fault.taken:
                self._carried_out(operation, environ, body, _unheard)
            return _error(start, body, fault.code, fault.status, fault.message)
        return self._carried_out(operation, environ, body, start)

    def _carried_out(self, operation: str, environ: Json, body: bytes, start: Started) -> Iterable[bytes]:
        if operation == "UpdateNodegroupConfig" and (refusal := self._refusal(environ["PATH_INFO"], json.loads(body))):
            return _error(start, body, "InvalidParameterException", HTTPStatus.BAD_REQUEST, refusal)
        filled = self.gaps.answer(f"{_service(environ)}:{operation}", _parameters(body))
        answer: Iterable[bytes]
        if isinstance(filled, Refusal):
            return _error(start, body, filled.code, HTTPStatus.BAD_REQUEST, filled.message)
        if isinstance(filled, str):
            answer = _xml(start, HTTPStatus.OK, filled)
        elif filled is not None:
            answer = _json(start, HTTPStatus.OK, filled)
        elif environ["PATH_INFO"].startswith("/tags/"):
            self._tag(environ, body)
            answer = _json(start, HTTPStatus.OK, {})
        else:
            answer = list(self._moto(environ, start))
        if operation in WRITES:
            self.writes.append(operation)
        for waiting in [waiting for waiting in self._afterwards if waiting[0] == operation][:1]:
            self._afterwards.remove(waiting)
            waiting[1]()
        return answer

    def _refusal(self, path: str, body: Json) -> str:
        _, _, cluster, _, name, _ = path.split("/")
        size = self.size(cluster, name) | body.get("scalingConfig", {})
        if size["minSize"] > size["desiredSize"]:
            return f"Minimum capacity {size['minSize']} can't be greater than desired size {size['desiredSize']}"
        if size["desiredSize"] > size["maxSize"]:
            return f"desired capacity {size['desiredSize']} can't be greater than max size {size['maxSize']}"
        return ""

    def _tag(self, environ: Json, body: bytes) -> None:
        _, cluster, name, _ = environ["PATH_INFO"].rsplit("/", 3)
        tags = self._group(cluster, name).tags
        tags.update(json.loads(body)["tags"] if body else {})
        for key in parse_qs(environ["QUERY_STRING"]).get("tagKeys", []):
            tags.pop(key, None)


@contextmanager
def aws_to_ask() -> Iterator[Aws]:
    """The server, and its credentials in the environment of this process meanwhile."""
    with pytest.MonkeyPatch.context() as environment, Aws() as aws:
        for name, value in AWS_ENV.items():
            environment.setenv(name, value)
        yield aws


def _operation(environ: Json, body: bytes) -> str:
    """By header in the JSON protocols, by field in the query protocol, by path in EKS and in the RPC protocol of CloudWatch."""
    named = str(environ.get("HTTP_X_AMZ_TARGET", "")).rpartition(".")[2] or parse_qs(body.decode(errors="replace")).get("Action", [""])[0]
    return named or _routed(environ)


def _routed(environ: Json) -> str:
    path = str(environ["PATH_INFO"])
    match (environ["REQUEST_METHOD"], path.strip("/").split("/")):
        case "GET", ["clusters", _, "node-groups", _]:
            return "DescribeNodegroup"
        case "POST", ["clusters", _, "node-groups", _, "update-config"]:
            return "UpdateNodegroupConfig"
        case "POST", ["tags", *_]:
            return "TagResource"
        case "DELETE", ["tags", *_]:
            return "UntagResource"
        case _:
            return path.rpartition("/operation/")[2]


def _service(environ: Json) -> str:
    """The service as IAM names it, by the scope of the signature."""
    scope = environ.get("HTTP_AUTHORIZATION", "").partition("Credential=")[2].split(",")[0].split("/")
    signed = scope[3] if len(scope) > 4 else ""
    return _SIGNED_AS.get(signed, signed)


def _parameters(body: bytes) -> Json:
    if _is_query(body):
        return {name: texts[0] for name, texts in parse_qs(body.decode()).items()}
    try:
        read = json.loads(body or b"{}")
    except ValueError:  # a binary protocol, which moto reads itself
        return {}
    return read if isinstance(read, dict) else {}


def _is_query(body: bytes) -> bool:
    return body.startswith(b"Action=") or b"&Action=" in body


def _unheard(status: str, headers: list[tuple[str, str]]) -> None:
    """Where the beginning of an answer goes that is lost."""


def _error(start: Started, body: bytes, code: str, status: int, message: str = "injected") -> Iterable[bytes]:
    if _is_query(body):
        return _xml(start, status, f"<ErrorResponse><Error><Code>{code}</Code><Message>{message}</Message></Error></ErrorResponse>")
    return _json(start, status, {"__type": code, "message": message, "Message": message}, ("x-amzn-ErrorType", code))


def _xml(start: Started, status: int, text: str) -> Iterable[bytes]:
    start(f"{int(status)} {HTTPStatus(status).phrase}", [("Content-Type", "text/xml")])
    return [text.encode()]


def _json(start: Started, status: int, value: Json, *headers: tuple[str, str]) -> Iterable[bytes]:
    start(f"{int(status)} {HTTPStatus(status).phrase}", [("Content-Type", "application/json"), *headers])
    return [json.dumps(value).encode()]


class _Quiet(MotoRequestHandler):
    def log_request(self, *_: object) -> None:
        """Keep quiet: `operations` remembers."""
