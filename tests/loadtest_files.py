"""Result files of load tests in the shape of each tool, written from one table of load steps."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

MEASURED = datetime(2026, 2, 20, 9, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One load step, in requests a second and seconds; percentiles follow from the means: P50 0.9, P95 2, P99 2.5 times."""

    rps: float
    served_rps: float
    ttft_s: float
    e2e_s: float
    failed: int = 0
    requests: int = 1_000

    @property
    def tpot_s(self) -> float:
        return (self.e2e_s - self.ttft_s) / 199


STEPS = (
    Step(rps=5, served_rps=5, ttft_s=0.2, e2e_s=4),
    Step(rps=8, served_rps=8, ttft_s=0.25, e2e_s=4.2),
    Step(rps=10, served_rps=9.9, ttft_s=0.4, e2e_s=4.5),
    Step(rps=11, served_rps=10.8, ttft_s=0.8, e2e_s=6),
)
"""Within P95 TTFT 1 s up to 10 requests a second, of which 9.9 are served: 594 rpm, 44.55 in flight, 1,980 generated tokens a second."""


def write_vllm(folder: Path, steps: Sequence[Step] = STEPS, **changes: Any) -> list[Path]:
    """One file a run."""
    return [_write(folder / f"vllm-{i}.json", vllm_run(step) | changes) for i, step in enumerate(steps)]


def vllm_run(step: Step) -> dict[str, Any]:
    metrics = {"ttft": step.ttft_s, "tpot": step.tpot_s, "itl": step.tpot_s, "e2el": step.e2e_s}
    latencies = {
        f"{statistic}_{name}_ms": 1e3 * factor * mean_s
        for name, mean_s in metrics.items()
        for statistic, factor in (("mean", 1), ("median", 0.9), ("p50", 0.9), ("p95", 2), ("p99", 2.5))
    }
    return {
        "date": MEASURED.strftime("%Y%m%d-%H%M%S"),
        "backend": "openai",
        "model_id": "llama-8b",
        "num_prompts": step.requests + step.failed,
        "request_rate": step.rps,
        "burstiness": 1.0,
        "max_concurrency": None,
        "duration": step.requests / step.served_rps,
        "completed": step.requests,
        "failed": step.failed,
        "total_input_tokens": 500 * step.requests,
        "total_output_tokens": 200 * step.requests,
        "request_throughput": step.served_rps,
        "output_throughput": 200 * step.served_rps,
        "input_lens": [400, 600] * 5,
        "output_lens": [150, 250] * 5,
        **latencies,
    }


def write_guidellm(folder: Path, steps: Sequence[Step] = STEPS, version: int | None = 2) -> list[Path]:
    """One report of all benchmarks; version 2 as 0.8.1 writes it."""
    report: dict[str, Any] = {"benchmarks": [_guidellm_benchmark(step) for step in steps], "args": {"model": "llama-8b"}}
    if version is not None:
        report["metadata"] = {"version": version, "guidellm_version": "0.8.1"}
    if version == 2:
        report["config"] = {"spec": {"backend": {"kind": "openai_http", "model": "llama-8b"}}}
        del report["args"]
    return [_write(folder / "benchmarks.json", report)]


def _guidellm_benchmark(step: Step) -> dict[str, Any]:
    def spread(mean: float, std: float = 0.0) -> dict[str, Any]:
        percentiles = {"p50": 0.9 * mean, "p90": 1.8 * mean, "p95": 2 * mean, "p99": 2.5 * mean, "p999": 3 * mean}
        good = {"mean": mean, "median": 0.9 * mean, "std_dev": std, "min": 0, "max": 3 * mean, "count": 10, "percentiles": percentiles}
        return {"successful": good, "errored": {"mean": 0.0, "percentiles": {}}, "total": good}

    return {
        "config": {"strategy": {"type_": "constant", "rate": step.rps}},
        "end_time": MEASURED.timestamp(),
        "metrics": {
            "request_totals": {
                "successful": step.requests,
                "incomplete": 3,
                "errored": step.failed,
                "total": step.requests + 3 + step.failed,
            },
            "requests_per_second": spread(step.served_rps),
            "request_concurrency": spread(step.served_rps * step.e2e_s),
            "request_latency": spread(step.e2e_s),
            "time_to_first_token_ms": spread(1e3 * step.ttft_s),
            "time_per_output_token_ms": spread(1e3 * step.e2e_s / 200),
            "inter_token_latency_ms": spread(1e3 * step.tpot_s),
            "prompt_token_count": spread(500, 100),
            "output_token_count": spread(200, 50),
        },
    }


def write_aiperf(folder: Path, steps: Sequence[Step] = STEPS, **changes: Any) -> list[Path]:
    """One folder a run, each with a file of the same name."""
    return [_write(folder / f"run-{i}" / "profile_export_aiperf.json", _aiperf_run(step) | changes) for i, step in enumerate(steps)]


