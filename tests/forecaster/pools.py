"""Pools of one workload for tests: reserved ones that are always on, and some on demand that come after them."""

from dataclasses import replace

from forecaster.capacity import Capacity
from forecaster.workload import Policy, Pool, Workload
from tests.values import pool_of


def reserved(replicas: int = 8, *, rpm: float | None = 100, **more: object) -> Pool:
    return replace(pool_of(), name="reserved", capacity=Capacity(rpm=rpm), always_on=replicas, **more)  # type: ignore[arg-type]  # fields


def burst(*, rpm: float | None = 50, after: tuple[str, ...] = ("reserved",), name: str = "burst", **more: object) -> Pool:
    return replace(pool_of(), name=name, capacity=Capacity(rpm=rpm), after=after, **more)  # type: ignore[arg-type]  # fields to vary


def of(*pools: Pool, policy: Policy | None = None) -> Workload:
    return Workload(name="chat", pools=pools, policy=policy or Policy())
