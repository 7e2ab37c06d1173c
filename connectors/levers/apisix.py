"""One value of a plugin in Apache APISIX, of a route, a service or a plugin config, by its Admin API. Our mark is a label.

The API: https://apisix.apache.org/docs/apisix/admin-api/ (GET and PATCH; a field of null is taken away, a list is replaced as a whole).
"""

import json
from pathlib import Path as File
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr

from connectors.http.endpoint import Call, Endpoint
from connectors.http.rest import Json
from connectors.kube.paths import parse
from connectors.levers.documents import Document
from connectors.levers.json_fields import patch_of
from forecaster.ladder import LeverValue


def _path(text: str) -> str:
    if parse(text)[0] != "plugins":
        msg = f"{text} is not for us to write: name plugins.PLUGIN.FIELD"
        raise ValueError(msg)
    return text


class ApisixLeverConfig(BaseModel):
    """One value of one plugin that may be moved for a while."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    type: Literal["apisix"] = Field(description="This kind of lever: one value of a plugin in Apache APISIX.")
    url: str = Field(pattern=r"^https?://[^\s?#]+[^\s?#/]$", description="Address of the Admin API, with its port. No default.")
    resource: Literal["routes", "services", "plugin_configs"] = Field(description="What carries the plugin. No default.")
    id: str = Field(pattern=r"^[A-Za-z0-9_.-]+$", description="Id of it. No default.")
    field: Annotated[str, AfterValidator(_path)] = Field(
        description="Path of the value, such as plugins.limit-count.count; a number is the entry of a list. No default."
    )
    key: SecretStr = Field(
        min_length=1, description="Key of the Admin API, sent as X-API-KEY; write ${NAME} to take it from the environment. No default."
    )
    ca_file: File | None = Field(
        default=None, description="PEM file of the authority that signed the API's certificate. Default none: the system's authorities."
    )
    timeout_s: float = Field(default=3, gt=0, description="Seconds to wait for an answer. Default 3: the next look is five seconds away.")

    @property
    def lever(self) -> str:
        """`apisix:RESOURCE/ID/FIELD`."""
        return f"{self.type}:{self.resource}/{self.id}/{self.field}"

    def endpoint(self) -> Endpoint:
        """The same, as the HTTP layer takes it."""
        headers = {"X-API-KEY": self.key.get_secret_value()}
        return Endpoint(base_url=self.url, headers=headers, ca_file=self.ca_file, timeout_s=self.timeout_s, attempts=2)

    def document(self) -> Document:
        """The route, service or plugin config."""
        path, address = parse(self.field), f"/apisix/admin/{self.resource}/{self.id}"

        def write(document: Json, value: LeverValue | None, name: str, mark: str | None) -> Call:
            body = {**patch_of(path, value, document), "labels": {name: mark}}
            return Call(method="PATCH", path=address, body=json.dumps(body).encode())

        return Document(
            lever=self.lever,
            what=f"{self.resource}/{self.id} of APISIX",
            path=path,
            read=Call(method="GET", path=address),
            inside=lambda answer: answer.get("value") or {},
            marks=lambda document: document.get("labels") or {},
            write=write,
        )
