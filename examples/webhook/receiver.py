"""A receiver for targets of type `webhook`. Run: WEBHOOK_SECRET=... python receiver.py; replace `carry_out` and the objects by your own."""

import hashlib
import hmac
import json
import os
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any
from urllib.parse import parse_qs, urlsplit


def receiver(
    secret: str, objects: dict[str, Any], carry_out: Callable[[dict[str, Any]], object], clock: Callable[[], float], window_s: int = 300
) -> type[BaseHTTPRequestHandler]:
    """Serves `objects`: name -> {"floor", "version", "marks" and, where known, "ceiling", "ready", "pending"}."""
    lock, done = Lock(), set[str]()

    class Receiver(BaseHTTPRequestHandler):
        def serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            with lock:
                status, said = self.answered(body) if self.is_signed(body) else (401, {"error": "signature or timestamp not accepted"})
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(said).encode())

        do_GET = do_POST = serve  # noqa: N815  # the names that http.server calls

        def is_signed(self, body: bytes) -> bool:
            stamp = self.headers.get("Forecaster-Timestamp", "")
            digest = hmac.new(secret.encode(), f"{stamp}.{self.command}.".encode() + body, hashlib.sha256).hexdigest()
            is_fresh = stamp.isdecimal() and abs(clock() - int(stamp)) <= window_s
            return is_fresh and hmac.compare_digest(self.headers.get("Forecaster-Signature", ""), f"v1={digest}")

        def answered(self, body: bytes) -> tuple[int, dict[str, Any]]:
            asked = json.loads(body) if body else {"target": parse_qs(urlsplit(self.path).query)["target"][0]}
            state, key = objects.get(asked["target"]), self.headers.get("Idempotency-Key", "")
            if state is None:
                return 404, {"error": f"no object is called {asked['target']}"}
            if self.command == "POST" and key not in done:
                if asked["version"] != state["version"]:
                    return 409, {"error": f"the version is {state['version']} by now"}
                carry_out(asked)
                state |= {"floor": asked["floor"], "marks": asked["marks"], "version": str(int(state["version"]) + 1)}
                done.add(key)
            return 200, state

    return Receiver


if __name__ == "__main__":
    OBJECTS = {"llm-70b": {"floor": 1, "ceiling": 20, "marks": {}, "version": "1"}}
    HANDLER = receiver(os.environ["WEBHOOK_SECRET"], OBJECTS, print, time.time)  # noqa: TID251  # its own clock, to compare with ours
    ThreadingHTTPServer(("127.0.0.1", 8099), HANDLER).serve_forever()
