"""The worked example of docs/simulation.md says what it says."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[4] / "docs" / "simulation.md").read_text()


def test_the_example_of_the_page_prints_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    code, shown = (re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)[0] for language in ("python", "text"))
    exec(compile(code, "docs/simulation.md", "exec"), {})  # noqa: S102 - our own page
    assert capsys.readouterr().out == shown
