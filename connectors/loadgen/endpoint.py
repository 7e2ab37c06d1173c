"""What an OpenAI-compatible endpoint says to a first request: which model it serves, and whether it takes what a replay sends."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any, Final, Literal, TypeAlias

from connectors.http.api import Api
from connectors.http.endpoint import Answer, Call, Endpoint, Unreachable, Unusable
from forecaster.errors import LoadTestFailed

LengthField: TypeAlias = Literal["max_completion_tokens", "max_tokens"]
_PATH = "/v1/chat/completions"
_ENDINGS = (_PATH, "/v1")
_FORMS: Final[tuple[tuple[LengthField, bool], ...]] = (
    ("max_completion_tokens", True),
    ("max_completion_tokens", False),
    ("max_tokens", True),
    ("max_tokens", False),
)
_REFUSED = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY})
_SHOWN_CHARS = 200
_ANSWER_S = 120
"""A model that is loaded has said one token by then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """An endpoint that answers. url: without /v1. takes_ignore_eos: whether answers can be made as long as the log's.

    length_field: where it takes how long an answer may be. streams: whether answers come token by token. key_variable: the environment
    variable with its key, None = it needs none.
    """

    url: str
    model: str
    takes_ignore_eos: bool = True
    length_field: LengthField = "max_completion_tokens"
    streams: bool = True
    key_variable: str | None = None
    key: str | None = field(default=None, repr=False)


def first_answer(url: str, *, model: str | None, key: str | None, key_variable: str) -> Served:
    """The endpoint as it answers one short streamed chat completion. model: what it is said to serve, which need not be its name there.

    Raises LoadTestFailed with one sentence: nobody answers, the key is refused, the model is not known, or this is no such endpoint.
    """
    base = url.rstrip("/")
    base = next((base.removesuffix(ending) for ending in _ENDINGS if base.endswith(ending)), base)
    if not base.startswith(("http://", "https://")):
        raise LoadTestFailed(f"--endpoint must begin with http:// or https://, got {url!r}")
    try:
        api = Api(Endpoint(base_url=base, bearer=key, timeout_s=_ANSWER_S, attempts=1))
    except Unusable as error:
        raise LoadTestFailed(f"endpoint {base}: {error}") from error
    try:
        asking = _Asking(base=base, api=api, has_key=key is not None, key_variable=key_variable)
        named = asking.model(model)
        return asking.completed(Served(url=base, model=named, key=key, key_variable=None if key is None else key_variable))
    finally:
        api.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asking:
    base: str
    api: Api
    has_key: bool
    key_variable: str

    def model(self, said: str | None) -> str:
        """The name of a model that is listed: the one that is said, else the only one; where none is listed, what is said."""
        listed = _json(self._answer(Call(method="GET", path="/v1/models"))).get("data")
        entries = listed if isinstance(listed, list) else []
        ids = [str(each["id"]) for each in entries if isinstance(each, dict) and each.get("id")]
        if said is not None and (said in ids or not ids):
            return said
        if len(ids) == 1:
            return ids[0]
        has = f"serves {', '.join(ids)}: say which" if ids else "lists no model at /v1/models: name it"
        raise LoadTestFailed(f"endpoint {self.base} {has} as `serving: {{model: ...}}` of the pool")

    def completed(self, served: Served) -> Served:
        """The endpoint as it answers with one token, as it was asked to; else as it answers at all.

        It is asked with `ignore_eos`, which OpenAI does not know, and without; by today's name of an answer's length, and by the older one.
        """
        answers_at_all = None
        for length_field, takes_ignore_eos in _FORMS:
            asked = replace(served, length_field=length_field, takes_ignore_eos=takes_ignore_eos)
            answer = self._answer(_completion(asked))
            if answer.status in _REFUSED:
                continue
            if answer.status != HTTPStatus.OK:
                break
            chunks = tuple(_streamed(answer))
            asked = replace(asked, streams=bool(chunks))
            completion = chunks or (_json(answer),)
            if not any("choices" in chunk for chunk in completion):
                raise LoadTestFailed(f"endpoint {self.base} is not OpenAI-compatible: there is no chat completion at {_PATH}")
            if _generated(completion) <= 1:
                return asked
            answers_at_all = answers_at_all or asked
        if answers_at_all is None:
            raise LoadTestFailed(f"endpoint {self.base} refuses a chat completion of model {served.model}: {_why(answer)}")
        return answers_at_all

    def _answer(self, call: Call) -> Answer:
        try:
            answer = self.api.answer(call)
        except (Unreachable, Unusable) as error:
            raise LoadTestFailed(f"endpoint {self.base} does not answer: {error}; check the address, and that the engine runs") from error
        if answer.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            said = "refuses the key" if self.has_key else "needs a key"
            raise LoadTestFailed(f"endpoint {self.base} {said} (HTTP {answer.status}): put it into the variable {self.key_variable}")
        if answer.status == HTTPStatus.NOT_FOUND and call.method == "POST" and answer.is_page:
            raise LoadTestFailed(f"endpoint {self.base} is not OpenAI-compatible: there is nothing at {_PATH}")
        return answer


def _completion(served: Served) -> Call:
    """As the load generator will ask, of one token."""
    asked: dict[str, Any] = {
        "model": served.model,
        "messages": [{"role": "user", "content": "the time of"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        served.length_field: 1,
    }
    if served.takes_ignore_eos:
        asked["ignore_eos"] = True
    return Call(method="POST", path=_PATH, body=json.dumps(asked).encode(), repeatable=False)


def _streamed(answer: Answer) -> Iterator[dict[str, Any]]:
    for line in answer.text.splitlines():
        if line.startswith("data:") and (text := line.removeprefix("data:").strip()) != "[DONE]":
            try:
                chunk = json.loads(text)
            except ValueError:
                return
            if isinstance(chunk, dict):
                yield chunk


def _generated(chunks: Iterable[Mapping[str, Any]]) -> float:
    """Tokens of an answer as the endpoint counts them; 0 where it does not."""
    counts = [usage.get("completion_tokens") for chunk in chunks if isinstance(usage := chunk.get("usage"), dict)]
    return max((float(count) for count in counts if isinstance(count, int | float)), default=0.0)


def _json(answer: Answer) -> dict[str, Any]:
    try:
        found = json.loads(answer.body)
    except ValueError:
        return {}
    return found if answer.status == HTTPStatus.OK and isinstance(found, dict) else {}


def _why(answer: Answer) -> str:
    """The server's own words, cut."""
    try:
        said = json.loads(answer.body)
        error = said.get("error", said) if isinstance(said, dict) else said
        text = str(error.get("message", error)) if isinstance(error, dict) else str(error)
    except ValueError:
        text = "a web page" if answer.is_page else answer.text
    return f"HTTP {answer.status}, {' '.join(text.split())[:_SHOWN_CHARS]}"