def _aiperf_run(step: Step) -> dict[str, Any]:
    def spread(unit: str, mean: float, std: float = 0.0) -> dict[str, Any]:
        return {"unit": unit, "avg": mean, "p50": 0.9 * mean, "p90": 1.8 * mean, "p95": 2 * mean, "p99": 2.5 * mean, "std": std}

    errors = {"error_request_count": {"unit": "requests", "avg": float(step.failed)}} if step.failed else {}
    return {
        "schema_version": "1.3",
        "aiperf_version": "0.8.0",
        "was_cancelled": False,
        "input_config": {"loadgen": {"request_rate": step.rps}, "endpoint": {"model_names": ["llama-8b"]}},
        "start_time": MEASURED.replace(tzinfo=None).isoformat(),
        "end_time": MEASURED.replace(tzinfo=None).isoformat(),
        "request_throughput": {"unit": "requests/sec", "avg": step.served_rps},
        "request_count": {"unit": "requests", "avg": float(step.requests)},
        "request_latency": spread("ms", 1e3 * step.e2e_s),
        "time_to_first_token": spread("ms", 1e3 * step.ttft_s),
        "inter_token_latency": spread("ms", 1e3 * step.tpot_s),
        "input_sequence_length": spread("tokens", 500, 100),
        "output_sequence_length": spread("tokens", 200, 50),
        **errors,
    }


def write_inference_perf(folder: Path, steps: Sequence[Step] = STEPS) -> list[Path]:
    """One file a stage, and the summary of all."""
    stages = [_write(folder / f"stage_{i}_lifecycle_metrics.json", _stage(step)) for i, step in enumerate(steps)]
    summary = _stage(steps[-1])
    del summary["load_summary"]["requested_rate"]
    return [*stages, _write(folder / "summary_lifecycle_metrics.json", summary)]


def _stage(step: Step) -> dict[str, Any]:
    def spread(mean: float) -> dict[str, float]:
        return {"mean": mean, "min": 0, "median": 0.9 * mean, "p90": 1.8 * mean, "p95": 2 * mean, "p99": 2.5 * mean, "max": 3 * mean}

    return {
        "load_summary": {"count": step.requests, "requested_rate": step.rps, "achieved_rate": step.rps, "send_duration": 100.0},
        "successes": {
            "count": step.requests,
            "latency": {
                "request_latency": spread(step.e2e_s),
                "time_to_first_token": spread(step.ttft_s),
                "time_per_output_token": spread(step.tpot_s),
            },
            "throughput": {"requests_per_sec": step.served_rps, "output_tokens_per_sec": 200 * step.served_rps},
            "prompt_len": spread(500),
            "output_len": spread(200),
        },
        "failures": {"count": step.failed, "request_latency": None, "prompt_len": None},
    }


def write_llmperf(folder: Path, steps: Sequence[Step] = STEPS, **changes: Any) -> list[Path]:
    """One summary a run of a closed loop, whose clients are the requests in flight."""
    return [_write(folder / f"llama_{i}_summary.json", _llmperf_run(step) | changes) for i, step in enumerate(steps)]


def _llmperf_run(step: Step) -> dict[str, Any]:
    def flat(name: str, mean: float, std: float = 0.0) -> dict[str, float]:
        quantiles = {"p25": 0.5, "p50": 0.9, "p75": 1.5, "p90": 1.8, "p95": 2.0, "p99": 2.5}
        told = {f"results_{name}_quantiles_{key}": factor * mean for key, factor in quantiles.items()}
        return {**told, f"results_{name}_mean": mean, f"results_{name}_stddev": std}

    return {
        "version": "2023-08-31",
        "name": "summary",
        "model": "llama-8b",
        "timestamp": int(MEASURED.timestamp()),
        "num_concurrent_requests": round(step.served_rps * step.e2e_s) + 1,
        **flat("ttft_s", step.ttft_s),
        **flat("inter_token_latency_s", step.tpot_s),
        **flat("end_to_end_latency_s", step.e2e_s),
        **flat("number_input_tokens", 500, 100),
        **flat("number_output_tokens", 200, 50),
        "results_error_rate": step.failed / (step.requests + step.failed),
        "results_mean_output_throughput_token_per_s": 200 * step.served_rps,
        "results_num_completed_requests_per_min": 60 * step.served_rps,
    }


def write_aibrix(folder: Path, **changes: Any) -> list[Path]:
    """A grid whose cell for up to 512 input and 256 output tokens is 9.9 requests a second."""
    grid = {
        "gpu": "h100",
        "cost": 1.0,
        "tputs": [[20.0, 15.0, 8.0], [12.0, 9.9, 0.0]],
        "indexes": [[128, 256], [256, 512, 1024]],
        "created": MEASURED.timestamp(),
        "e2e": [[2.0, 2.2, 3.0], [4.2, 4.5, 9.0]],
        "slos": {"percentile": 99, "e2e": 10.0},
    }
    return [_write(folder / "h100.json", grid | changes)]


def _write(path: Path, data: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data))
    return path
