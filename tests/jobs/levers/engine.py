"""A loopback engine with a page of metrics: its latencies, queue and errors are what the test says."""

from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Self

from tests.json_server import Asked, JsonServer

BOUNDS_S = (0.1, 0.5, 1.0, 2.0, 5.0)


@dataclass(kw_only=True)
class Engine:
    """waiting: requests in the queue. `serve` adds requests to the histogram and the counters of outcomes."""

    waiting: int = 0
    up: bool = True
    _buckets: dict[float, int] = field(default_factory=lambda: dict.fromkeys((*BOUNDS_S, float("inf")), 0))
    _first: dict[float, int] = field(default_factory=lambda: dict.fromkeys((*BOUNDS_S, float("inf")), 0))
    _failed: int = 0

    def __post_init__(self) -> None:
        self._server = JsonServer(self._answer)

    def __enter__(self) -> Self:
        self._server.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.__exit__()

    @property
    def page(self) -> str:
        return f"{self._server.url}/metrics"

    @property
    def looks(self) -> int:
        """How often the page was read."""
        return len(self._server.asked)

    def serve(self, requests: int, *, latency_s: float, first_s: float = 0.1, failed: int = 0) -> None:
        for buckets, took_s in ((self._buckets, latency_s), (self._first, first_s)):
            for bound in buckets:
                buckets[bound] += requests if took_s <= bound else 0
        self._failed += failed

    def _answer(self, _: Asked) -> tuple[int, str]:
        if not self.up:
            return HTTPStatus.SERVICE_UNAVAILABLE, "loading weights"
        lines = [*_histogram("llm_latency_seconds", self._buckets), *_histogram("llm_first_token_seconds", self._first)]
        lines += ["# TYPE llm_waiting gauge", f"llm_waiting {self.waiting}"]
        lines += ["# TYPE llm_requests counter", f'llm_requests_total{{code="500"}} {self._failed}']
        lines += [f'llm_requests_total{{code="200"}} {self._buckets[float("inf")] - self._failed}']
        return HTTPStatus.OK, "\n".join(lines) + "\n"


def _histogram(name: str, buckets: dict[float, int]) -> list[str]:
    counted = [f'{name}_bucket{{le="{"+Inf" if bound == float("inf") else bound}"}} {count}' for bound, count in buckets.items()]
    return [f"# TYPE {name} histogram", *counted, f"{name}_count {buckets[float('inf')]}", f"{name}_sum 1"]
