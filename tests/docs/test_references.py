"""The references in docs/ are what the code says, and every command can be learnt from its own help."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.core import TyperCommand

from jobs.references.commands import commands_page, every_command, prose_and_example
from jobs.references.configuration import configuration_page
from jobs.references.presets import presets_page

ROOT = Path(__file__).parents[2]
COMMANDS = dict(every_command())
DESIGNED = """
    init check demo fetch forecast plan apply run daemon review approve reject pause resume release status explain history backtest migrate
"""
HEAVY = (
    "pandas",
    "numpy",
    "statsmodels",
    "prophet",
    "sqlalchemy",
    "alembic",
    "kubernetes",
    "boto3",
    "httpx2",
    "fastapi",
    "pydantic",
    "rich",
)


@pytest.mark.parametrize(
    ("name", "page"), [("configuration.md", configuration_page), ("cli.md", commands_page), ("presets.md", presets_page)]
)
def test_a_reference_is_what_make_docs_would_write(name: str, page: Callable[[], str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")  # whatever the terminal
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == page(), "run `make docs` and commit what it writes"


def test_make_docs_writes_every_reference(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "jobs.references", str(tmp_path)], cwd=ROOT, check=True)  # noqa: S603 - our own module
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cli.md", "configuration.md", "presets.md"]


def test_every_command_of_the_design_is_there() -> None:
    assert {name.partition(" ")[0] for name in COMMANDS} >= set(DESIGNED.split())
    assert set(COMMANDS) >= {"override set", "override clear", "history show", "history mark", "history unmark"}


@pytest.mark.parametrize("name", COMMANDS)
class TestEveryCommand:
    def test_has_help_that_says_what_it_does(self, name: str) -> None:
        prose, _ = prose_and_example(COMMANDS[name])
        assert prose.split("\n")[0].endswith((".", ".)"))

    def test_has_an_example_that_runs_it(self, name: str) -> None:
        _, example = prose_and_example(COMMANDS[name])
        assert f"forecaster {name}" in example
        assert "\n" not in example

    def test_has_at_most_six_options(self, name: str) -> None:
        assert len(_options(COMMANDS[name])) <= 6

    def test_explains_every_option_and_argument(self, name: str) -> None:
        assert all(getattr(parameter, "help", None) for parameter in COMMANDS[name].params)

    def test_has_its_place_in_the_docs(self, name: str) -> None:
        assert f"\n## {name}\n" in (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")


def _options(command: TyperCommand) -> list[str]:
    return [str(parameter.name) for parameter in command.params if parameter.param_type_name == "option" and parameter.name != "help"]


def test_help_waits_for_nothing_heavy() -> None:
    code = f"import sys, jobs.cli.main; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603 - our own module
    assert done.stdout.split() == []
