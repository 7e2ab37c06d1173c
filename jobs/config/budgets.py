"""The `budgets` section: GPUs of one kind that several pools share, and what a pool says of its place among them."""

from collections.abc import Iterator, Mapping, Sequence

from pydantic import BaseModel

from forecaster.budget import Budget
from jobs.config.policy import SECTION
from jobs.config.scalars import Count, did_you_mean, short
from jobs.config.workloads import PoolSection, WorkloadSection


class BudgetSection(BaseModel):
    """GPUs of one kind, a quota or so many machines, that pools share by naming it in their `budget`."""

    model_config = SECTION
    gpus: Count
    """How many there are for floors. No default: it is the quota, less what is to be left to autoscalers above the floors."""


def budgets_of(sections: Mapping[str, BudgetSection]) -> tuple[Budget, ...]:
    """The same in the core's type."""
    return tuple(Budget(name=name, gpus=section.gpus) for name, section in sections.items())


def without_budget(sections: Mapping[str, BudgetSection], workloads: Sequence[tuple[str, WorkloadSection]], place: str = "") -> list[str]:
    """A sentence for each pool whose budget is not there, and for each budget below the minimums of its pools.

    Each workload stands beside the path that leads to it; `place` leads to `budgets`.
    """
    known = tuple(sections)
    there = f"; there is {', '.join(known)}" if known else "; write it under `budgets`"
    found = [
        f"{pool_place}.budget: there is no budget {short(pool.budget)}{did_you_mean(pool.budget, known) or there}"
        for pool_place, _, pool in _sharing(workloads)
        if pool.budget is not None and pool.budget not in sections
    ]
    below = (_below_minimums(name, section, workloads) for name, section in sections.items())
    return found + [f"{place}{told}" for told in below if told is not None]


def _below_minimums(name: str, section: BudgetSection, workloads: Sequence[tuple[str, WorkloadSection]]) -> str | None:
    pools = [(workload, pool) for _, workload, pool in _sharing(workloads) if pool.budget == name]
    holding = [(workload, pool) for workload, pool in pools if workload.policy.minimum or pool.always_on]
    asked = dict.fromkeys("`always_on`" if pool.always_on else "`min` in their policies" for _, pool in holding)
    least = [
        (f"{workload.name}/{pool.name}", max(workload.policy.minimum or 0, pool.always_on or 0), pool.gpus_per_replica)
        for workload, pool in holding
    ]
    total = sum(replicas * gpus for _, replicas, gpus in least)
    if total <= section.gpus:
        return None
    terms = " + ".join(f"{replicas} x {gpus} of {pool}" for pool, replicas, gpus in least)
    told = f"budgets.{name}.gpus: {section.gpus} GPUs are fewer than the minimums of its pools take together, {total} ({terms})"
    return f"{told}; raise gpus, or lower {' and '.join(asked)}"


def _sharing(workloads: Sequence[tuple[str, WorkloadSection]]) -> Iterator[tuple[str, WorkloadSection, PoolSection]]:
    for place, workload in workloads:
        for i, pool in enumerate(workload.pools):
            if pool.budget is not None:
                yield f"{place}.pools[{i}]", workload, pool
