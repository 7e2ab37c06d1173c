"""Prefill and decode of one workload down the whole line."""

from datetime import timedelta
from pathlib import Path

from jobs.apply import apply_fleet
from jobs.forecast import forecast_fleet
from tests.jobs.config.samples import faults_of, with_workload
from tests.jobs.world import NOW, World

MINUTE = timedelta(minutes=1)


def disaggregated(world: World, ratio: list[float]) -> None:
    """A workload whose prompts are read by one pool, a replica for 500 requests a minute, and answered by another, one for 100."""
    world.workload("chat")
    workloads = world.config["workloads"]
    assert isinstance(workloads, list)
    (decode,) = workloads[-1]["pools"]
    (target,) = decode["targets"]
    prefill = {"name": "prefill", "capacity": {"rpm": 500}, "targets": [{**target, "name": "chat-prefill"}]}
    workloads[-1] |= {"pools": [prefill, decode], "roles": {"prefill": "prefill", "decode": "gpu", "ratio": ratio}}
    world.api.add_hpa("serving", "chat-prefill", min_replicas=1, max_replicas=40)


def test_l27_both_roles_are_written_in_the_ratio_and_neither_lifts_the_other_in_turns(world: World) -> None:
    disaggregated(world, [0.333, 0.333])
    with world.fleet() as fleet:
        forecast_fleet(fleet, NOW)
        seen = []
        for minutes in range(0, 180, 5):
            apply_fleet(fleet, NOW + minutes * MINUTE)
            seen.append((world.floor("chat-prefill"), world.floor("chat")))
    prefill, decode = seen[-1]
    assert 10 <= decode <= 15  # what its own load asks for
    assert prefill == -(-decode * 333 // 1000)
    assert max(decode for _, decode in seen) <= 15


def test_roles_that_name_no_pool_are_refused(tmp_path: Path) -> None:
    written = with_workload("    pools:", "    roles: {prefill: a, decode: gpu, ratio: [0.2, 1]}\n    pools:")
    (fault,) = faults_of(tmp_path, written)
    assert fault.endswith("roles.prefill must name a pool of the workload, got a; there is gpu")


def test_a_ratio_with_a_pool_of_bulk_work_is_refused(tmp_path: Path) -> None:
    bulk = "bulk: {replica_hours: 1, deadline: '06:00'}, budget: h100"
    written = with_workload("    pools:", "    roles: {prefill: night, decode: gpu, ratio: [0.2, 1]}\n    pools:").replace(
        "{name: gpu,", f"{{name: night, {bulk}, targets: [{{type: recording, name: night}}]}}, {{name: gpu,"
    )
    (fault,) = faults_of(tmp_path, f"{written}budgets: {{h100: {{gpus: 4}}}}\n")
    assert fault.endswith("roles.prefill names night, which has bulk work: a ratio is one of pools that serve live load; name another")


def test_a_ratio_has_two_numbers_the_smaller_first(tmp_path: Path) -> None:
    written = with_workload("    pools:", "    roles: {prefill: a, decode: gpu, ratio: [2, 1]}\n    pools:")
    (fault,) = faults_of(tmp_path, written)
    assert "roles.ratio must be its least and its most value in this order, got 2 and 1" in fault
    (fault,) = faults_of(tmp_path, written.replace("[2, 1]", "[2]"))
    assert "ratio" in fault
