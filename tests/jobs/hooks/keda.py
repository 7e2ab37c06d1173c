"""What KEDA does with an external scaler, through a real gRPC channel: the four calls, by name as its own client makes them."""

from collections.abc import Iterator
from types import TracebackType
from typing import Self

import grpc

from jobs.hooks.wire.externalscaler_pb2 import (
    GetMetricSpecResponse,
    GetMetricsRequest,
    GetMetricsResponse,
    IsActiveResponse,
    ScaledObjectRef,
)

_SERVICE = "/externalscaler.ExternalScaler"
_PATIENCE_S = 20.0


class Keda:
    """A caller with one ScaledObject's trigger."""

    def __init__(self, address: str, credentials: grpc.ChannelCredentials | None = None) -> None:
        self._channel = grpc.insecure_channel(address) if credentials is None else grpc.secure_channel(address, credentials)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._channel.close()

    def is_active(self, **metadata: str) -> bool:
        call = self._channel.unary_unary(f"{_SERVICE}/IsActive", ScaledObjectRef.SerializeToString, IsActiveResponse.FromString)
        return call(scaled_object(metadata), timeout=_PATIENCE_S).result

    def stream_is_active(self, **metadata: str) -> Iterator[bool]:
        call = self._channel.unary_stream(f"{_SERVICE}/StreamIsActive", ScaledObjectRef.SerializeToString, IsActiveResponse.FromString)
        return (told.result for told in call(scaled_object(metadata), timeout=_PATIENCE_S))

    def spec(self, **metadata: str) -> tuple[str, int, float]:
        """The metric's name and target."""
        call = self._channel.unary_unary(f"{_SERVICE}/GetMetricSpec", ScaledObjectRef.SerializeToString, GetMetricSpecResponse.FromString)
        (spec,) = call(scaled_object(metadata), timeout=_PATIENCE_S).metricSpecs
        return spec.metricName, spec.targetSize, spec.targetSizeFloat

    def metric(self, name: str = "", **metadata: str) -> tuple[str, int, float]:
        """The metric's name and value."""
        call = self._channel.unary_unary(f"{_SERVICE}/GetMetrics", GetMetricsRequest.SerializeToString, GetMetricsResponse.FromString)
        (value,) = call(GetMetricsRequest(scaledObjectRef=scaled_object(metadata), metricName=name), timeout=_PATIENCE_S).metricValues
        return value.metricName, value.metricValue, value.metricValueFloat


def scaled_object(metadata: dict[str, str]) -> ScaledObjectRef:
    """A ScaledObject whose trigger says this, beside what every trigger says."""
    return ScaledObjectRef(name="llm", namespace="serving", scalerMetadata={"scalerAddress": "forecaster:9465", **metadata})
