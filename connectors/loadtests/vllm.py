"""`vllm bench serve --save-result`: one JSON object a run; several runs at rising rates make the sweep.

Latencies are in milliseconds, rates a second. Percentiles stand there only if --metric-percentiles asks for them, end-to-end latency
only if --percentile-metrics does, token lengths of each request only with --save-detailed.
"""

import math
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from connectors.loadtests.result_file import Mix, ResultFile, finite, names, newest, seconds
from forecaster.profile import Origin, Point, Profile, Setup, Spread
from forecaster.units import MINUTE_S

NAME = "vLLM bench serve"
_RUN_WITH = "run with --percentile-metrics ttft,tpot,itl,e2el --metric-percentiles 50,95,99"
_RATE_TOLERANCE = 0.1
_DATE = "%Y%m%d-%H%M%S"
_METADATA = ("engine", "engine_version", "precision", "hardware")


def claims(file: ResultFile) -> bool:
    """Whether a file is of this format."""
    return {"duration", "completed", "request_throughput"} <= file.data.keys()


def read(files: Sequence[ResultFile], _: Mix | None) -> Profile:
    """A run a point. Raises LoadTestRejected."""
    models = {file.text("model_id") for file in files}
    if len(models) > 1:
        files[-1].reject(f"the runs are of several models ({', '.join(sorted(str(model) for model in models))}): import one at a time")
    return Profile(
        origin=Origin.FILE,
        source=f"{NAME} {names(files)}",
        points=tuple(_point(file) for file in files),
        setup=_setup(files[-1]),
        measured_at=newest(_date(file) for file in files),
    )


def _point(file: ResultFile) -> Point:
    completed = file.needed("completed")
    if completed < 1:
        file.reject("no request was completed, which tells nothing of its load: leave the run out, and look why they failed")
    if file.at("ramp_up_strategy") is not None:
        file.reject("the rate was ramped up within the run, which mixes loads: run once for each --request-rate")
    offered_rps, clients = _load(file)
    failed = file.number("failed")
    sent = completed + failed if failed is not None else file.number("num_prompts")
    return file.step(
        lambda: Point(
            offered_rpm=None if offered_rps is None else offered_rps * MINUTE_S,
            clients=clients,
            achieved_rpm=_throughput_rps(file, completed) * MINUTE_S,
            ttft=_spread(file, "ttft"),
            tpot=_spread(file, "tpot"),
            e2e=_spread(file, "e2el"),
            error_ratio=None if not sent else max(0.0, 1 - completed / sent),
            input_tokens=(file.number("total_input_tokens") or 0.0) / completed or None,
            input_std=_std(file, "input_lens"),
            output_tokens=(file.number("total_output_tokens") or 0.0) / completed or None,
            output_std=_std(file, "output_lens"),
        )
    )


def _load(file: ResultFile) -> tuple[float | None, float | None]:
    """Requests a second that were sent; None = a closed loop of so many clients."""
    clients = file.number("max_concurrency")
    if file.at("request_rate") not in (None, "inf", math.inf):
        return file.needed("request_rate"), clients
    if clients is None:
        file.reject("every request was sent at once, which is no load: run with --request-rate, or --max-concurrency")
    return None, clients


def _throughput_rps(file: ResultFile, completed: float) -> float:
    """As told, where it is the completed ones over the duration."""
    told, counted = file.needed("request_throughput"), completed / max(file.needed("duration"), 1e-9)
    if abs(told - counted) > _RATE_TOLERANCE * counted:
        file.reject(f"request_throughput is {told:g}, and completed over duration {counted:g} a second: one is in another unit")
    return told


def _spread(file: ResultFile, metric: str) -> Spread:
    mean_ms, p95_ms = file.number(f"mean_{metric}_ms"), file.number(f"p95_{metric}_ms")
    if mean_ms is not None and p95_ms is None:
        file.reject(f"p95_{metric}_ms is missing: {_RUN_WITH}")
    p50_ms = file.number(f"p50_{metric}_ms")
    return Spread(
        mean_s=seconds(mean_ms),
        p50_s=seconds(p50_ms if p50_ms is not None else file.number(f"median_{metric}_ms")),
        p95_s=seconds(p95_ms),
        p99_s=seconds(file.number(f"p99_{metric}_ms")),
    )


def _std(file: ResultFile, name: str) -> float | None:
    """Over the lengths of requests that had an answer; None where they were not saved."""
    lengths, answered = file.at(name), file.at("output_lens")
    if not isinstance(lengths, list) or not isinstance(answered, list) or len(lengths) != len(answered):
        return None
    told = [length for each, output in zip(lengths, answered, strict=True) if output and (length := finite(each)) is not None]
    return float(np.std(told)) if told else None


def _setup(file: ResultFile) -> Setup:
    """The model, and what --metadata KEY=VALUE said under our names."""
    engine, version, precision, hardware = (file.text(name) for name in _METADATA)
    return Setup(engine=engine, engine_version=version, model=file.text("model_id"), precision=precision, hardware=hardware)


def _date(file: ResultFile) -> datetime | None:
    """In UTC: the file says no zone, and hours make no difference to an age in days."""
    try:
        return datetime.strptime(file.text("date") or "", _DATE).replace(tzinfo=UTC)
    except ValueError:
        return None
