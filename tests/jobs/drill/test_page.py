"""docs/drill.md against the code: its example is what the command prints, and every promise and result is explained."""

import re
from pathlib import Path

import pytest

from forecaster.units import iso
from jobs.drill.outcome import Promise, Result
from tests.jobs.cli.process import forecaster
from tests.jobs.drill.rehearsed import foreseen, well_granted
from tests.jobs.world import NOW, World

PAGE = (Path(__file__).parents[3] / "docs" / "drill.md").read_text(encoding="utf-8")


def test_the_example_is_what_the_command_prints_but_for_the_numbers(world: World) -> None:
    world.workload("chat", mode="observe")
    world.api.edit("serving", "chat", manager="argocd-controller", minReplicas=3)
    well_granted(world)
    foreseen(world)
    printed = forecaster(world.folder, "check", "--drill", "--config", str(world.path), "--now", iso(NOW), "--output", "markdown")
    shown = PAGE[PAGE.index("| workload |") :].partition("\n\n")[0]
    assert numberless(shown) == numberless(printed.out.rstrip())
    assert numberless(printed.err.strip()) in numberless(PAGE)


@pytest.mark.parametrize("promise", Promise)
def test_every_promise_is_explained(promise: Promise) -> None:
    assert f"| `{promise}` | " in PAGE


@pytest.mark.parametrize("result", Result)
def test_every_result_is_explained(result: Result) -> None:
    assert f"- `{result}`: " in PAGE


def numberless(text: str) -> str:
    """The text without what a forecast may put otherwise on another machine."""
    return re.sub(r"\d+(\.\d+)?", "N", text)
