"""docs/scenarios.md names every scenario, and only tests that there are."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "scenarios.md").read_text()
TESTS = {name for file in (ROOT / "tests").rglob("test_*.py") for name in re.findall(r"def (test_[kl]\d\d_\w+)", file.read_text())}


def test_every_scenario_has_a_row() -> None:
    wanted = [f"K{i}" for i in range(1, 53)] + [f"L{i}" for i in range(1, 45)]
    assert re.findall(r"^\| ([KL]\d+) \|", PAGE, re.MULTILINE) == wanted


def test_the_page_and_the_tests_name_each_other() -> None:
    assert set(re.findall(r"`(test_[kl]\d\d_\w+)`", PAGE)) == TESTS


def test_a_scenario_without_a_test_says_why() -> None:
    rows = [line.split(" | ") for line in PAGE.splitlines() if re.match(r"\| [KL]\d+ \|", line)]
    assert all(len(row[3].strip(" |")) > 5 for row in rows)
