"""What each engine, gateway and queue exposes, in its documented names: two replicas of ours, another model and another tenant.

The replicas weigh 1 and 2, so that what is added up comes to three times the number written here; what is not ours weighs 100 and 1,000.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import repeat

from tests.prometheus import counter, gauge

START = datetime(2026, 3, 2, 8, tzinfo=UTC)
MINUTES = 10
SECOND = 60
"""A minute's count for one a second."""

Labels = Mapping[str, str]


def count(name: str, a_minute: float, labels: Labels, **own: str) -> str:
    """A counter that grows evenly."""
    return counter(name, START, repeat(a_minute, MINUTES), labels=_spelled({**labels, **own}))


def level(name: str, value: float, labels: Labels, **own: str) -> str:
    """A gauge that stands still."""
    return gauge(name, START, repeat(value, MINUTES), labels=_spelled({**labels, **own}))


def histogram(name: str, a_minute: float, mean: float, between: tuple[float, float], labels: Labels, **own: str) -> str:
    """A histogram whose observations all lie in one bucket."""
    low, high = between
    buckets = ((f"{low:g}", 0.0), (f"{high:g}", a_minute), ("+Inf", a_minute))
    told = "".join(count(f"{name}_bucket", value, labels, le=le, **own) for le, value in buckets)
    return told + count(f"{name}_sum", a_minute * mean, labels, **own) + count(f"{name}_count", a_minute, labels, **own)


def everything() -> str:
    """All of it, in one store as teams share one."""
    return "".join(
        text
        for written in (vllm, sglang, tgi, triton, trtllm, nim, ray_serve, llm_d, envoy, istio, nginx_ingress, litellm, kong, queues, dcgm)
        for text in written()
    )


def replicas(of: str, label: str, ours: str = "llama", theirs: str = "mistral") -> Iterator[tuple[dict[str, str], int]]:
    """Labels and weight of ours twice, of another model, and of the same model of another tenant."""
    for pod, name, namespace, weight in (
        (f"{of}-a", ours, "inference", 1),
        (f"{of}-b", ours, "inference", 2),
        (f"{of}-c", theirs, "inference", 100),
        (f"{of}-d", ours, "research", 1000),
    ):
        yield {label: name, "namespace": namespace, "pod": pod, "instance": f"{pod}:8000", "job": of}, weight


def vllm() -> Iterator[str]:
    """Replica a is of a version that tells both names of the cache, b of one that tells the old name only."""
    for labels, w in replicas("vllm", "model_name"):
        at = {**labels, "engine": "0"}
        yield count("vllm:request_success_total", 54 * w, at, finished_reason="stop")
        yield count("vllm:request_success_total", 6 * w, at, finished_reason="error")
        yield level("vllm:num_requests_running", 4 * w, at)
        yield level("vllm:num_requests_waiting", 2 * w, at)
        yield count("vllm:generation_tokens_total", 100 * SECOND * w, at)
        yield histogram("vllm:request_prompt_tokens", 60 * w, 500, (200, 1000), at)
        yield histogram("vllm:request_generation_tokens", 60 * w, 100, (50, 200), at)
        cache = "vllm:gpu_prefix_cache" if labels["pod"] == "vllm-b" else "vllm:prefix_cache"
        yield count(f"{cache}_hits_total", (30 if w < 100 else 0) * w, at)
        yield count(f"{cache}_queries_total", 120 * w, at)
        yield count("vllm:admission_rejections_total", 3 * w, at, reason="max_num_queued_reqs")
        yield histogram("vllm:request_queue_time_seconds", 60 * w, 0.2, (0, 0.3), at)
        yield histogram("vllm:e2e_request_latency_seconds", 60 * w, 0.8, (0.5, 1) if w < 100 else (10, 20), at)
        yield histogram("vllm:time_to_first_token_seconds", 60 * w, 0.15, (0.1, 0.2) if w < 100 else (1, 2), at)
        yield level("vllm:gpu_cache_usage_perc", 0.2 + 0.2 * min(w, 3), at)
        if labels["pod"] != "vllm-b":
            yield level("vllm:kv_cache_usage_perc", 0.2 + 0.2 * min(w, 3), at)


