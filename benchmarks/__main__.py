"""`make bench`: every figure with its goal, as a table, and in build/bench.json as name -> {value, goal, better}."""

import json
import os
import platform
from importlib.metadata import version
from pathlib import Path

from benchmarks import models, replay, store
from benchmarks.figures import Figure
from jobs.clock import SystemClock

BENCHMARKS = (store.figures, models.figures, replay.figures)
LIBRARIES = ("numpy", "pandas", "sqlalchemy", "statsmodels", "prophet")


def main() -> None:
    versions = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    machine = f"{os.cpu_count()} CPUs, {platform.machine()}, Python {platform.python_version()}, {versions}"
    print(f"{SystemClock().now():%Y-%m-%d}; {machine}\n")
    print("| what | value | goal | |\n|---|---:|---:|---|")
    found: list[Figure] = []
    for figures in BENCHMARKS:
        for figure in figures():
            found.append(figure)
            value = "" if figure.value is None else f"{figure.value:,.3g} {figure.unit}"
            goal = "" if figure.goal is None else f"{'at most' if figure.better == 'lower' else 'at least'} {figure.goal:g}"
            print(f"| {figure.name} | {value} | {goal} | {figure.verdict} |", flush=True)
    path = Path("build/bench.json")
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({f.name: {"value": f.value, "goal": f.goal, "better": f.better} for f in found}, indent=2) + "\n")


if __name__ == "__main__":
    main()
