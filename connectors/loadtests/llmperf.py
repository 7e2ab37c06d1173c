"""LLMPerf's *_summary.json: one run of a closed loop; several runs with rising num_concurrent_requests make the sweep.

Keys are flattened with underscores. Latencies are in seconds, the rate is a MINUTE, token throughput a second.
"""

from collections.abc import Sequence

from connectors.loadtests.result_file import Mix, ResultFile, names, newest
from forecaster.profile import Origin, Point, Profile, Setup, Spread
from forecaster.units import MINUTE_S

NAME = "LLMPerf"
_VERSION = "2023-08-31"
_RATE = "results_num_completed_requests_per_min"
_UNITS_APART = 3.0


def claims(file: ResultFile) -> bool:
    """Whether a file is of this format."""
    return _RATE in file.data


def read(files: Sequence[ResultFile], _: Mix | None) -> Profile:
    """A run a point. Raises LoadTestRejected."""
    return Profile(
        origin=Origin.FILE,
        source=f"{NAME} {names(files)}",
        points=tuple(_point(file) for file in files),
        setup=Setup(model=files[-1].text("model")),
        measured_at=newest(file.instant(file.number("timestamp")) for file in files),
    )


def _point(file: ResultFile) -> Point:
    version = file.text("version")
    if version != _VERSION:
        file.reject(f"a summary of version {version or 'none'}, and {_VERSION} is known: upgrade Forecaster")
    rate_rpm, output = file.needed(_RATE), file.number("results_number_output_tokens_mean")
    _check_rate(file, rate_rpm, output)
    return file.step(
        lambda: Point(
            achieved_rpm=rate_rpm,
            clients=file.needed("num_concurrent_requests"),
            ttft=_spread(file, "ttft_s"),
            tpot=_spread(file, "inter_token_latency_s"),
            e2e=_spread(file, "end_to_end_latency_s"),
            error_ratio=file.number("results_error_rate"),
            input_tokens=file.number("results_number_input_tokens_mean") or None,
            input_std=file.number("results_number_input_tokens_stddev"),
            output_tokens=output or None,
            output_std=file.number("results_number_output_tokens_stddev"),
        )
    )


def _check_rate(file: ResultFile, rate_rpm: float, output: float | None) -> None:
    """The rate against the tokens that it gave."""
    tokens_s = file.number("results_mean_output_throughput_token_per_s")
    if tokens_s and output and not 1 / _UNITS_APART <= rate_rpm * output / MINUTE_S / tokens_s <= _UNITS_APART:
        told = f"{rate_rpm:g} requests a minute of {output:g} tokens do not fit {tokens_s:g} tokens a second"
        file.reject(f"{told}: a rate a second is taken for one a minute")


def _spread(file: ResultFile, metric: str) -> Spread:
    p95_s = file.number(f"results_{metric}_quantiles_p95")
    if p95_s is None:
        file.reject(f"results_{metric}_quantiles_p95 is missing: give the whole *_summary.json")
    return Spread(
        mean_s=file.number(f"results_{metric}_mean"),
        p50_s=file.number(f"results_{metric}_quantiles_p50"),
        p95_s=p95_s,
        p99_s=file.number(f"results_{metric}_quantiles_p99"),
    )
