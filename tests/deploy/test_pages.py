"""docs/deploy.md against what is in deploy/: folders, options, kinds and commands that it names are there, and all of them are named."""

import re
from pathlib import Path

import pytest
import typer
from typer.core import TyperCommand

from jobs.references.commands import every_command
from jobs.watchdog.kinds import kind_of
from jobs.watchdog.main import app

ROOT = Path(__file__).parents[2]
KUSTOMIZE = ROOT / "deploy" / "kustomize"
PAGE = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_every_role_of_the_folder_is_in_the_table_and_the_other_way_round() -> None:
    named = set(re.findall(r"`rbac/([a-z-]+)`", section("Rights")))
    assert named == {folder.name for folder in (KUSTOMIZE / "rbac").iterdir()}


def test_every_part_is_named() -> None:
    named = set(re.findall(r"^\| `([a-z]+)(?:/KIND)?` \|", PAGE.partition("\n## ")[0], flags=re.MULTILINE))
    assert named == {folder.name for folder in KUSTOMIZE.iterdir()}


def test_the_options_of_the_watchdog_are_those_of_the_table() -> None:
    command = typer.main.get_command(app)
    assert isinstance(command, TyperCommand)
    options = {next(name for name in parameter.opts if name.startswith("--")): parameter.envvar for parameter in command.params}
    told = re.findall(r"^\| `(--[a-z-]+)` \| (?:`(\w+)`)? ?\|", section("Watchdog"), flags=re.MULTILINE)
    assert {name: variable or None for name, variable in told} == {**options, "--kubeconfig": "KUBECONFIG"}
    assert len(options) <= 6


def test_every_kind_that_the_watchdog_knows_is_named_and_is_one() -> None:
    text = re.split(r"Other\s+kinds", section("Watchdog").partition("\nKinds: ")[2])[0]
    named = [name for name in re.findall(r"`([^`]+)`", text) if "GROUP" not in name]
    whole = [f"kubernetes-scale{name}" if name.startswith(":") else name for name in named]
    assert [kind_of(name).name for name in whole] == whole
    assert {"kubernetes-hpa", "knative", "kubernetes-scale:Rollout", "capacity-buffer"} <= set(whole)


@pytest.mark.parametrize("page", ["docs/deploy.md", "examples/blueprint/README.md", "deploy/README.md"])
def test_links_lead_somewhere_and_commands_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for link, anchor in re.findall(r"\]\(([^)#:]*)(?:#([\w-]+))?\)", text):
        target = ((ROOT / page).parent / link) if link else ROOT / page
        assert target.exists(), link
        if anchor and target.suffix == ".md":
            titles = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), flags=re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", title).strip().lower().replace(" ", "-") for title in titles}, anchor
    known = {name.partition(" ")[0] for name, _ in every_command()}
    assert set(re.findall(r"-- forecaster ([a-z]+)", text)) <= known
    for folder in re.findall(r"-k ((?:deploy|examples)/[\w/-]+)", text):
        assert "KIND" in folder or (ROOT / folder / "kustomization.yaml").exists(), folder


def test_the_overlay_that_the_page_shows_names_folders_that_are_there() -> None:
    for path in re.findall(r"- (?:\.\./)+(deploy/kustomize/[\w/-]+)", PAGE):
        assert (ROOT / path / "kustomization.yaml").exists(), path
