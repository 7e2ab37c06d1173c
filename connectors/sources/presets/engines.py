"""Serving engines: what they say of requests that reached them.

Names were read in the sources: vllm/v1/metrics/loggers.py, sglang/srt/metrics/collector.py, tensorrt_llm/metrics/collector.py, Triton's
docs/user_guide/metrics.md, the metrics references of TGI, NIM and Ray Serve. Concurrency is running and waiting together, since what runs
ends with the fleet's capacity; tokens are generated ones.
"""

from collections.abc import Mapping

from connectors.sources.presets.parts import latencies, mean, or_zero, quantile, share
from connectors.sources.presets.preset import Lacking, Preset, Renamed, Role
from connectors.sources.presets.quantity import Counted, Quantity

_SERVED = "counts what was served: put a gateway's preset before it, so that a saturated fleet does not hide its demand"


def _in_vllm_words(prefix: str) -> Mapping[Quantity, str]:
    """What vLLM and those that took over its names have in common."""
    running, waiting = f"{prefix}num_requests_running{{}}", f"{prefix}num_requests_waiting{{}}"
    return {
        Quantity.CONCURRENCY: f"sum({running}) + sum({waiting})",
        Quantity.TOKENS: f"sum(rate({prefix}generation_tokens_total{{}}[2m]))",
        Quantity.QUEUE_DEPTH: f"sum({waiting})",
        **latencies(f"{prefix}e2e_request_latency_seconds"),
        Quantity.TTFT_P95: quantile(0.95, f"{prefix}time_to_first_token_seconds"),
        Quantity.BATCH_SIZE: f"avg({running})",
    }


