"""The summary of a backtest, read back from its file."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from forecaster.errors import ConfigRejected
from jobs.proof.cron import DAYS, HOURS, CronWindow, Timetable


class _Part(BaseModel):
    """A part of `summary.json` as far as it is read here; the rest is ignored."""

    model_config = ConfigDict(frozen=True)


class KeptWindow(_Part):
    """A window of the cron that was best in hindsight."""

    days: tuple[Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"], ...] = Field(min_length=1)
    from_h: int = Field(ge=0, lt=HOURS)
    until_h: int = Field(gt=0, le=HOURS)
    replicas: int = Field(ge=1)


class KeptCron(_Part):
    """The cron that was best in hindsight."""

    min_replicas: int
    hpa_target_utilisation: float | None
    windows: tuple[KeptWindow, ...]

    def timetable(self) -> Timetable:
        """The same as the core has it."""
        windows = tuple(
            CronWindow(days=tuple(DAYS.index(day) for day in one.days), from_h=one.from_h, until_h=one.until_h, replicas=one.replicas)
            for one in self.windows
        )
        return Timetable(minimum=self.min_replicas, windows=windows, target=self.hpa_target_utilisation)


class KeptLoad(_Part):
    """Where the load came from."""

    prometheus: str
    query: str
    unit: Literal["per_second", "per_minute", "count"]


class KeptScaled(_Part):
    """What an HPA scales."""

    kind: str
    name: str


class KeptHpa(_Part):
    """The HPA that stood there."""

    namespace: str
    name: str
    scales: KeptScaled
    min_replicas: int
    max_replicas: int
    metric: str | None
    target_utilisation: float | None
    keda: str | None = None
    spec_metrics: tuple[dict[str, JsonValue], ...]


class KeptPoint(_Part):
    """The level and the target that were recommended."""

    hpa_target_utilisation: float


class KeptRow(_Part):
    """One policy."""

    hpa_target_utilisation: float | None = None


class KeptSummary(_Part):
    """What an export needs of a `summary.json`."""

    first_origin: str
    mu: float
    mu_known: bool = False
    operating_point: KeptPoint
    policies: dict[str, KeptRow]
    keda_cron: KeptCron
    load: KeptLoad | None
    hpa: KeptHpa | None


def read_summary(path: Path) -> KeptSummary:
    """The summary in a file, or in a directory that `backtest --out` wrote. Raises ConfigRejected when it is none."""
    file = path / "summary.json" if path.is_dir() else path
    remedy = "write one with `forecaster backtest ... --out DIR` and name DIR"
    try:
        return KeptSummary.model_validate_json(file.read_bytes())
    except OSError as error:
        raise ConfigRejected(f"{file} cannot be read: {error.strerror}; {remedy}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "its text"
        raise ConfigRejected(f"{file} is no summary of a backtest ({where}: {first['msg']}); {remedy}") from error