def sglang() -> Iterator[str]:
    """Both tensor-parallel ranks of a scheduler tell the same."""
    for labels, w in replicas("sglang", "model_name"):
        at = {**labels, "engine_type": "unified"}
        for rank in ("0", "1"):
            yield level("sglang:num_running_reqs", 4 * w, at, tp_rank=rank, pp_rank="0")
            yield level("sglang:num_queue_reqs", 2 * w, at, tp_rank=rank, pp_rank="0")
            yield level("sglang:token_usage", 0.2 + 0.2 * min(w, 3), at, tp_rank=rank, pp_rank="0")
            yield histogram("sglang:queue_time_seconds", 60 * w, 0.2, (0, 1), at, tp_rank=rank, pp_rank="0")
        yield count("sglang:num_requests_total", 60 * w, at)
        yield count("sglang:generation_tokens_total", 60 * 100 * w, at)
        yield count("sglang:prompt_tokens_total", 60 * 500 * w, at)
        for kind, cached in (("device", 100), ("host", 25)):
            yield count("sglang:cached_tokens_total", 60 * cached * w, at, cache_source=kind)
        yield histogram("sglang:e2e_request_latency_seconds", 60 * w, 0.8, (0.5, 1) if w < 100 else (10, 20), at)
        yield histogram("sglang:time_to_first_token_seconds", 60 * w, 0.15, (0.1, 0.2) if w < 100 else (1, 2), at)


def tgi() -> Iterator[str]:
    """It knows no model: the scraped service tells."""
    for at, w in replicas("tgi", "service"):
        yield count("tgi_request_count", 60 * w, at)
        yield count("tgi_request_failure", 3 * w, at, err="overloaded")
        yield count("tgi_request_failure", 3 * w, at, err="validation")
        yield level("tgi_batch_current_size", 4 * w, at)
        yield level("tgi_queue_size", 2 * w, at)
        yield histogram("tgi_request_generated_tokens", 60 * w, 100, (50, 200), at)
        yield histogram("tgi_request_input_length", 60 * w, 500, (200, 1000), at)
        yield histogram("tgi_request_queue_duration", 60 * w, 0.2, (0, 1), at)
        yield histogram("tgi_request_duration", 60 * w, 0.8, (0.5, 1) if w < 100 else (10, 20), at)


def triton() -> Iterator[str]:
    """Latency by a summary, time in microseconds, GPUs without a model."""
    for labels, w in replicas("triton", "model"):
        at = {**labels, "version": "1"}
        yield count("nv_inference_request_success", 54 * w, at)
        yield count("nv_inference_request_failure", 6 * w, at)
        yield count("nv_inference_request_duration_us", 5_000_000 * SECOND * w, at)  # 5 in flight
        yield count("nv_inference_queue_duration_us", 54 * 200_000 * w, at)
        yield level("nv_inference_pending_request_count", 2 * w, at)
        yield count("nv_inference_count", 240 * w, at)
        yield count("nv_inference_exec_count", 60 * w, at)
        for quantile, seconds in (("0.5", 0.75), ("0.95", 0.95), ("0.99", 0.99)):
            yield level("nv_inference_request_summary_us", seconds * 1_000_000 / (3 - w) if w < 100 else 9e6, at, quantile=quantile)
        gpu = {name: value for name, value in labels.items() if name != "model"} | {"gpu_uuid": f"GPU-{w}"}
        yield level("nv_gpu_utilization", 0.3 * min(w, 3), gpu)
        yield level("nv_gpu_memory_used_bytes", 8e9 * w, gpu)
        yield level("nv_gpu_memory_total_bytes", 16e9 * w, gpu)


def trtllm() -> Iterator[str]:
    """Replica b is of a Dynamo that wrote a colon."""
    for labels, w in replicas("trtllm", "model_name"):
        at, prefix = {**labels, "engine_type": "trtllm"}, "trtllm:" if w == 2 else "trtllm_"
        yield count(f"{prefix}request_success_total", 60 * w, at, finished_reason="stop")
        yield count(f"{prefix}request_error_total", 20 * w, at)
        yield level(f"{prefix}num_requests_running", 4 * w, at)
        yield level(f"{prefix}num_requests_waiting", 2 * w, at)
        yield count(f"{prefix}generation_tokens_total", 60 * 100 * w, at)
        yield count(f"{prefix}prompt_tokens_total", 60 * 500 * w, at)
        yield count(f"{prefix}kv_cache_reused_blocks_total", 60 * w, at)
        yield count(f"{prefix}kv_cache_missed_blocks_total", 180 * w, at)
        yield histogram(f"{prefix}request_queue_time_seconds", 60 * w, 0.2, (0, 0.3), at)
        yield histogram(f"{prefix}e2e_request_latency_seconds", 60 * w, 0.8, (0.5, 1) if w < 100 else (10, 20), at)
        yield histogram(f"{prefix}time_to_first_token_seconds", 60 * w, 0.15, (0.1, 0.2) if w < 100 else (1, 2), at)
        yield level(f"{prefix}kv_cache_utilization", 0.2 + 0.2 * min(w, 3), at)


