"""AIPerf's profile_export_aiperf.json: the summary of one run; several runs at rising loads make the sweep.

Each metric says its unit. Rates are a second. What was sent stands in input_config: under `loadgen`, or under `phases` in newer ones.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from connectors.loadtests.result_file import Mix, ResultFile, names, newest
from forecaster.profile import Origin, Point, Profile, Setup, Spread
from forecaster.units import MINUTE_S

NAME = "AIPerf"
_MAJOR = "1"
_SECONDS = {"s": 1.0, "sec": 1.0, "seconds": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_PER_MINUTE = {"requests/sec": 60.0, "requests/s": 60.0, "requests/min": 1.0}


def claims(file: ResultFile) -> bool:
    """Whether a file is of this format."""
    return isinstance(file.at("request_latency"), dict) and file.text("request_latency", "unit") is not None


def read(files: Sequence[ResultFile], _: Mix | None) -> Profile:
    """A run a point. Raises LoadTestRejected."""
    return Profile(
        origin=Origin.FILE,
        source=f"{NAME} {names(files)}",
        points=tuple(_point(file) for file in files),
        setup=_setup(files[-1]),
        measured_at=newest(_ended(file) for file in files),
    )


def _point(file: ResultFile) -> Point:
    version = file.text("schema_version")
    if version is not None and version.split(".")[0] != _MAJOR:
        file.reject(f"an export of schema {version}, and 1.x is known: upgrade Forecaster, or export with an older AIPerf")
    if file.at("was_cancelled") is True:
        file.reject("the run was cancelled, so its figures are of a part of it: run it to the end")
    offered_rps, clients = _load(file)
    good, bad = file.number("request_count", "avg"), file.number("error_request_count", "avg") or 0.0  # left out where it is 0
    return file.step(
        lambda: Point(
            offered_rpm=None if offered_rps is None else offered_rps * MINUTE_S,
            clients=clients,
            achieved_rpm=file.needed("request_throughput", "avg") * _factor(file, "request_throughput", _PER_MINUTE),
            ttft=_spread(file, "time_to_first_token"),
            tpot=_spread(file, "inter_token_latency"),
            e2e=_spread(file, "request_latency"),
            error_ratio=None if good is None or good + bad <= 0 else bad / (good + bad),
            input_tokens=file.number("input_sequence_length", "avg") or None,
            input_std=file.number("input_sequence_length", "std"),
            output_tokens=file.number("output_sequence_length", "avg") or None,
            output_std=file.number("output_sequence_length", "std"),
        )
    )


def _load(file: ResultFile) -> tuple[float | None, float | None]:
    """Requests a second that were sent; None = a closed loop of so many clients."""
    for told in _told(file):
        rate = told.number("request_rate") or told.number("rate")
        clients = told.number("concurrency")
        if rate or clients:
            return rate or None, clients or None
    return file.reject("input_config tells neither a request rate nor a concurrency, so what was sent is not known")


def _told(file: ResultFile) -> Iterator[ResultFile]:
    """Where the load may be told; warm-up is not what was measured."""
    phases = file.at("input_config", "phases")
    for place in (file.at("input_config", "loadgen"), *(reversed(phases) if isinstance(phases, list) else ())):
        if isinstance(place, dict) and place.get("name") != "warmup":
            yield file.part("input_config", place)


def _spread(file: ResultFile, metric: str) -> Spread:
    if file.at(metric) is None:
        return Spread()
    scale = _factor(file, metric, _SECONDS)

    def told(statistic: str) -> float | None:
        value = file.number(metric, statistic)
        return None if value is None else value * scale

    if told("p95") is None:
        file.reject(f"{metric}.p95 is missing: give the whole profile_export_aiperf.json")
    return Spread(mean_s=told("avg"), p50_s=told("p50"), p95_s=told("p95"), p99_s=told("p99"))


def _factor(file: ResultFile, metric: str, known: dict[str, float]) -> float:
    unit = file.text(metric, "unit")
    if unit not in known:
        file.reject(f"{metric} is in {unit or 'no unit'}, and {', '.join(known)} are known")
    return known[unit]


def _setup(file: ResultFile) -> Setup:
    models = file.at("input_config", "endpoint", "model_names")
    return Setup(model=models[0] if isinstance(models, list) and models and isinstance(models[0], str) and models[0] else None)


def _ended(file: ResultFile) -> datetime | None:
    """In UTC: the file says no zone, and hours make no difference to an age in days."""
    try:
        at = datetime.fromisoformat(file.text("end_time") or file.text("start_time") or "")
    except ValueError:
        return None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