VLLM = Preset(
    name="vllm",
    title="vLLM",
    role=Role.ENGINE,
    presence="vllm:num_requests_running{}",
    identity=("model_name",),
    labels=("engine",),
    counted=Counted.COMPLETIONS,
    metrics={
        Quantity.RPM: "sum(rate(vllm:request_success_total{}[2m]))",
        **_in_vllm_words("vllm:"),
        Quantity.INPUT_LENGTH: mean("vllm:request_prompt_tokens"),
        Quantity.OUTPUT_LENGTH: mean("vllm:request_generation_tokens"),
        Quantity.PREFIX_HITS: "sum(rate(vllm:prefix_cache_hits_total{}[2m])) / sum(rate(vllm:prefix_cache_queries_total{}[2m]))",
        Quantity.REFUSED: "sum(rate(vllm:admission_rejections_total{}[2m]))",
        Quantity.QUEUE_WAIT: mean("vllm:request_queue_time_seconds"),
        Quantity.ERROR_RATE: 'sum(rate(vllm:request_success_total{finished_reason="error"}[2m]))'
        " / sum(rate(vllm:request_success_total{}[2m]))",
        Quantity.KV_CACHE: "avg(vllm:kv_cache_usage_perc{})",
    },
    renamed=(
        Renamed(new="vllm:kv_cache_usage_perc", old="vllm:gpu_cache_usage_perc", when="before 0.9"),
        Renamed(new="vllm:prefix_cache_", old="vllm:gpu_prefix_cache_", when="before 0.9"),
        Renamed(new="vllm:", old="vllm_", when="where a collector writes no colon"),
    ),
    notes=(_SERVED, "refused and error rate need a version that counts them"),
)
SGLANG = Preset(
    name="sglang",
    title="SGLang with --enable-metrics",
    role=Role.ENGINE,
    presence="sglang:num_running_reqs{}",
    identity=("model_name",),
    labels=("engine_type", "dp_rank"),
    counted=Counted.COMPLETIONS,
    metrics={
        Quantity.RPM: "sum(rate(sglang:num_requests_total{}[2m]))",
        Quantity.CONCURRENCY: "sum(sglang:num_running_reqs{}) + sum(sglang:num_queue_reqs{})",
        Quantity.TOKENS: "sum(rate(sglang:generation_tokens_total{}[2m]))",
        Quantity.INPUT_LENGTH: "sum(rate(sglang:prompt_tokens_total{}[2m])) / sum(rate(sglang:num_requests_total{}[2m]))",
        Quantity.OUTPUT_LENGTH: "sum(rate(sglang:generation_tokens_total{}[2m])) / sum(rate(sglang:num_requests_total{}[2m]))",
        Quantity.PREFIX_HITS: "sum(rate(sglang:cached_tokens_total{}[2m])) / sum(rate(sglang:prompt_tokens_total{}[2m]))",
        Quantity.QUEUE_DEPTH: "sum(sglang:num_queue_reqs{})",
        Quantity.QUEUE_WAIT: mean("sglang:queue_time_seconds"),
        **latencies("sglang:e2e_request_latency_seconds"),
        Quantity.TTFT_P95: quantile(0.95, "sglang:time_to_first_token_seconds"),
        Quantity.BATCH_SIZE: "avg(sglang:num_running_reqs{})",
        Quantity.KV_CACHE: "avg(sglang:token_usage{})",
    },
    renamed=(Renamed(new="sglang:", old="sglang_", when="where a collector writes no colon"),),
    copies=("tp_rank", "pp_rank", "moe_ep_rank"),  # with --enable-metrics-for-all-schedulers every rank tells the same
    notes=(_SERVED,),
)
TGI = Preset(
    name="tgi",
    title="Text Generation Inference",
    role=Role.ENGINE,
    presence="tgi_queue_size{}",
    identity=("service",),
    counted=Counted.ARRIVALS,
    metrics={
        Quantity.RPM: "sum(rate(tgi_request_count{}[2m]))",
        Quantity.CONCURRENCY: "sum(tgi_batch_current_size{}) + sum(tgi_queue_size{})",
        Quantity.TOKENS: "sum(rate(tgi_request_generated_tokens_sum{}[2m]))",
        Quantity.INPUT_LENGTH: mean("tgi_request_input_length"),
        Quantity.OUTPUT_LENGTH: mean("tgi_request_generated_tokens"),
        Quantity.QUEUE_DEPTH: "sum(tgi_queue_size{})",
        Quantity.REFUSED: or_zero('tgi_request_failure{err="overloaded"}', "tgi_request_count{}"),
        Quantity.QUEUE_WAIT: mean("tgi_request_queue_duration"),
        **latencies("tgi_request_duration"),
        Quantity.ERROR_RATE: share("tgi_request_failure{}", "tgi_request_count{}"),
        Quantity.BATCH_SIZE: "avg(tgi_batch_current_size{})",
    },
    renamed=(
        Renamed(new="tgi_request_count", old="tgi_request_count_total", when="where a collector writes OpenMetrics"),
        Renamed(new="tgi_request_failure", old="tgi_request_failure_total", when="where a collector writes OpenMetrics"),
    ),
    notes=("it has no label for the model: match what scraping adds, such as namespace and service",),
)
_TRITON_DONE = (
    "sum(rate(nv_inference_request_success{}[2m]))"
    " + (sum(rate(nv_inference_request_failure{}[2m])) or 0 * sum(rate(nv_inference_request_success{}[2m])))"
)
_TRITON_QUANTILES = ((Quantity.LATENCY_P50, "0.5"), (Quantity.LATENCY_P95, "0.95"), (Quantity.LATENCY_P99, "0.99"))
TRITON = Preset(
    name="triton",
    title="Triton Inference Server",
    role=Role.ENGINE,
    presence="nv_inference_request_success{}",
    identity=("model",),
    labels=("version",),
    counted=Counted.COMPLETIONS,
    metrics={
        Quantity.RPM: _TRITON_DONE,
        Quantity.CONCURRENCY: "sum(rate(nv_inference_request_duration_us{}[2m])) / 1000000",
        Quantity.QUEUE_DEPTH: "sum(nv_inference_pending_request_count{})",
        Quantity.QUEUE_WAIT: "sum(rate(nv_inference_queue_duration_us{}[2m])) / sum(rate(nv_inference_request_success{}[2m])) / 1000000",
        **{q: f'max(nv_inference_request_summary_us{{quantile="{level}"}}) / 1000000' for q, level in _TRITON_QUANTILES},
        Quantity.ERROR_RATE: "(sum(rate(nv_inference_request_failure{}[2m])) or 0 * sum(rate(nv_inference_request_success{}[2m])))"
        f" / ({_TRITON_DONE})",
        Quantity.BATCH_SIZE: "sum(rate(nv_inference_count{}[2m])) / sum(rate(nv_inference_exec_count{}[2m]))",
        Quantity.GPU: "avg(nv_gpu_utilization{})",
        Quantity.GPU_MEMORY: "sum(nv_gpu_memory_used_bytes{}) / sum(nv_gpu_memory_total_bytes{})",
    },
    lacking=(Lacking(metric="nv_gpu_", labels=("model", "version")),),
    notes=(
        _SERVED,
        "concurrency is the time that ended requests took (Little's law)",
        "latency is the slowest replica's, and needs --metrics-config summary_latencies=true",
    ),
)
TRTLLM = Preset(
    name="trtllm",
    title="TensorRT-LLM (trtllm-serve, also under Dynamo)",
    role=Role.ENGINE,
    presence="trtllm_num_requests_running{}",
    identity=("model_name",),
    labels=("engine_type",),
    counted=Counted.COMPLETIONS,
    metrics={
        Quantity.RPM: "sum(rate(trtllm_request_success_total{}[2m]))",
        **_in_vllm_words("trtllm_"),
        Quantity.INPUT_LENGTH: "sum(rate(trtllm_prompt_tokens_total{}[2m])) / sum(rate(trtllm_request_success_total{}[2m]))",
        Quantity.OUTPUT_LENGTH: "sum(rate(trtllm_generation_tokens_total{}[2m])) / sum(rate(trtllm_request_success_total{}[2m]))",
        Quantity.PREFIX_HITS: "sum(rate(trtllm_kv_cache_reused_blocks_total{}[2m]))"
        " / (sum(rate(trtllm_kv_cache_reused_blocks_total{}[2m])) + sum(rate(trtllm_kv_cache_missed_blocks_total{}[2m])))",
        Quantity.QUEUE_WAIT: mean("trtllm_request_queue_time_seconds"),
        Quantity.ERROR_RATE: "sum(rate(trtllm_request_error_total{}[2m]))"
        " / (sum(rate(trtllm_request_error_total{}[2m])) + sum(rate(trtllm_request_success_total{}[2m])))",
        Quantity.KV_CACHE: "avg(trtllm_kv_cache_utilization{})",
    },
    renamed=(Renamed(new="trtllm_", old="trtllm:", when="under Dynamo up to 0.7"),),
    notes=(_SERVED, "before 1.2 it tells requests and latencies only"),
)
NIM = Preset(
    name="nim",
    title="NVIDIA NIM for LLMs",
    role=Role.ENGINE,
    presence="num_requests_running{}",
    identity=("model_name",),
    counted=Counted.COMPLETIONS,
    metrics={
        Quantity.RPM: "sum(rate(request_success_total{}[2m]))"
        " + (sum(rate(request_failure_total{}[2m])) or 0 * sum(rate(request_success_total{}[2m])))",
        **_in_vllm_words(""),
        Quantity.INPUT_LENGTH: mean("request_prompt_tokens"),
        Quantity.OUTPUT_LENGTH: mean("request_generation_tokens"),
        Quantity.ERROR_RATE: "(sum(rate(request_failure_total{}[2m])) or 0 * sum(rate(request_success_total{}[2m])))"
        " / (sum(rate(request_success_total{}[2m]))"
        " + (sum(rate(request_failure_total{}[2m])) or 0 * sum(rate(request_success_total{}[2m]))))",
        Quantity.KV_CACHE: "avg(gpu_cache_usage_perc{})",
    },
    notes=(_SERVED, "its names have no prefix: match the namespace too, since other programs may use them"),
)
RAY_SERVE = Preset(
    name="ray-serve",
    title="Ray Serve",
    role=Role.ENGINE,
    presence="ray_serve_deployment_request_counter_total{}",
    identity=("application", "deployment"),
    labels=("route",),
    counted=Counted.ARRIVALS,
    metrics={
        Quantity.RPM: "sum(rate(ray_serve_num_router_requests_total{}[2m]))",
        Quantity.CONCURRENCY: "sum(ray_serve_replica_processing_queries{}) + sum(ray_serve_deployment_queued_queries{})",
        Quantity.QUEUE_DEPTH: "sum(ray_serve_deployment_queued_queries{})",
        **latencies("ray_serve_deployment_processing_latency_ms", 1000),
        Quantity.ERROR_RATE: share("ray_serve_deployment_error_counter_total{}", "ray_serve_deployment_request_counter_total{}"),
        Quantity.BATCH_SIZE: "avg(ray_serve_replica_processing_queries{})",
    },
    renamed=(Renamed(new="*_total", old="*", when="in versions that write counters without a suffix"),),
    lacking=(Lacking(metric="ray_serve_replica_", labels=("route",)), Lacking(metric="ray_serve_deployment_queued", labels=("route",))),
    notes=(
        "a request through several deployments is counted at each: match one deployment",
        "what its replicas have in hand can stay above 0 after streams: rpm is unaffected",
    ),
)
