"""The receiver of examples/webhook, in a thread: what webhook targets are tested against.

with WebhookReceiver() as hook:
hook.objects["llm"] = {"floor": 2, "ceiling": 20, "ready": 3, "pending": 0, "marks": {}, "version": "1"}
...                                   # a target named llm with url hook.url and secret SECRET
assert hook.carried_out[-1]["floor"] == 8
"""

import importlib.util
import threading
from datetime import datetime
from http.client import HTTPConnection
from http.server import ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any, Self

SECRET = "only-the-two-of-us-know"

_FILE = Path(__file__).parents[1] / "examples" / "webhook" / "receiver.py"


class WebhookReceiver:
    """The server, listening between `__enter__` and `__exit__`. Its clock stands at the instant given."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.objects: dict[str, Any] = {}
        self.carried_out: list[dict[str, Any]] = []
        self.asked: list[str] = []
        self._lost = 0
        handler = _example().receiver(SECRET, self.objects, self._carry_out, self._clock)
        quiet = type("Quiet", (handler,), {"log_message": lambda *_: None, "wbufsize": -1, "send_response": self._sending(handler)})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), quiet)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        """What a target is configured with."""
        return f"http://127.0.0.1:{self._server.server_port}/floors"

    def send(self, body: bytes, headers: dict[str, str]) -> int:
        """The status of the answer to a POST, sent as it is."""
        connection = HTTPConnection("127.0.0.1", self._server.server_port)
        connection.request("POST", "/floors", body, {name: headers[name] for name in headers if name.startswith(("Forecaster", "Idem"))})
        status = connection.getresponse().status
        connection.close()
        return status

    def lose_next_answer(self) -> None:
        """Something in between answers 502 in the place of the next POST's answer."""
        self._lost = 1

    def _carry_out(self, asked: dict[str, Any]) -> None:
        self.carried_out.append(asked)

    def _sending(self, handler: Any) -> Any:
        def send_response(answering: Any, status: int) -> None:
            self.asked.append(answering.command)
            lost, self._lost = (self._lost, 0) if answering.command == "POST" else (0, self._lost)
            handler.send_response(answering, 502 if lost else status)

        return send_response

    def _clock(self) -> float:
        return self.now.timestamp()

    def edit(self, name: str, *, marks: dict[str, str] | None = None, **fields: object) -> None:
        """Change an object as somebody else does."""
        state = self.objects[name]
        state["marks"] = state["marks"] | (marks or {})
        state.update(fields)
        state["version"] = str(int(state["version"]) + 1)


def _example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("receiver", _FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
