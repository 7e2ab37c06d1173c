"""`capacity`, `serving`, `lead_time` and `slo` of a pool: what one replica carries, what it runs, and what it takes."""

from typing import Literal, Self

from pydantic import BaseModel, Field, model_validator

from forecaster.capacity import Capacity
from forecaster.estimate import Lengths, Terms
from forecaster.leadtime import LeadTime
from forecaster.profile import Setup
from forecaster.profile_best import Asked, Follows
from forecaster.queueing import WaitSlo
from jobs.config.policy import SECTION
from jobs.config.scalars import Count, Duration, Number, Positive


class EstimateSection(BaseModel):
    """The last resort where nothing is measured: tokens/s = batch x output speed / (1 + input / output x coefficient).

    The batch is `serving.max_batch`, or what `serving.kv_tokens` holds where that is less. Its confidence is low, always.
    """

    model_config = SECTION
    output_tokens_per_s: Positive
    """Generated tokens a second of one request while the whole batch is in flight. No default: it differs by model and GPU."""
    coefficient: Number = Field(ge=0)
    """What an input token costs in output tokens: about the tokens/s that a full batch generates over the tokens/s of prompts that a
    replica reads when it does nothing else. No default: it differs by model, GPU and batch."""
    input_tokens: Positive | None = None
    """Mean tokens of a request's prompt. Default: as the signal `input_length` was over the last day."""
    output_tokens: Positive | None = None
    """Mean tokens that are generated for a request. Default: as the signal `output_length` was over the last day."""
    input_std: Number | None = Field(None, ge=0)
    """How far prompts spread, as a standard deviation in tokens, for memory only. Default: not told, and memory is judged by means."""
    output_std: Number | None = Field(None, ge=0)
    """The same for what is generated. Default: not told."""

    def to_core(self) -> Terms:
        """The same in the core's type."""
        lengths = Lengths(
            input_tokens=self.input_tokens, output_tokens=self.output_tokens, input_std=self.input_std, output_std=self.output_std
        )
        return Terms(output_tokens_s=self.output_tokens_per_s, coefficient=self.coefficient, lengths=lengths)


class CapacitySection(BaseModel):
    """What one replica carries inside its SLO; a load signal without a figure is not used for floors."""

    model_config = SECTION
    rpm: Positive | None = None
    """Requests per minute. Default: none, since a guess would be a floor."""
    concurrency: Positive | None = None
    """Requests in flight. Default: none, since a guess would be a floor."""
    tokens: Positive | None = None
    """Tokens per second. Default: none, since a guess would be a floor."""
    profile: Literal["imported", "best"] | None = None
    """Where no figure stands here: `best` follows the best source that is known, be it a replay, an imported load test, production or the
    estimate; `imported` the newest replay or load test, so that nothing but a person's measurement moves it. Default: none, only what
    stands here."""
    estimate: EstimateSection | None = None
    """A rule of thumb for where nothing better is known. Default: none, since a guess would be a floor."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.profile == "imported" and self.estimate is not None:
            raise ValueError("profile: imported takes no estimate: write profile: best to follow both, or leave one out")
        return self

    @property
    def is_found(self) -> bool:
        """Whether the figures come from elsewhere: what a person configures wins."""
        return self.asked().is_open

    def to_core(self) -> Capacity:
        """The figures that stand here, in the core's type."""
        return Capacity(rpm=self.rpm, concurrency=self.concurrency, tokens=self.tokens)

    def asked(self) -> Asked:
        """Where the capacity shall come from."""
        return Asked(
            figures=self.to_core(),
            follows=Follows.NONE if self.profile is None else Follows(self.profile),
            terms=None if self.estimate is None else self.estimate.to_core(),
        )


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
