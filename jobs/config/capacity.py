"""`serving` of a pool: the engine that its replicas run, against which a measured capacity is held."""

from pydantic import BaseModel, Field

from forecaster.profile import Setup
from jobs.config.policy import SECTION
from jobs.config.scalars import Count, Number, Positive


class ServingSection(BaseModel):
    """What serves. A profile of anything else is stale, and is told so with the name of what changed."""

    model_config = SECTION
    engine: str | None = Field(None, min_length=1)
    """Such as `vllm` or `sglang`. Default: not told, so that it makes no profile stale; likewise below."""
    engine_version: str | None = Field(None, min_length=1)
    """As the engine says it, such as `"0.11.0"`. Default: not told."""
    model: str | None = Field(None, min_length=1)
    """The model's name, as load tests have it. Default: not told."""
    precision: str | None = Field(None, min_length=1)
    """Of the weights, such as `fp16`, `fp8` or `int8`. Default: not told."""
    tensor_parallelism: Count | None = None
    """GPUs that one replica is spread over. Default: not told."""
    max_batch: Count | None = None
    """Requests that the engine batches at most (vLLM's `--max-num-seqs`). Default: not told."""
    hardware: str | None = Field(None, min_length=1)
    """The GPU, such as `h100-80gb`. Default: not told."""
    kv_tokens: Positive | None = None
    """Tokens that the KV cache of one replica holds, as the engine logs it when it starts: with the lengths of a load test's requests it
    says how many fit. Default: not told, so that memory is taken not to bind."""
    shared_prefix_tokens: Number | None = Field(None, ge=0)
    """Tokens at the beginning of a request that lie in the cache once for all, such as a system prompt. Default: none."""

    def to_core(self) -> Setup:
        """The same in the core's type."""
        return Setup(**self.model_dump())
