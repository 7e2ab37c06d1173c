"""A workload whose caches have half of its requests and prompts, told beside its load in one file."""

from datetime import datetime, timedelta

from forecaster.units import iso
from tests.jobs.world import NOW, World, daily_rpm

HITS = 0.5
LEAST = 0.4
"""Once a day, for two hours, the caches have fewer hits than they have else."""


def cached(world: World, *, flushed: datetime | None = None, since: timedelta = timedelta(days=16), **cache: object) -> None:
    """A workload with both kinds of hits beside its load, known for so long; from `flushed` on there are none."""
    rows = [
        (at, count, "" if at < NOW - since else f"{0.0 if flushed is not None and at >= flushed else LEAST if at.hour in {2, 3} else HITS}")
        for at, count in daily_rpm()
    ]
    text = "".join(f"{iso(at)},{count:.1f},{hits},{hits}\n" for at, count, hits in rows)
    (world.folder / "cached.csv").write_text("timestamp,value,answered,kept\n" + text)
    world.workload("chat", trace="cached.csv")
    workloads = world.config["workloads"]
    assert isinstance(workloads, list)
    workloads[-1]["signals"] |= {
        "response_hits": {"query": "answered", "unit": "count"},
        "prefix_hits": {"query": "kept", "unit": "count"},
    }
    workloads[-1] |= {"cache": cache} if cache else {}
