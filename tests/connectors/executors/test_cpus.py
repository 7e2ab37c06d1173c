"""How many processors may be used."""

import os
from pathlib import Path

import pytest

from connectors.executors.cpus import usable_cpus

BOUND = len(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("limit", "cpus"),
    [("max 100000\n", BOUND), ("100000 100000\n", 1), ("50000 100000\n", 1), ("9900000 100000\n", BOUND), ("nonsense", BOUND)],
)
def test_a_container_uses_no_more_than_its_limit(tmp_path: Path, limit: str, cpus: int) -> None:
    quota = tmp_path / "cpu.max"
    quota.write_text(limit)
    assert usable_cpus(quota) == cpus


def test_without_control_groups_all_processors_are_used_that_we_are_bound_to(tmp_path: Path) -> None:
    assert usable_cpus(tmp_path / "cpu.max") == BOUND
