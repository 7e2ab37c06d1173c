"""`capacity`, `serving`, `lead_time` and `slo` of a pool: what one replica carries, what it runs, and what it takes."""

from typing import Literal

from pydantic import BaseModel, Field

from forecaster.capacity import Capacity
from forecaster.leadtime import LeadTime
from forecaster.profile import Setup
from forecaster.queueing import WaitSlo
from jobs.config.policy import SECTION
from jobs.config.scalars import Count, Duration, Number, Positive


class CapacitySection(BaseModel):
    """What one replica carries inside its SLO; a load signal without a figure is not used for floors."""

    model_config = SECTION
    rpm: Positive | None = None
    """Requests per minute. Default: none, since a guess would be a floor."""
    concurrency: Positive | None = None
    """Requests in flight. Default: none, since a guess would be a floor."""
    tokens: Positive | None = None
    """Tokens per second. Default: none, since a guess would be a floor."""
    profile: Literal["imported"] | None = None
    """`imported`: where no figure stands here, those of the newest profile that `forecaster capacity import` gave the pool. Default:
    none, only what stands here."""

    @property
    def is_imported(self) -> bool:
        """Whether the figures are those of a profile: what a person configures wins."""
        return self.profile is not None and (self.rpm, self.concurrency, self.tokens) == (None, None, None)

    def to_core(self) -> Capacity:
        """The same in the core's type."""
        return Capacity(rpm=self.rpm, concurrency=self.concurrency, tokens=self.tokens)


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


class LeadTimeSection(BaseModel):
    """How long a replica takes from request to ready, at P90: what holds until enough starts were seen to measure it."""

    model_config = SECTION
    warm: Duration = 300.0
    """On a node that is up: image, weights, compilation. Default 5m, in the middle of published cold starts of 2 to 8 minutes."""
    cold: Duration = 600.0
    """With a node to be provisioned first. Default 10m: a GPU node adds about 5 minutes."""
    measured: bool = True
    """Whether starts are observed, on targets that tell of them, and take the place of both once there are enough. Default true: what was
    measured is right when images and registries change, and reads of pods and nodes are all that it takes."""

    def to_core(self) -> LeadTime:
        """The same in the core's type."""
        return LeadTime(warm_s=self.warm, cold_s=self.cold)


class SloSection(BaseModel):
    """How long requests may wait; small pools need more replicas for that than their load fills."""

    model_config = SECTION
    wait_p95: Duration
    """95 % of requests are served after at most this wait. No default: it is the promise."""
    service: Duration
    """Mean time that a request is in service once it is taken, at the load of `capacity`. No default: it differs by model and prompt."""
    variability: Positive = 1.0
    """Half the sum of the squared coefficients of variation of the gaps between requests and of service times. Default 1: both
    exponential; bursty traffic has 2 to 10."""

    def to_core(self) -> WaitSlo:
        """The same in the core's type."""
        return WaitSlo(wait_p95_s=self.wait_p95, service_s=self.service, variability_ratio=self.variability)
