"""inference-perf: one stage_N_lifecycle_metrics.json a load step; the summary beside them adds up all steps and is left out.

Latencies are in seconds, rates a second. The spread of token lengths is told by percentiles alone, so that memory is not judged.
"""

from collections.abc import Sequence

from connectors.loadtests.result_file import Mix, ResultFile, names
from forecaster.profile import Origin, Point, Profile, Spread
from forecaster.units import MINUTE_S

NAME = "inference-perf"
_LATENCIES = ("successes", "latency")


def claims(file: ResultFile) -> bool:
    """Whether a file is of this format."""
    return isinstance(file.at("load_summary"), dict) and "successes" in file.data


def read(files: Sequence[ResultFile], _: Mix | None) -> Profile:
    """A stage a point. Raises LoadTestRejected."""
    stages = [file for file in files if _is_stage(file)]
    if not stages:
        files[0].reject("a summary adds up every stage and shows no knee: give the stage_N_lifecycle_metrics.json files, or their folder")
    return Profile(origin=Origin.FILE, source=f"{NAME} {names(stages)}", points=tuple(_point(stage) for stage in stages))


def _is_stage(file: ResultFile) -> bool:
    return file.number("load_summary", "requested_rate") is not None or file.number("load_summary", "concurrency") is not None


def _point(file: ResultFile) -> Point:
    good, bad = file.needed("successes", "count"), file.needed("failures", "count")
    if good < 1:
        file.reject("no request succeeded, which tells nothing of its load: leave the stage out, and look why they failed")
    clients = file.number("load_summary", "concurrency")
    offered_rps = None if clients else file.needed("load_summary", "requested_rate")
    return file.step(
        lambda: Point(
            offered_rpm=None if offered_rps is None else offered_rps * MINUTE_S,
            clients=clients,
            achieved_rpm=file.needed("successes", "throughput", "requests_per_sec") * MINUTE_S,
            ttft=_spread(file, "time_to_first_token"),
            tpot=_spread(file, "time_per_output_token"),
            e2e=_spread(file, "request_latency"),
            error_ratio=bad / (good + bad),
            input_tokens=file.number("successes", "prompt_len", "mean") or None,
            output_tokens=file.number("successes", "output_len", "mean") or None,
        )
    )


def _spread(file: ResultFile, metric: str) -> Spread:
    if file.at(*_LATENCIES, metric) is None:
        return Spread()
    p95_s = file.number(*_LATENCIES, metric, "p95")
    if p95_s is None:
        file.reject(f"successes.latency.{metric}.p95 is missing: list 95 under report.request_lifecycle.percentiles")
    told = (file.number(*_LATENCIES, metric, statistic) for statistic in ("mean", "median", "p99"))
    mean_s, p50_s, p99_s = told
    return Spread(mean_s=mean_s, p50_s=p50_s, p95_s=p95_s, p99_s=p99_s)
