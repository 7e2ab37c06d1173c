"""Every preset there is, by name."""

from typing import Literal, TypeAlias

from connectors.sources.presets.engines import NIM, RAY_SERVE, SGLANG, TGI, TRITON, TRTLLM, VLLM
from connectors.sources.presets.gateways import ENVOY, ISTIO, KONG, LITELLM, LLM_D, NGINX_INGRESS
from connectors.sources.presets.others import DCGM, KAFKA_LAG, RABBITMQ, SQS, SQS_CLOUDWATCH
from connectors.sources.presets.preset import Preset

PresetName: TypeAlias = Literal[
    "vllm", "sglang", "tgi", "triton", "trtllm", "nim", "ray-serve",
    "llm-d", "envoy", "istio", "nginx-ingress", "litellm", "kong",
    "sqs", "sqs-cloudwatch", "kafka-lag", "rabbitmq", "dcgm",
]  # fmt: skip
PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        *(VLLM, SGLANG, TGI, TRITON, TRTLLM, NIM, RAY_SERVE),
        *(LLM_D, ENVOY, ISTIO, NGINX_INGRESS, LITELLM, KONG),
        *(SQS, SQS_CLOUDWATCH, KAFKA_LAG, RABBITMQ, DCGM),
    )
}
