"""The section `budgets`, and what pools say of their place under one."""

from pathlib import Path

from forecaster.claim import Claim
from jobs.config.budgets import budgets_of
from jobs.config.reading import read_config
from tests.jobs.config.samples import SOURCES, WORKLOAD, faults_of, with_workload

POOL = "{name: gpu,"


def claiming(claim: str, policy: str = "{min: 5}") -> str:
    return with_workload(POOL, f"{POOL} {claim},") + f"    policy: {policy}\n"


def test_a_budget_and_the_claims_on_it_are_read_where_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "forecaster.yaml"
    path.write_text(claiming("budget: h100, gpus_per_replica: 8, priority: 3") + "budgets: {h100: {gpus: 40}}\n")
    config = read_config(path)
    assert config.workloads[0].to_core().pools[0].claim == Claim(budget="h100", gpus_per_replica=8, priority=3)
    assert [(budget.name, budget.gpus) for budget in budgets_of(config.budgets)] == [("h100", 40)]


def test_a_pool_without_a_budget_has_no_claim(tmp_path: Path) -> None:
    path = tmp_path / "forecaster.yaml"
    path.write_text(with_workload(POOL, POOL))
    assert read_config(path).workloads[0].to_core().pools[0].claim is None


def test_a_budget_below_the_minimums_of_its_pools_is_refused_with_the_sum(tmp_path: Path) -> None:
    written = claiming("budget: h100, gpus_per_replica: 8") + "budgets: {h100: {gpus: 39}}\n"
    assert faults_of(tmp_path, written) == [
        (
            "forecaster.yaml: budgets.h100.gpus: 39 GPUs are fewer than the minimums of its pools take together, 40 (5 x 8 of chat/gpu); "
            "raise gpus, or lower `min` in their policies"
        )
    ]


def test_what_is_always_on_under_a_budget_is_told_to_be_lowered_by_its_own_name(tmp_path: Path) -> None:
    written = claiming("budget: h100, always_on: 6", policy="{max: 9}") + "budgets: {h100: {gpus: 4}}\n"
    (fault,) = faults_of(tmp_path, written)
    assert fault.endswith("take together, 6 (6 x 1 of chat/gpu); raise gpus, or lower `always_on`")


def test_the_minimums_of_included_workloads_count_too(tmp_path: Path) -> None:
    team = f"workloads:{WORKLOAD}".replace(POOL, f"{POOL} budget: h100,") + "    policy: {min: 5}\n"
    assert faults_of(tmp_path, f"{SOURCES}include: [team.yaml]\nbudgets: {{h100: {{gpus: 4}}}}\n", team=team) == [
        (
            "forecaster.yaml: budgets.h100.gpus: 4 GPUs are fewer than the minimums of its pools take together, 5 (5 x 1 of chat/gpu); "
            "raise gpus, or lower `min` in their policies"
        )
    ]


def test_a_budget_that_is_not_there_is_named_with_the_one_that_was_meant(tmp_path: Path) -> None:
    assert faults_of(tmp_path, claiming("budget: h10") + "budgets: {h100: {gpus: 40}}\n") == [
        "forecaster.yaml: workloads[0].pools[0].budget: there is no budget 'h10'; did you mean h100?"
    ]
    assert faults_of(tmp_path, claiming("budget: h100")) == [
        "forecaster.yaml: workloads[0].pools[0].budget: there is no budget 'h100'; write it under `budgets`"
    ]


def test_a_budget_of_nothing_is_refused(tmp_path: Path) -> None:
    assert faults_of(tmp_path, claiming("budget: h100") + "budgets: {h100: {gpus: 0}}\n") == [
        "forecaster.yaml: budgets.h100.gpus: must be at least 1, got 0"
    ]