def nim() -> Iterator[str]:
    """Names without a prefix."""
    for at, w in replicas("nim", "model_name"):
        yield count("request_success_total", 54 * w, at)
        yield count("request_failure_total", 6 * w, at)
        yield level("num_requests_running", 4 * w, at)
        yield level("num_requests_waiting", 2 * w, at)
        yield count("generation_tokens_total", 100 * SECOND * w, at)
        yield histogram("request_prompt_tokens", 60 * w, 500, (200, 1000), at)
        yield histogram("request_generation_tokens", 60 * w, 100, (50, 200), at)
        yield histogram("e2e_request_latency_seconds", 60 * w, 0.8, (0.5, 1) if w < 100 else (10, 20), at)
        yield histogram("time_to_first_token_seconds", 60 * w, 0.15, (0.1, 0.2) if w < 100 else (1, 2), at)
        yield level("gpu_cache_usage_perc", 0.2 + 0.2 * min(w, 3), at)


def ray_serve() -> Iterator[str]:
    """Replica b is of a version that wrote counters without _total."""
    for labels, w in replicas("ray", "deployment"):
        at, suffix = {**labels, "application": "app"}, "" if w == 2 else "_total"
        yield count(f"ray_serve_num_router_requests{suffix}", 60 * w, at, route="/v1")
        yield count(f"ray_serve_deployment_request_counter{suffix}", 60 * w, at, route="/v1", replica=f"r{w}")
        yield count(f"ray_serve_deployment_error_counter{suffix}", 6 * w, at, route="/v1", replica=f"r{w}")
        yield level("ray_serve_replica_processing_queries", 4 * w, at, replica=f"r{w}")
        yield level("ray_serve_deployment_queued_queries", 2 * w, at, handle=f"h{w}")
        yield histogram("ray_serve_deployment_processing_latency_ms", 60 * w, 800, (500, 1000) if w < 100 else (10_000, 20_000), at)


def llm_d() -> Iterator[str]:
    """Replica a tells the new names and the old ones beside them, b is of the Inference Extension before it."""
    for labels, w in replicas("epp", "model_name"):
        at = {**labels, "target_model_name": labels["model_name"]}
        flow = {**at, "fairness_id": "default", "priority": "0"}
        written = (("llm_d_epp_request_", flow),) if w > 2 else ((("llm_d_epp_request_", flow),) if w == 1 else ())
        for prefix, own in (*written, ("inference_objective_request_", at)):
            yield count(f"{prefix}total", 60 * w, own)
            yield count(f"{prefix}error_total", 6 * w, own, error_code="Unknown")
            yield histogram(f"{prefix}duration_seconds", 60 * w, 0.8, (0.5, 1) if w < 100 else (10, 20), own)
        for prefix, own in (*written, ("inference_objective_", at)):
            yield histogram(f"{prefix}input_tokens", 60 * w, 500, (200, 1000), own)
            yield histogram(f"{prefix}output_tokens", 60 * w, 100, (50, 200), own)
        for name, own in ((("llm_d_epp_request_running", flow),) if written else ()) + (("inference_objective_running_requests", at),):
            yield level(name, 4 * w, own)
        yield histogram("llm_d_epp_request_ttft_seconds", 60 * w, 0.15, (0.1, 0.2) if w < 100 else (1, 2), flow, streaming="true")
        pooled = {**flow, "inference_pool": f"pool-{labels['model_name']}"}
        yield level("llm_d_epp_flow_control_queue_size", 2 * w, pooled)
        yield histogram("llm_d_epp_flow_control_request_queue_duration_seconds", 60 * w, 0.2, (0, 1), pooled, outcome="Dispatched")
        pool = {name: value for name, value in pooled.items() if name not in {"model_name", "target_model_name", "fairness_id"}}
        yield count("llm_d_epp_flow_control_requests_total", 3 * w, pool, outcome="RejectedCapacity")
        yield count("llm_d_epp_flow_control_requests_total", 57 * w, pool, outcome="Dispatched")
        named = {**{n: v for n, v in labels.items() if n != "model_name"}, "name": pooled["inference_pool"]}
        yield level("llm_d_epp_average_kv_cache_utilization" if w != 2 else "inference_pool_average_kv_cache_utilization", 0.5, named)


