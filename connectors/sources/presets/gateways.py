"""Gateways: what came to the door, whatever became of it behind.

Names: Envoy's cluster statistics, Istio's standard metrics, the monitoring pages of ingress-nginx, LiteLLM and Kong, and the metrics
reference of llm-d's router and of the Gateway API Inference Extension before it. A gateway's concurrency and latency are taken only where
no engine of the workload tells its own.
"""

from connectors.sources.presets.parts import latencies, mean, or_zero, quantile, share
from connectors.sources.presets.preset import Lacking, Preset, Renamed, Role, Spelling
from connectors.sources.presets.quantity import Counted, Quantity

_LATENCIES = frozenset({Quantity.LATENCY_P50, Quantity.LATENCY_P95, Quantity.LATENCY_P99, Quantity.TTFT_P95})
_BEHIND = frozenset({Quantity.CONCURRENCY, Quantity.QUEUE_DEPTH, Quantity.QUEUE_WAIT, Quantity.ERROR_RATE, *_LATENCIES})
_LITTLE = "concurrency is the time that ended requests took (Little's law)"

LLM_D = Preset(
    name="llm-d",
    title="llm-d router (endpoint picker), and the Gateway API Inference Extension",
    role=Role.GATEWAY,
    presence="llm_d_epp_request_total{}",
    identity=("model_name",),
    labels=("target_model_name", "inference_pool", "fairness_id", "priority"),
    counted=Counted.ARRIVALS,
    metrics={
        Quantity.RPM: "sum(rate(llm_d_epp_request_total{}[2m]))",
        Quantity.CONCURRENCY: "sum(llm_d_epp_request_running{})"
        " + (sum(llm_d_epp_flow_control_queue_size{}) or 0 * sum(llm_d_epp_request_running{}))",
        Quantity.TOKENS: "sum(rate(llm_d_epp_request_output_tokens_sum{}[2m]))",
        Quantity.INPUT_LENGTH: mean("llm_d_epp_request_input_tokens"),
        Quantity.OUTPUT_LENGTH: mean("llm_d_epp_request_output_tokens"),
        Quantity.QUEUE_DEPTH: "sum(llm_d_epp_flow_control_queue_size{})",
        Quantity.REFUSED: 'sum(rate(llm_d_epp_flow_control_requests_total{outcome=~"RejectedCapacity|EvictedTTL"}[2m]))',
        Quantity.QUEUE_WAIT: mean("llm_d_epp_flow_control_request_queue_duration_seconds"),
        **latencies("llm_d_epp_request_duration_seconds"),
        Quantity.TTFT_P95: quantile(0.95, "llm_d_epp_request_ttft_seconds"),
        Quantity.ERROR_RATE: share("llm_d_epp_request_error_total{}", "llm_d_epp_request_total{}"),
        Quantity.KV_CACHE: "avg(llm_d_epp_average_kv_cache_utilization{})",
    },
    renamed=(
        *(
            Renamed(new=f"llm_d_epp_request_{new}", old=f"inference_objective_{old}", when="in older routers")
            for new, old in (
                *(("total", "request_total"), ("error_total", "request_error_total"), ("duration_seconds", "request_duration_seconds")),
                *(("running", "running_requests"), ("input_tokens", "input_tokens"), ("output_tokens", "output_tokens")),
            )
        ),
        Renamed(new="inference_objective_", old="inference_model_", when="before the Gateway API Inference Extension 1.0"),
        Renamed(new="llm_d_epp_flow_control_", old="inference_extension_flow_control_", when="in older routers"),
        Renamed(new="llm_d_epp_average_", old="inference_pool_average_", when="in older routers"),
    ),
    spellings=(Spelling(metric="llm_d_epp_average_", label="inference_pool", instead="name"),),
    lacking=(
        Lacking(metric="llm_d_epp_request_", labels=("inference_pool",)),
        Lacking(metric="llm_d_epp_average_", labels=("model_name", "target_model_name", "fairness_id", "priority")),
        Lacking(metric="llm_d_epp_flow_control_requests_total", labels=("model_name", "target_model_name", "fairness_id")),
    ),
    second=_BEHIND - {Quantity.CONCURRENCY},
    notes=("the queue is its flow control's, which is off by default: an engine's preset after it tells the engines' queue",),
)
ENVOY = Preset(
    name="envoy",
    title="Envoy, also under Envoy Gateway",
    role=Role.GATEWAY,
    presence="envoy_cluster_upstream_rq_total{}",
    identity=("envoy_cluster_name",),
    counted=Counted.ARRIVALS,
    metrics={
        Quantity.RPM: "sum(rate(envoy_cluster_upstream_rq_total{}[2m]))",
        Quantity.CONCURRENCY: "sum(envoy_cluster_upstream_rq_active{}) + sum(envoy_cluster_upstream_rq_pending_active{})",
        Quantity.QUEUE_DEPTH: "sum(envoy_cluster_upstream_rq_pending_active{})",
        Quantity.REFUSED: "sum(rate(envoy_cluster_upstream_rq_pending_overflow{}[2m]))"
        " + " + or_zero('envoy_cluster_upstream_rq{envoy_response_code="429"}', "envoy_cluster_upstream_rq_total{}"),
        **latencies("envoy_cluster_upstream_rq_time", 1000),
        Quantity.ERROR_RATE: share('envoy_cluster_upstream_rq_xx{envoy_response_code_class="5"}', "envoy_cluster_upstream_rq_completed{}"),
    },
    second=_BEHIND,
    notes=("retries are counted as requests of their own",),
)
_ISTIO_ALL = "sum by (reporter) (rate(istio_requests_total{}[2m]))"
_ISTIO_429 = 'sum by (reporter) (rate(istio_requests_total{response_code="429"}[2m]))'
_ISTIO_5XX = 'sum by (reporter) (rate(istio_requests_total{response_code=~"5.."}[2m]))'
_ISTIO_BUCKETS = "sum by (le, reporter) (rate(istio_request_duration_milliseconds_bucket{}[2m]))"
_QUANTILES = ((Quantity.LATENCY_P50, 0.5), (Quantity.LATENCY_P95, 0.95), (Quantity.LATENCY_P99, 0.99))
ISTIO = Preset(
    name="istio",
    title="Istio",
    role=Role.GATEWAY,
    presence="istio_requests_total{}",
    identity=("destination_service_namespace", "destination_service_name"),
    labels=(
        "destination_service", "destination_workload", "destination_workload_namespace", "destination_app",
        "destination_canonical_service", "reporter",
    ),
    counted=Counted.ENDED,
    metrics={
        Quantity.RPM: f"max({_ISTIO_ALL})",
        Quantity.CONCURRENCY: "max(sum by (reporter) (rate(istio_request_duration_milliseconds_sum{}[2m]))) / 1000",
        Quantity.REFUSED: f"max({_ISTIO_429} or 0 * {_ISTIO_ALL})",
        **{q: f"max(histogram_quantile({level:g}, {_ISTIO_BUCKETS})) / 1000" for q, level in _QUANTILES},
        Quantity.ERROR_RATE: f"max(({_ISTIO_5XX} or 0 * {_ISTIO_ALL}) / {_ISTIO_ALL})",
    },
    second=_BEHIND,
    notes=("both ends of a call report it: the larger of the two counts, never their sum", _LITTLE),
)  # fmt: skip
NGINX_INGRESS = Preset(
    name="nginx-ingress",
    title="ingress-nginx",
    role=Role.GATEWAY,
    presence="nginx_ingress_controller_requests{}",
    identity=("namespace", "ingress"),
    labels=("service", "host", "path"),
    counted=Counted.ENDED,
    metrics={
        Quantity.RPM: "sum(rate(nginx_ingress_controller_requests{}[2m]))",
        Quantity.CONCURRENCY: "sum(rate(nginx_ingress_controller_request_duration_seconds_sum{}[2m]))",
        Quantity.REFUSED: or_zero('nginx_ingress_controller_requests{status="429"}', "nginx_ingress_controller_requests{}"),
        **latencies("nginx_ingress_controller_request_duration_seconds"),
        Quantity.ERROR_RATE: share('nginx_ingress_controller_requests{status=~"5.."}', "nginx_ingress_controller_requests{}"),
    },
    clashing=("namespace", "service"),
    second=_BEHIND,
    notes=(
        "namespace and service are the Ingress's, also where scraping has moved them to exported_namespace and exported_service",
        _LITTLE,
    ),
)
_LITELLM_HITS = or_zero("litellm_cache_hits_metric_total{}", "litellm_cache_misses_metric_total{}")
LITELLM = Preset(
    name="litellm",
    title="LiteLLM proxy",
    role=Role.GATEWAY,
    presence="litellm_proxy_total_requests_metric_total{}",
    identity=("requested_model",),
    labels=("team", "api_key_alias", "end_user", "route"),
    counted=Counted.ENDED,
    metrics={
        Quantity.RPM: "sum(rate(litellm_proxy_total_requests_metric_total{}[2m]))",
        Quantity.CONCURRENCY: "sum(rate(litellm_request_total_latency_metric_sum{}[2m]))",
        Quantity.TOKENS: "sum(rate(litellm_output_tokens_metric_total{}[2m]))",
        Quantity.INPUT_LENGTH: "sum(rate(litellm_input_tokens_metric_total{}[2m]))"
        " / sum(rate(litellm_request_total_latency_metric_count{}[2m]))",
        Quantity.OUTPUT_LENGTH: "sum(rate(litellm_output_tokens_metric_total{}[2m]))"
        " / sum(rate(litellm_request_total_latency_metric_count{}[2m]))",
        Quantity.RESPONSE_HITS: f"{_LITELLM_HITS} / ({_LITELLM_HITS} + sum(rate(litellm_cache_misses_metric_total{{}}[2m])))",
        Quantity.REFUSED: or_zero(
            'litellm_proxy_total_requests_metric_total{status_code="429"}', "litellm_proxy_total_requests_metric_total{}"
        ),
        **latencies("litellm_request_total_latency_metric"),
        Quantity.TTFT_P95: quantile(0.95, "litellm_llm_api_time_to_first_token_metric"),
        Quantity.ERROR_RATE: share(
            'litellm_proxy_total_requests_metric_total{status_code=~"5.."}', "litellm_proxy_total_requests_metric_total{}"
        ),
    },
    lacking=(
        Lacking(metric="litellm_request_total_latency_metric", labels=("route",)),
        Lacking(metric="litellm_output_tokens_metric", labels=("route",)),
        Lacking(metric="litellm_input_tokens_metric", labels=("route",)),
        Lacking(metric="litellm_cache_", labels=("requested_model", "route")),
        Lacking(metric="litellm_llm_api_time_to_first_token_metric", labels=("route", "end_user")),
    ),
    second=_BEHIND,
    notes=(_LITTLE,),
)
KONG = Preset(
    name="kong",
    title="Kong Gateway with its prometheus plugin",
    role=Role.GATEWAY,
    presence="kong_http_requests_total{}",
    identity=("service",),
    labels=("route", "workspace", "consumer", "ai_provider", "ai_model"),
    counted=Counted.ENDED,
    metrics={
        Quantity.RPM: "sum(rate(kong_http_requests_total{}[2m]))",
        Quantity.CONCURRENCY: "sum(rate(kong_request_latency_ms_sum{}[2m])) / 1000",
        Quantity.TOKENS: 'sum(rate(kong_ai_llm_tokens_total{token_type="completion_tokens"}[2m]))',
        Quantity.REFUSED: or_zero('kong_http_requests_total{code="429"}', "kong_http_requests_total{}"),
        **latencies("kong_request_latency_ms", 1000),
        Quantity.ERROR_RATE: share('kong_http_requests_total{code=~"5.."}', "kong_http_requests_total{}"),
    },
    renamed=(
        Renamed(new="kong_http_requests_total", old="kong_http_status", when="before 3.0"),
        Renamed(new="kong_request_latency_ms", old="kong_latency", when="before 3.0", where='type="request"'),
    ),
    lacking=(
        Lacking(metric="kong_http_requests", labels=("ai_provider", "ai_model")),
        Lacking(metric="kong_request_latency", labels=("consumer", "ai_provider", "ai_model")),
        Lacking(metric="kong_ai_llm_tokens", labels=("service", "route")),
    ),
    clashing=("service",),
    second=_BEHIND,
    notes=("needs status_code_metrics and latency_metrics of the plugin, and ai_metrics for tokens", _LITTLE),
)
