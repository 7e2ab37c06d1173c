"""The `replay` section: how `forecaster capacity replay` drives load."""

from typing import Self

from pydantic import BaseModel, Field, model_validator

from forecaster.request_log import LEAST_REQUESTS
from forecaster.units import HOUR_S
from jobs.config.policy import SECTION
from jobs.config.scalars import Duration, Integer, Positive


class ReplaySection(BaseModel):
    """How a request log is replayed by `forecaster capacity replay`."""

    model_config = SECTION
    command: str | None = Field(None, min_length=1)
    """The load generator, AIPerf: a command on PATH or a path. Default: `aiperf` on PATH, else beside Forecaster's own interpreter."""
    first_rpm: Positive | None = None
    """The load to begin with, in requests per minute. Default: the log's own."""
    most_rpm: Positive | None = None
    """The largest load to try. Default: as far as the log has requests for a step."""
    step: Duration = Field(60.0, ge=1, le=HOUR_S)
    """How long requests are sent at each load; the first fifth fills the replica and does not count. Default 1m, for
    requests of some seconds; give ten times as long as a request takes."""
    requests: Integer = Field(100, ge=LEAST_REQUESTS)
    """Least requests of a step, which takes longer than `step` at small loads. Default 100: of fewer, P95 is one or two of them."""
    even_out: Duration = Field(10.0, ge=1)
    """Changes of the log's load that are slower than this are taken out, since a step is one load and floors follow the slow ones;
    bursts that are shorter stay as they were. Default 10s. A long one, such as 1d, replays every change as it stands in the log."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.first_rpm is not None and self.most_rpm is not None and self.first_rpm > self.most_rpm:
            msg = f"first_rpm must not be above most_rpm, got {self.first_rpm:g} above {self.most_rpm:g}"
            raise ValueError(msg)
        return self
