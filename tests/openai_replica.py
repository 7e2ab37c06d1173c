"""A loopback replica that speaks the chat completions of OpenAI, streamed, and whose capacity is known: slots / service time."""

import asyncio
import heapq
import json
import threading
from dataclasses import dataclass, field
from typing import Any, Literal, Self

_CHUNKS = 4


@dataclass(slots=True, kw_only=True)
class Replica:
    """So many requests at once, each of `service_s` seconds, whatever its length; others wait in the order of their arrival.

    When each begins and ends is computed at its arrival, so that a machine that is busy makes it later by what it is late, and never makes
    the replica slower. models: what it lists. key: what it wants as a bearer token. refuses: fields that it answers with 400. fails_every:
    each so manieth request is answered with 500. length_field: where it reads how long an answer may be, else 16 tokens. answers: `stream`,
    `whole` at the end, or `nothing` of the kind.
    """

    slots: int = 4
    service_s: float = 0.2
    models: tuple[str, ...] = ("llama-8b",)
    key: str | None = None
    refuses: tuple[str, ...] = ()
    fails_every: int = 0
    length_field: str = "max_completion_tokens"
    answers: Literal["stream", "whole", "nothing"] = "stream"
    asked: list[dict[str, Any]] = field(default_factory=list)
    _port: int = 0
    _free_at_s: list[float] = field(default_factory=list)
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    _thread: threading.Thread | None = None
    _server: asyncio.Server | None = None

    @property
    def capacity_rpm(self) -> float:
        return self.slots * 60 / self.service_s

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        self._free_at_s = [0.0] * self.slots
        self._server = self._loop.run_until_complete(asyncio.start_server(self._connection, "127.0.0.1", 0))
        self._port = self._server.sockets[0].getsockname()[1]
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        assert self._thread is not None
        self._thread.join()
        self._loop.close()

    async def _stop(self) -> None:
        assert self._server is not None
        self._server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                method, path, _ = head[0].split()
                headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                await self._answer(writer, f"{method} {path}", headers, body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass  # whoever asked is gone, or the test is over
        finally:
            writer.close()

    async def _answer(self, writer: asyncio.StreamWriter, what: str, headers: dict[str, str], body: bytes) -> None:
        if self.key is not None and headers.get("authorization") != f"Bearer {self.key}":
            _say(writer, 401, {"error": {"message": "no such key"}})
        elif what == "GET /v1/models":
            _say(writer, 200, {"object": "list", "data": [{"id": model, "object": "model"} for model in self.models]})
        elif what == "POST /v1/chat/completions":
            await self._complete(writer, json.loads(body))
        else:
            _say(writer, 404, {"error": {"message": "nothing here"}})

    async def _complete(self, writer: asyncio.StreamWriter, asked: dict[str, Any]) -> None:
        self.asked.append(asked)
        refused = [name for name in self.refuses if name in asked]
        if refused:
            _say(writer, 400, {"error": {"message": f"unknown field {refused[0]}"}})
        elif asked["model"] not in self.models:
            _say(writer, 404, {"error": {"message": f"the model {asked['model']} does not exist"}})
        elif self.fails_every and len(self.asked) % self.fails_every == 0:
            _say(writer, 500, {"error": {"message": "out of memory"}})
        elif self.answers == "nothing":
            _say(writer, 200, {"hello": "world"})
        else:
            await self._serve(writer, asked)

    async def _serve(self, writer: asyncio.StreamWriter, asked: dict[str, Any]) -> None:
        begin_s = max(self._loop.time(), heapq.heappop(self._free_at_s))
        heapq.heappush(self._free_at_s, begin_s + self.service_s)
        tokens = int(asked.get(self.length_field, 16))
        sent = sum(len(message["content"].split()) for message in asked["messages"])
        usage = {"prompt_tokens": sent, "completion_tokens": tokens, "total_tokens": sent + tokens}
        if self.answers == "stream":
            await self._stream(writer, asked, begin_s)
            _event(writer, asked, choices=[], usage=usage)
            _chunk(writer, b"data: [DONE]\n\n")
            writer.write(b"0\r\n\r\n")
        else:
            await self._until(begin_s + self.service_s)
            message = {"role": "assistant", "content": "word " * tokens}
            _say(
                writer,
                200,
                {"id": "chatcmpl-1", "object": "chat.completion", "choices": [{"index": 0, "message": message}], "usage": usage},
            )

    async def _stream(self, writer: asyncio.StreamWriter, asked: dict[str, Any], begin_s: float) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        for chunk in range(1, _CHUNKS + 1):
            await self._until(begin_s + self.service_s * chunk / _CHUNKS)
            _event(writer, asked, choices=[{"index": 0, "delta": {"role": "assistant", "content": " word"}, "finish_reason": None}])
        _event(writer, asked, choices=[{"index": 0, "delta": {}, "finish_reason": "length"}])

    async def _until(self, at_s: float) -> None:
        await asyncio.sleep(max(0.0, at_s - self._loop.time()))


def _say(writer: asyncio.StreamWriter, status: int, content: dict[str, Any]) -> None:
    raw = json.dumps(content).encode()
    writer.write(f"HTTP/1.1 {status} Said\r\nContent-Type: application/json\r\nContent-Length: {len(raw)}\r\n\r\n".encode() + raw)


def _event(writer: asyncio.StreamWriter, asked: dict[str, Any], **content: Any) -> None:
    event = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": asked["model"], **content}
    _chunk(writer, f"data: {json.dumps(event)}\n\n".encode())


def _chunk(writer: asyncio.StreamWriter, raw: bytes) -> None:
    writer.write(f"{len(raw):x}\r\n".encode() + raw + b"\r\n")
