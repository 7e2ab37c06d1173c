"""What a preset may supply: the core's signals, and what is only shown to people."""

from enum import StrEnum

from forecaster.series import Signal


class Quantity(StrEnum):
    """One thing that can be measured of a serving fleet. Those that the core knows have the name of its signal."""

    RPM = "rpm"
    CONCURRENCY = "concurrency"
    TOKENS = "tokens"
    INPUT_LENGTH = "input_length"
    OUTPUT_LENGTH = "output_length"
    RESPONSE_HITS = "response_hits"
    PREFIX_HITS = "prefix_hits"
    QUEUE_DEPTH = "queue_depth"
    REFUSED = "refused"
    QUEUE_WAIT = "queue_wait"
    LATENCY_P50 = "latency_p50"
    LATENCY_P95 = "latency_p95"
    LATENCY_P99 = "latency_p99"
    TTFT_P95 = "ttft_p95"
    ERROR_RATE = "error_rate"
    BATCH_SIZE = "batch_size"
    KV_CACHE = "kv_cache"
    GPU = "gpu"
    GPU_MEMORY = "gpu_memory"

    @property
    def signal(self) -> Signal | None:
        """The core's signal of that name; None for what is only shown."""
        return Signal(self.value) if self.value in set(Signal) else None

    @property
    def told_in(self) -> str:
        """The unit in which people are told it."""
        return _TOLD[self] if self.signal is None else self.signal.unit

    @property
    def words(self) -> str:
        """How sentences call it."""
        return _WORDS.get(self, self.value.replace("_", " "))


class Counted(StrEnum):
    """What a preset's RPM counts: it decides whether a saturated fleet hides its demand."""

    ARRIVALS = "arrivals"
    """Requests as they come in: demand itself."""
    ENDED = "ended requests"
    """Every request when it ends, failed and refused ones too: demand, later by a request's duration."""
    COMPLETIONS = "completions"
    """What was served: a saturated server hides the demand above it."""


UTILISATIONS = frozenset({Quantity.KV_CACHE, Quantity.GPU, Quantity.GPU_MEMORY})
"""How full something is: no load, so no floor is lowered by it."""

_TOLD = {
    Quantity.QUEUE_WAIT: "s",
    Quantity.LATENCY_P50: "s",
    Quantity.LATENCY_P95: "s",
    Quantity.LATENCY_P99: "s",
    Quantity.TTFT_P95: "s",
    Quantity.ERROR_RATE: "of all requests",
    Quantity.BATCH_SIZE: "requests a batch",
    Quantity.KV_CACHE: "full",
    Quantity.GPU: "busy",
    Quantity.GPU_MEMORY: "full",
}
_WORDS = {
    Quantity.QUEUE_WAIT: "mean queue wait",
    Quantity.LATENCY_P50: "P50 latency",
    Quantity.LATENCY_P95: "P95 latency",
    Quantity.LATENCY_P99: "P99 latency",
    Quantity.TTFT_P95: "P95 TTFT",
    Quantity.KV_CACHE: "KV cache",
    Quantity.GPU: "GPU",
    Quantity.GPU_MEMORY: "GPU memory",
}
