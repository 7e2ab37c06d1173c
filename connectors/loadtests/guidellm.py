"""GuideLLM's benchmarks.json: one report of several benchmarks, a load step each; profile `sweep` finds the knee by itself.

End-to-end latency is in seconds, time to first token and time per token in milliseconds, rates a second. Everything is told by the status
of requests; what succeeded counts.
"""

from collections.abc import Sequence

from connectors.loadtests.result_file import Mix, ResultFile, names, newest
from forecaster.profile import Origin, Point, Profile, Setup, Spread
from forecaster.units import MINUTE_S

NAME = "GuideLLM"
_VERSIONS = (1, 2)
_STRATEGIES = ("config", "args")
"""Where a benchmark says how it sent: newer reports first."""


def claims(file: ResultFile) -> bool:
    """Whether a file is of this format."""
    listed = file.at("benchmarks")
    return isinstance(listed, list) and bool(listed) and isinstance(listed[0], dict) and "metrics" in listed[0]


def read(files: Sequence[ResultFile], _: Mix | None) -> Profile:
    """A benchmark a point. Raises LoadTestRejected."""
    benchmarks = [benchmark for file in files for benchmark in _benchmarks(file)]
    return Profile(
        origin=Origin.FILE,
        source=f"{NAME} {names(files)}",
        points=tuple(_point(benchmark) for benchmark in benchmarks),
        setup=_setup(files[-1], benchmarks[-1]),
        measured_at=newest(benchmark.instant(benchmark.number("end_time")) for benchmark in benchmarks),
    )


def _benchmarks(file: ResultFile) -> list[ResultFile]:
    version = file.at("metadata", "version")
    if version is not None and version not in _VERSIONS:
        file.reject(f"a report of version {version}, and 1 and 2 are known: upgrade Forecaster, or export with an older GuideLLM")
    listed = file.at("benchmarks")
    assert isinstance(listed, list)  # noqa: S101 - as it was claimed
    return [file.part(f"benchmark {number}", data) for number, data in enumerate(listed, 1)]


def _point(file: ResultFile) -> Point:
    offered_rps, clients = _load(file)
    good, bad = (file.number("metrics", "request_totals", status) for status in ("successful", "errored"))
    in_flight = file.number("metrics", "request_concurrency", "successful", "mean")
    return file.step(
        lambda: Point(
            offered_rpm=None if offered_rps is None else offered_rps * MINUTE_S,
            clients=clients,
            achieved_rpm=file.needed("metrics", "requests_per_second", "successful", "mean") * MINUTE_S,
            in_flight=in_flight or None,
            ttft=_spread(file, "time_to_first_token_ms", scale=1e-3),
            tpot=_spread(file, "time_per_output_token_ms", scale=1e-3, first_too=True),
            e2e=_spread(file, "request_latency", scale=1.0),
            error_ratio=bad / (good + bad) if good is not None and bad is not None and good + bad > 0 else None,
            input_tokens=_tokens(file, "prompt_token_count", "mean") or None,
            input_std=_tokens(file, "prompt_token_count", "std_dev"),
            output_tokens=_tokens(file, "output_token_count", "mean") or None,
            output_std=_tokens(file, "output_token_count", "std_dev"),
        )
    )


def _load(file: ResultFile) -> tuple[float | None, float | None]:
    """Requests a second that were sent; None = a loop of so many clients, None = as many as it takes."""
    where = next((each for each in _STRATEGIES if isinstance(file.at(each, "strategy"), dict)), None)
    kind = None if where is None else file.text(where, "strategy", "type_") or file.text(where, "strategy", "kind")
    if where is None or kind is None:
        file.reject("config.strategy is missing, so how requests were sent is not known")
    match kind:
        case "constant" | "poisson":
            return file.needed(where, "strategy", "rate"), None
        case "synchronous":
            return None, 1.0
        case "concurrent":
            return None, file.number(where, "strategy", "streams") or file.number(where, "strategy", "max_concurrency")
        case "throughput":
            return None, file.number(where, "strategy", "max_concurrency")
        case _:
            return file.reject(f"requests were sent by strategy {kind}, which is no steady load: run a sweep, or rates one by one")


def _spread(file: ResultFile, metric: str, *, scale: float, first_too: bool = False) -> Spread:
    """Of the requests that succeeded. first_too: the metric counts the first token, whose inter-token twin does not."""
    name = "inter_token_latency_ms" if first_too and file.number("metrics", "inter_token_latency_ms", "successful", "mean") else metric
    path = ("metrics", name, "successful")

    def told(*key: str) -> float | None:
        value = file.number(*path, *key)
        return None if value is None else value * scale

    mean_s, p95_s = told("mean"), told("percentiles", "p95")
    if mean_s and p95_s is None:
        file.reject(f"metrics.{name}.successful.percentiles.p95 is missing: give the whole benchmarks.json, not an excerpt")
    if not mean_s:  # nothing was streamed
        return Spread()
    return Spread(mean_s=mean_s, p50_s=told("median"), p95_s=p95_s, p99_s=told("percentiles", "p99"))


def _tokens(file: ResultFile, metric: str, statistic: str) -> float | None:
    return file.number("metrics", metric, "successful", statistic)


def _setup(file: ResultFile, benchmark: ResultFile) -> Setup:
    """The model stands in the report's own configuration (seen in 0.8), in its arguments, or in a benchmark's, by age."""
    in_report = file.text("config", "spec", "backend", "model") or file.text("config", "model") or file.text("args", "model")
    return Setup(model=in_report or benchmark.text("config", "backend", "model"))
