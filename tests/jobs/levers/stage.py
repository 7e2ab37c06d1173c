"""The stage of the tests of levers: everything that a tick reads and moves, and ticks of one process after another."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Self

from forecaster.plan import Floor, Plan
from forecaster.reasons import Code, Reason
from jobs.config.reading import read_config
from jobs.levers.desk import Desk, open_desk
from jobs.levers.once import once, released
from jobs.levers.state import Memory, recall
from jobs.levers.tick import Tick
from jobs.wiring import open_fleet, open_sources
from tests.jobs.levers.engine import Engine
from tests.jobs.world import NOW, World
from tests.kube_api import KubeApi
from tests.lever_receiver import SECRET, LeverReceiver

TICK = timedelta(seconds=5)


@dataclass(kw_only=True)
class Stage:
    """tiers: the section as it will be written."""

    world: World
    engine: Engine
    gateway: LeverReceiver
    tiers: dict[str, Any]

    @classmethod
    def built(cls, world: World, engine: Engine, gateway: LeverReceiver) -> Self:
        """Levers `batch` and `cache` in a ConfigMap, found at 32 and false; `rate` and `breaker` at the gateway, at 900 and 64."""
        world.workload("chat")
        pools = world.config["workloads"][0]["pools"]  # type: ignore[index]  # what world.workload wrote
        pools[0]["capacity"] = {"rpm": 60, "concurrency": 8}
        world.api.add_workload("serving", "llm", replicas=2, ready=2)
        world.api.put("configmaps", "serving", "engine", metadata={}, data={"max_batch": "32", "cache": "false"})
        gateway.values |= {"rate": 900, "breaker": 64}
        tiers: dict[str, Any] = {
            "mode": "auto",
            "levers": {
                "batch": _key(world.api, "max_batch"),
                "cache": _key(world.api, "cache"),
                "rate": {"type": "webhook", "name": "rate", "url": gateway.url, "secret": SECRET},
                "breaker": {"type": "webhook", "name": "breaker", "url": gateway.url, "secret": SECRET},
            },
            "signals": {
                "p99": {"pages": [engine.page], "query": "p99(llm_latency_seconds)"},
                "queue": {"pages": [engine.page], "query": "llm_waiting"},
                "errors": {"pages": [engine.page], "query": 'ratio(llm_requests_total{code="500"}, llm_requests_total)'},
            },
            "rules": [{"name": "slow", "when": {"signal": "p99", "above": 2, "calm": "10s"}, "set": {"batch": 8}}],
        }
        return cls(world=world, engine=engine, gateway=gateway, tiers=tiers)

    @property
    def batch(self) -> str:
        """What the engine's ConfigMap says."""
        return str(self.world.api.look("configmaps", "serving", "engine")["data"]["max_batch"])

    @property
    def cache(self) -> str:
        return str(self.world.api.look("configmaps", "serving", "engine")["data"]["cache"])

    @contextmanager
    def process(self) -> Iterator["Process"]:
        """A process as it starts: nothing but store and objects knows of those before."""
        self.world.config["tiers"] = self.tiers
        path = self.world.path
        config = read_config(path)
        assert config.tiers is not None
        with open_fleet(config, path.parent) as fleet, open_sources(config, path.parent) as sources:
            desk = open_desk(config.tiers, fleet, sources, path.parent)
            with closing(desk.asking):
                yield Process(desk=desk, memory=None)


@dataclass(kw_only=True)
class Process:
    """A loop at work. The nth tick comes 5 n seconds after NOW."""

    desk: Desk
    memory: Memory | None

    def tick(self, at: int) -> Tick:
        first = self.memory is None
        before = self.memory or recall(self.desk.fleet.store, self.desk.mode)
        tick = once(self.desk, before, NOW + at * TICK, first=first)
        self.memory = tick.memory
        return tick

    def release(self, at: int) -> Tick:
        return released(self.desk, recall(self.desk.fleet.store, self.desk.mode), NOW + at * TICK)


def _key(api: KubeApi, key: str) -> dict[str, Any]:
    return {
        "type": "kubernetes-field",
        "api_version": "v1",
        "kind": "ConfigMap",
        "namespace": "serving",
        "name": "engine",
        "field": f"data.{key}",
        "cluster": {"server": api.url},
    }


def planned(first: int, then: int, *, change: timedelta) -> Plan:
    """Floors of one size, and of another from so much after NOW."""
    reason = Reason(code=Code.SIGNAL_BINDS, detail="rpm")
    end = NOW + timedelta(hours=6)
    return Plan(
        workload="chat",
        pool="gpu",
        issued_at=NOW - timedelta(minutes=1),
        valid_until=end,
        floors=(
            Floor(start=NOW - timedelta(minutes=1), until=NOW + change, replicas=first, reason=reason),
            Floor(start=NOW + change, until=end, replicas=then, reason=reason),
        ),
        demand=None,
    )
