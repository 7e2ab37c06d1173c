"""One value of a plugin's configuration in Kong, by its Admin API. Our mark is a tag of the plugin.

The API: https://developer.konghq.com/api/gateway/admin-ee/ (GET and PATCH /plugins/{id}).
"""

import json
from collections.abc import Mapping
from pathlib import Path as File
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr

from connectors.http.endpoint import Call, Endpoint
from connectors.http.rest import Json
from connectors.kube.paths import parse
from connectors.levers.documents import MARK, Document
from connectors.levers.json_fields import patch_of
from forecaster.ladder import LeverValue

_PARTS = 2


def _path(text: str) -> str:
    if parse(text)[0] not in {"config", "enabled"}:
        msg = f"{text} is not for us to write: name config.FIELD, or enabled"
        raise ValueError(msg)
    return text


class KongLeverConfig(BaseModel):
    """One value of one plugin that may be moved for a while."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    type: Literal["kong"] = Field(description="This kind of lever: one value of a plugin in Kong.")
    url: str = Field(pattern=r"^https?://[^\s?#]+[^\s?#/]$", description="Address of the Admin API, with its port. No default.")
    plugin: str = Field(pattern=r"^[A-Za-z0-9-]+$", description="Id of the plugin, as GET /plugins tells it. No default.")
    field: Annotated[str, AfterValidator(_path)] = Field(
        description="Path of the value in the plugin, such as config.minute; a number is the entry of a list. No default."
    )
    token: SecretStr | None = Field(
        default=None,
        description="Sent as Kong-Admin-Token, where RBAC is on; ${NAME} takes it from the environment. Default: none.",
    )
    ca_file: File | None = Field(
        default=None, description="PEM file of the authority that signed the API's certificate. Default none: the system's authorities."
    )
    timeout_s: float = Field(default=3, gt=0, description="Seconds to wait for an answer. Default 3: the next look is five seconds away.")

    @property
    def lever(self) -> str:
        """`kong:PLUGIN/FIELD`."""
        return f"{self.type}:{self.plugin}/{self.field}"

    def endpoint(self) -> Endpoint:
        """The same, as the HTTP layer takes it."""
        headers = {} if self.token is None else {"Kong-Admin-Token": self.token.get_secret_value()}
        return Endpoint(base_url=self.url, headers=headers, ca_file=self.ca_file, timeout_s=self.timeout_s, attempts=2)

    def document(self) -> Document:
        """The plugin."""
        path, address = parse(self.field), f"/plugins/{self.plugin}"

        def write(document: Json, value: LeverValue | None, name: str, mark: str | None) -> Call:
            tags = [tag for tag in document.get("tags") or [] if not str(tag).startswith(f"{name}.")]
            body = {**patch_of(path, value, document), "tags": [*tags, *([f"{name}.{mark}"] if mark is not None else [])]}
            return Call(method="PATCH", path=address, body=json.dumps(body).encode())

        return Document(
            lever=self.lever,
            what=f"the plugin {self.plugin} of Kong",
            path=path,
            read=Call(method="GET", path=address),
            inside=lambda answer: answer,
            marks=_marks,
            write=write,
        )


def _marks(document: Json) -> Mapping[str, str]:
    parts = (str(tag).split(".", 1) for tag in document.get("tags") or [] if str(tag).startswith(MARK))
    return {part[0]: part[1] for part in parts if len(part) == _PARTS}
