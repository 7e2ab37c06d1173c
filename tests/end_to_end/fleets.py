"""Configurations as operators write them. Addresses come from the environment, so that a folder can be copied to another world."""

from typing import Any, TypeAlias

from tests.end_to_end.service import CARRY_CONCURRENCY, CARRY_RPM, CONCURRENCY, RPM

Config: TypeAlias = dict[str, Any]

HPA = {"type": "kubernetes-hpa", "namespace": "serving", "name": "chat", "cluster": {"server": "${KUBE}"}}


def on_prometheus(*, mode: str = "review", **policy: object) -> Config:
    """The service `chat` on a Prometheus and an HPA."""
    return {
        "sources": {"metrics": {"type": "prometheus", "url": "${PROMETHEUS}", "attempts": 1, "timeout_s": 20}},
        "forecast": {"history": "3w", "watched": []},
        "operating_point": {"workloads": 0},
        "workloads": [
            {
                "name": "chat",
                "source": "metrics",
                "signals": {"rpm": {"query": RPM, "unit": "per_minute"}, "concurrency": {"query": CONCURRENCY, "unit": "count"}},
                "pools": [{"name": "gpu", "capacity": {"rpm": CARRY_RPM, "concurrency": CARRY_CONCURRENCY}, "targets": [HPA]}],
                "policy": {"mode": mode, **policy},
            }
        ],
    }


def on_csv(*, mode: str = "auto", path: str = "load.csv", target: Config | None = None, name: str = "chat", **policy: object) -> Config:
    """One service on a CSV trace and one target."""
    return {
        "sources": {"trace": {"type": "csv", "path": path}},
        "forecast": {"watched": []},
        "operating_point": {"workloads": 0},
        "workloads": [
            {
                "name": name,
                "source": "trace",
                "signals": {"rpm": {"query": "value", "unit": "count"}},
                "pools": [{"name": "gpu", "capacity": {"rpm": CARRY_RPM}, "targets": [target or HPA]}],
                "policy": {"mode": mode, **policy},
            }
        ],
    }
