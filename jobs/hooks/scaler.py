"""KEDA's external scaler: the floor as a metric of which one replica stands for 1."""

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import grpc
from grpc import aio

from forecaster.errors import FloorUnknown, ForecasterError, PoolUnknown, StoreError, WorkloadUnknown
from jobs.hooks.answer import HPA_TOLERANCE_RATIO, hpa_value
from jobs.hooks.desk import Desk, Floored
from jobs.hooks.wire.externalscaler_pb2 import (
    GetMetricSpecResponse,
    GetMetricsRequest,
    GetMetricsResponse,
    IsActiveResponse,
    MetricSpec,
    MetricValue,
    ScaledObjectRef,
)

SERVICE = "externalscaler.ExternalScaler"
LOOK_S = 1.0
"""How often an open stream looks whether the floor has changed."""
_METRIC_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?", re.ASCII)
_CODES: dict[type[ForecasterError], grpc.StatusCode] = {
    WorkloadUnknown: grpc.StatusCode.NOT_FOUND,
    PoolUnknown: grpc.StatusCode.INVALID_ARGUMENT,
    FloorUnknown: grpc.StatusCode.UNAVAILABLE,
    StoreError: grpc.StatusCode.UNAVAILABLE,
}
Context: TypeAlias = "aio.ServicerContext[object, object]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """What the metadata of a trigger asks for. tolerance_ratio: of the HorizontalPodAutoscaler that KEDA makes."""

    workload: str
    pool: str | None
    metric: str
    tolerance_ratio: float


def trigger(ref: ScaledObjectRef) -> Trigger:
    """The trigger of a ScaledObject. Raises ValueError with a sentence for whoever wrote it."""
    metadata = ref.scalerMetadata
    whose = f"the trigger of ScaledObject {ref.namespace}/{ref.name}"
    workload, pool = metadata.get("workload", ""), metadata.get("pool") or None
    if not workload:
        raise ValueError(f"{whose} names no workload: add metadata.workload")
    metric = metadata.get("metricName") or metric_name(workload, pool)
    if _METRIC_NAME.fullmatch(metric) is None:
        raise ValueError(f"{whose}: metadata.metricName must be letters and digits with . - or _ in between, got {metric!r}")
    spelled = metadata.get("hpaTolerance", str(HPA_TOLERANCE_RATIO))
    tolerance_ratio = _ratio(spelled)
    if tolerance_ratio is None:
        raise ValueError(f"{whose}: metadata.hpaTolerance must be a number from 0 to below 1, such as 0.1, got {spelled!r}")
    return Trigger(workload=workload, pool=pool, metric=metric, tolerance_ratio=tolerance_ratio)


def metric_name(workload: str, pool: str | None) -> str:
    """The name that a trigger's metric has unless it says another: lower case and dashes, as names in Kubernetes are."""
    parts = ("forecaster-floor", workload, *([pool] if pool is not None else []))
    return re.sub(r"[^a-z0-9]+", "-", "-".join(parts).lower()).strip("-")


class Scaler:
    """The four calls. What cannot be answered is a status with a sentence, so that KEDA falls back on its other triggers; never 0."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def is_active(self, ref: ScaledObjectRef, context: Context) -> IsActiveResponse:
        """False only where the floor is 0."""
        found = await self._floor(await _asked(ref, context), context)
        return IsActiveResponse(result=found.answer.active)

    async def stream_is_active(self, ref: ScaledObjectRef, context: Context) -> AsyncIterator[IsActiveResponse]:
        """The same at once and, within about a second, whenever the floor has changed."""
        asked, told = await _asked(ref, context), None
        while True:
            found = await self._floor(asked, context)
            if found.replicas != told:
                told = found.replicas
                yield IsActiveResponse(result=found.answer.active)
            await asyncio.sleep(LOOK_S)

    async def metric_spec(self, ref: ScaledObjectRef, context: Context) -> GetMetricSpecResponse:
        """One metric, of which a replica stands for 1. A workload that is not there is told here already."""
        asked = await _asked(ref, context)
        await self._there(asked, context)
        return GetMetricSpecResponse(metricSpecs=[MetricSpec(metricName=asked.metric, targetSize=1, targetSizeFloat=1.0)])

    async def metrics(self, request: GetMetricsRequest, context: Context) -> GetMetricsResponse:
        """The floor, as a number that the HorizontalPodAutoscaler's tolerance does not swallow."""
        asked = await _asked(request.scaledObjectRef, context)
        found = await self._floor(asked, context)
        value = hpa_value(found.replicas, found.answer.standing, asked.tolerance_ratio)
        name = request.metricName or asked.metric
        return GetMetricsResponse(metricValues=[MetricValue(metricName=name, metricValue=value, metricValueFloat=float(value))])

    async def _floor(self, asked: Trigger, context: Context) -> Floored:
        try:
            return await asyncio.to_thread(self._desk.floor, asked.workload, asked.pool)
        except ForecasterError as error:
            return await context.abort(_CODES.get(type(error), grpc.StatusCode.INTERNAL), str(error))

    async def _there(self, asked: Trigger, context: Context) -> None:
        """A floor that is not known yet has a name all the same."""
        try:
            await asyncio.to_thread(self._desk.floor, asked.workload, asked.pool)
        except FloorUnknown:
            return
        except ForecasterError as error:
            await context.abort(_CODES.get(type(error), grpc.StatusCode.INTERNAL), str(error))


def handlers(scaler: Scaler) -> grpc.GenericRpcHandler:
    """The service as gRPC wants it, without generated code of ours beside the messages."""
    calls: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
        "IsActive": grpc.unary_unary_rpc_method_handler(scaler.is_active, ScaledObjectRef.FromString, IsActiveResponse.SerializeToString),
        "StreamIsActive": grpc.unary_stream_rpc_method_handler(
            scaler.stream_is_active, ScaledObjectRef.FromString, IsActiveResponse.SerializeToString
        ),
        "GetMetricSpec": grpc.unary_unary_rpc_method_handler(
            scaler.metric_spec, ScaledObjectRef.FromString, GetMetricSpecResponse.SerializeToString
        ),
        "GetMetrics": grpc.unary_unary_rpc_method_handler(
            scaler.metrics, GetMetricsRequest.FromString, GetMetricsResponse.SerializeToString
        ),
    }
    return grpc.method_handlers_generic_handler(SERVICE, calls)


async def _asked(ref: ScaledObjectRef, context: Context) -> Trigger:
    try:
        return trigger(ref)
    except ValueError as error:
        return await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))


def _ratio(text: str) -> float | None:
    try:
        ratio = float(text)
    except ValueError:
        return None
    return ratio if 0 <= ratio < 1 else None