def envoy() -> Iterator[str]:
    """A cluster's statistics at two proxies."""
    for at, w in replicas("envoy", "envoy_cluster_name"):
        yield count("envoy_cluster_upstream_rq_total", 60 * w, at)
        yield count("envoy_cluster_upstream_rq_completed", 60 * w, at)
        yield level("envoy_cluster_upstream_rq_active", 4 * w, at)
        yield level("envoy_cluster_upstream_rq_pending_active", 2 * w, at)
        yield count("envoy_cluster_upstream_rq_pending_overflow", 1 * w, at)
        yield count("envoy_cluster_upstream_rq", 2 * w, at, envoy_response_code="429")
        yield count("envoy_cluster_upstream_rq", 52 * w, at, envoy_response_code="200")
        yield count("envoy_cluster_upstream_rq_xx", 6 * w, at, envoy_response_code_class="5")
        yield count("envoy_cluster_upstream_rq_xx", 54 * w, at, envoy_response_code_class="2")
        yield histogram("envoy_cluster_upstream_rq_time", 60 * w, 800, (500, 1000) if w < 100 else (10_000, 20_000), at)


def istio() -> Iterator[str]:
    """Both ends of every call report it; the source alone sees the call that never arrived."""
    for labels, w in replicas("istio", "destination_service_name"):
        at = {**labels, "destination_service_namespace": labels["namespace"]}
        for reporter in ("source", "destination"):
            yield count("istio_requests_total", 51 * w, at, reporter=reporter, response_code="200")
            yield count("istio_requests_total", 3 * w, at, reporter=reporter, response_code="429")
            sent = {"reporter": reporter}
            yield histogram("istio_request_duration_milliseconds", 60 * w, 5000, (500, 1000) if w < 100 else (10_000, 20_000), at, **sent)
        yield count("istio_requests_total", 6 * w, at, reporter="source", response_code="503")


def nginx_ingress() -> Iterator[str]:
    """Replica b is scraped by a monitor that moves the Ingress's labels to exported_..."""
    for labels, w in replicas("nginx", "ingress"):
        controller = {"pod": labels["pod"], "instance": labels["instance"], "job": "ingress-nginx", "ingress": labels["ingress"]}
        moved = {"namespace": "ingress-nginx", "exported_namespace": labels["namespace"], "exported_service": "chat"}
        at = {**controller, **(moved if w == 2 else {"namespace": labels["namespace"], "service": "chat"})}
        yield count("nginx_ingress_controller_requests", 51 * w, at, status="200")
        yield count("nginx_ingress_controller_requests", 3 * w, at, status="429")
        yield count("nginx_ingress_controller_requests", 6 * w, at, status="502")
        yield histogram("nginx_ingress_controller_request_duration_seconds", 60 * w, 5, (0.5, 1) if w < 100 else (10, 20), at)


def litellm() -> Iterator[str]:
    """By the model that was asked for."""
    for labels, w in replicas("litellm", "requested_model"):
        at = {**labels, "team": "chat", "model": "openai/llama"}
        yield count("litellm_proxy_total_requests_metric_total", 51 * w, at, status_code="200", route="/chat/completions")
        yield count("litellm_proxy_total_requests_metric_total", 3 * w, at, status_code="429", route="/chat/completions")
        yield count("litellm_proxy_total_requests_metric_total", 6 * w, at, status_code="500", route="/chat/completions")
        cached = {name: value for name, value in at.items() if name != "requested_model"}
        if labels["pod"] != "litellm-b":  # it has never found anything yet
            yield count("litellm_cache_hits_metric_total", 45 * w, cached)
        yield count("litellm_cache_misses_metric_total", 15 * w, cached)
        yield count("litellm_output_tokens_metric_total", 60 * 100 * w, at)
        yield count("litellm_input_tokens_metric_total", 60 * 500 * w, at)
        yield histogram("litellm_request_total_latency_metric", 60 * w, 5, (0.5, 1) if w < 100 else (10, 20), at)
        yield histogram("litellm_llm_api_time_to_first_token_metric", 60 * w, 0.15, (0.1, 0.2) if w < 100 else (1, 2), at)


