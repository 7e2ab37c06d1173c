"""A limit of a key of the LiteLLM proxy, by its key management. Our mark stands in the key's metadata.

The API: https://docs.litellm.ai/docs/proxy/virtual_keys (GET /key/info, POST /key/update). It leaves out a limit of null, so a limit that
is not there cannot be taken away again, and is not set in the first place.
"""

import json
from pathlib import Path as File
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from connectors.http.endpoint import Call, Endpoint
from connectors.http.rest import Json
from connectors.levers.documents import Document
from forecaster.errors import TargetRefused
from forecaster.ladder import LeverValue
from forecaster.levers import LeverSeen


class LitellmLeverConfig(BaseModel):
    """One limit of one key that may be moved for a while."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    type: Literal["litellm"] = Field(description="This kind of lever: a limit of a virtual key of the LiteLLM proxy.")
    name: str = Field(min_length=1, description="What the key is called in records, such as its alias. No default: it must be unique.")
    url: str = Field(pattern=r"^https?://[^\s?#]+[^\s?#/]$", description="Address of the proxy, with its port. No default.")
    master_key: SecretStr = Field(
        min_length=1, description="Key of a proxy admin, sent as bearer; write ${NAME} to take it from the environment. No default."
    )
    key: SecretStr = Field(min_length=1, description="The virtual key whose limit is moved, or its hash. No default.")
    limit: Literal["rpm_limit", "tpm_limit", "max_parallel_requests"] = Field(
        description="Which limit: requests a minute, tokens a minute, or requests in flight. No default."
    )
    ca_file: File | None = Field(
        default=None, description="PEM file of the authority that signed the proxy's certificate. Default none: the system's authorities."
    )
    timeout_s: float = Field(default=3, gt=0, description="Seconds to wait for an answer. Default 3: the next look is five seconds away.")

    @property
    def lever(self) -> str:
        """`litellm:NAME/LIMIT`."""
        return f"{self.type}:{self.name}/{self.limit}"

    def endpoint(self) -> Endpoint:
        """The same, as the HTTP layer takes it."""
        return Endpoint(
            base_url=self.url, bearer=self.master_key.get_secret_value(), ca_file=self.ca_file, timeout_s=self.timeout_s, attempts=2
        )

    def document(self) -> Document:
        """The key."""
        key, what = self.key.get_secret_value(), f"the key {self.name} of LiteLLM"

        def write(document: Json, value: LeverValue | None, name: str, mark: str | None) -> Call:
            metadata = {each: text for each, text in (document.get("metadata") or {}).items() if each != name}
            metadata |= {name: mark} if mark is not None else {}
            body = {"key": key, self.limit: value, "metadata": metadata}
            return Call(method="POST", path="/key/update", body=json.dumps(body).encode())

        def check(seen: LeverSeen) -> None:
            if seen.original is None:
                told = f"{what} has no {self.limit}, and LiteLLM does not take one away again"
                raise TargetRefused(f"{told}: give the key one that it may go back to")

        return Document(
            lever=self.lever,
            what=what,
            path=(self.limit,),
            read=Call(method="GET", path="/key/info", query={"key": key}),
            inside=lambda answer: answer.get("info") or {},
            marks=lambda document: document.get("metadata") or {},
            write=write,
            check=check,
            hidden=key,
        )
