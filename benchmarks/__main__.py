"""`make bench`: every figure with its goal, as a table, and in build/bench.json as name -> {value, goal, better}."""

import json
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks import borrowing, budget, correction, cost, decision, executors, fleet, replay, requests, store
from benchmarks.accuracy import report as accuracy
from benchmarks.figures import Figure, Table
from jobs.clock import SystemClock

BENCHMARKS = (
    accuracy.figures,
    borrowing.figures,
    budget.figures,
    correction.figures,
    cost.figures,
    decision.figures,
    executors.figures,
    fleet.figures,
    store.figures,
    replay.figures,
    requests.figures,
)
LIBRARIES = ("numpy", "pandas", "sqlalchemy", "statsmodels", "prophet", "lightgbm", "ray", "dask")


def main() -> None:
    """Each figure as soon as it is there, then the tables behind them; what is printed is Markdown, for docs/benchmarks.md."""
    print(f"{SystemClock().now():%Y-%m-%d}; {_machine()}\n")
    print("| what | value | goal | |\n|---|---:|---:|---|")
    figures: list[Figure] = []
    tables: list[Table] = []
    for found in (found for benchmark in BENCHMARKS for found in benchmark()):
        if isinstance(found, Table):
            tables.append(found)
        else:
            figures.append(found)
            print(found.line, flush=True)
    for table in tables:
        print(f"\n{table}")
    path = Path("build/bench.json")
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({f.name: {"value": f.value, "goal": f.goal, "better": f.better} for f in figures}, indent=2) + "\n")


def _machine() -> str:
    memory_gb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    versions = ", ".join(f"{name} {found}" for name in LIBRARIES if (found := _version(name)))
    return f"{os.cpu_count()} CPUs, {memory_gb:.0f} GB, {platform.machine()}, Python {platform.python_version()}; {versions}"


def _version(name: str) -> str | None:
    """None = not installed: some are extras."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


if __name__ == "__main__":
    main()