def kong() -> Iterator[str]:
    """Replica b is of Kong 2, which had other names."""
    for labels, w in replicas("kong", "service"):
        at = {**labels, "route": "chat"}
        for code, a_minute in (("200", 51), ("429", 3), ("502", 6)):
            yield count("kong_http_status" if w == 2 else "kong_http_requests_total", a_minute * w, at, code=code)
        buckets, name = (500, 1000) if w < 100 else (10_000, 20_000), "kong_latency" if w == 2 else "kong_request_latency_ms"
        kind = {"type": "request"} if w == 2 else {}
        yield histogram(name, 60 * w, 5000, buckets, at, **kind)
        if w == 2:
            yield histogram(name, 60 * w, 1, (0, 1), at, type="kong")
        ai = {**labels, "ai_model": "llama", "ai_provider": "openai"}
        ai.pop("service")
        yield count("kong_ai_llm_tokens_total", 60 * 100 * w, ai, token_type="completion_tokens")
        yield count("kong_ai_llm_tokens_total", 60 * 500 * w, ai, token_type="prompt_tokens")


def queues() -> Iterator[str]:
    """Two exporters tell of the same queue and the same partitions; RabbitMQ's nodes tell each of their own queues."""
    for labels, w in replicas("yace", "dimension_QueueName", "jobs", "mails"):
        seen = 1 if w < 100 else w
        statistic = "sum" if w == 2 else "maximum"
        yield level(f"aws_sqs_approximate_number_of_messages_visible_{statistic}", 6 * seen, labels)
        yield level(f"aws_sqs_approximate_number_of_messages_not_visible_{statistic}", 4 * seen, labels)
    for labels, w in replicas("kafka", "topic", "jobs", "mails"):
        for partition in ("0", "1"):
            seen = 1 if w < 100 else w
            yield count("kafka_topic_partition_current_offset", 90 * seen, labels, partition=partition)
            yield level("kafka_consumergroup_lag", 3 * seen, labels, partition=partition, consumergroup="workers")
            yield level("kafka_consumergroup_lag", 7000, labels, partition=partition, consumergroup="audit")
    for labels, w in replicas("rabbit", "queue", "jobs", "mails"):
        prefix = "rabbitmq_queue_" if w == 2 else "rabbitmq_detailed_queue_"
        yield level(f"{prefix}messages_ready", 2 * w, labels, vhost="/")
        yield level(f"{prefix}messages_unacked", 4 * w, labels, vhost="/")
        yield count(f"{prefix}messages_published_total", 60 * w, labels, queue_vhost="/", exchange="work", exchange_vhost="/")


def dcgm() -> Iterator[str]:
    """The GPUs of vLLM's pods: those of b are told by an exporter whose own pod got the label, and those of c are another model's."""
    for pod, namespace, busy, used, moved in (
        ("vllm-a", "inference", 60, 20_000, False),
        ("vllm-b", "inference", 80, 40_000, True),
        ("vllm-c", "inference", 1, 1, False),
        ("vllm-d", "research", 2, 2, True),
    ):
        user = {"namespace": namespace, "pod": pod, "container": "vllm"}
        told = {f"exported_{name}": value for name, value in user.items()} | {
            "namespace": "gpu-operator",
            "pod": "dcgm-x",
            "container": "e",
        }
        at = {**(told if moved else user), "gpu": "0", "UUID": f"GPU-{pod}", "instance": f"node-{pod}:9400", "job": "dcgm"}
        yield level("DCGM_FI_DEV_GPU_UTIL", busy, at)
        yield level("DCGM_FI_DEV_FB_USED", used, at)
        yield level("DCGM_FI_DEV_FB_FREE", 80_000 - used, at)


def _spelled(labels: Labels) -> str:
    return ",".join(f'{name}="{value}"' for name, value in labels.items())
