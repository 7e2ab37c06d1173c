"""deploy/kustomize/rbac grants what the pages of targets tell, and the watchdog and the Lease what they need."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from connectors.leases.kubernetes import KubernetesLeaseConfig
from connectors.levers.kubernetes_field import KubernetesFieldLeverConfig
from jobs.drill.lease import NAME as DRILL
from jobs.export.lever_rights import lever_roles
from jobs.levers.once import LEASE as LEVERS
from jobs.operating_point import TUNE
from jobs.telemetry.runs import Half

ROOT = Path(__file__).parents[2]
KUSTOMIZE = ROOT / "deploy" / "kustomize"
RBAC = KUSTOMIZE / "rbac"
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "targets").glob("*.md")}
OURS = {"kind": "ServiceAccount", "name": "forecaster", "namespace": "forecaster"}
SPACE = "inference"
"""The namespace that the pages take for an example."""


def documents(path: Path) -> list[dict[str, Any]]:
    return [document for document in yaml.safe_load_all(path.read_text(encoding="utf-8")) if document]


def of_page(kind: str) -> dict[tuple[str, str | None], Any]:
    """The rules on the page by the kind of role and its namespace, None = the one that it is applied to, or of the whole cluster."""
    told = [
        document
        for fence in re.findall(r"```yaml\n(.*?)```", PAGES[kind], flags=re.DOTALL)
        for document in yaml.safe_load_all(fence)
        if isinstance(document, dict) and "rules" in document
    ]
    return rules_by_place(told)


def rules_by_place(roles: list[dict[str, Any]]) -> dict[tuple[str, str | None], Any]:
    spaces = [role["metadata"].get("namespace") for role in roles]
    return {
        (role["kind"], None if space == SPACE else space): role["rules"]
        for role, space in zip(roles, spaces, strict=True)
        if role["apiVersion"] == "rbac.authorization.k8s.io/v1"
    }


@pytest.mark.parametrize("kind", sorted(kind for kind in PAGES if of_page(kind)))
def test_a_kinds_role_is_the_one_on_its_page(kind: str) -> None:
    granted = [document for folder in RBAC.glob(f"{kind}*") if folder.name in {kind, f"{kind}-controller"} for document in roles(folder)]
    assert rules_by_place(granted) == of_page(kind)


def roles(folder: Path) -> list[dict[str, Any]]:
    return [document for document in documents(folder / "role.yaml") if "rules" in document]


def test_every_kind_of_kubernetes_has_its_folder() -> None:
    others = {"nodes", "templates", "watchdog", "kserve-controller", "levers"}
    assert {folder.name for folder in RBAC.iterdir()} - others == {kind for kind in PAGES if of_page(kind)}


@pytest.mark.parametrize("folder", sorted(RBAC.iterdir()), ids=lambda folder: folder.name)
def test_every_role_is_bound_to_the_account_that_needs_it_and_to_nobody_else(folder: Path) -> None:
    found = documents(folder / "role.yaml")
    names = {(one["kind"], one["metadata"]["name"], one["metadata"].get("namespace")) for one in found if "rules" in one}
    bindings = [one for one in found if "roleRef" in one]
    assert {(one["roleRef"]["kind"], one["roleRef"]["name"], one["metadata"].get("namespace")) for one in bindings} == names
    account = "forecaster-watchdog" if folder.name == "watchdog" else "forecaster"
    assert all(one["subjects"] == [OURS | {"name": account, "namespace": account}] for one in bindings)


def test_the_role_of_levers_is_the_one_that_is_printed_for_the_example_on_their_page() -> None:
    page = (ROOT / "docs" / "levers.md").read_text(encoding="utf-8")
    example = yaml.safe_load(re.findall(r"```yaml\n(.*?)```", page, flags=re.DOTALL)[0])["tiers"]["levers"]
    configs = [KubernetesFieldLeverConfig.model_validate(each) for each in example.values() if each["type"] == "kubernetes-field"]
    printed, binding = lever_roles(config.ref for config in configs)
    (role,) = roles(RBAC / "levers")
    assert role["rules"] == printed["rules"]
    assert binding["subjects"] == [OURS]


def test_no_role_names_a_wildcard_or_may_create_or_delete_what_is_not_ours() -> None:
    rules = [rule for folder in RBAC.iterdir() for role in roles(folder) for rule in role["rules"]]
    assert {verb for rule in rules for verb in rule["verbs"]} == {"get", "list", "patch"}
    assert not any("*" in rule[key] for rule in rules for key in ("apiGroups", "resources", "verbs"))
    assert not any("secrets" in rule["resources"] for rule in rules)


def test_the_watchdog_may_look_at_its_two_kinds_and_put_them_back() -> None:
    (role,) = roles(RBAC / "watchdog")
    assert [(rule["resources"], rule["verbs"]) for rule in role["rules"]] == [
        (["horizontalpodautoscalers"], ["get", "list", "patch"]),
        (["scaledobjects"], ["get", "list", "patch"]),
    ]


def test_the_role_of_the_lease_names_the_leases_that_there_are() -> None:
    (role,) = [document for document in documents(KUSTOMIZE / "base" / "rbac.yaml") if "rules" in document]
    prefix = KubernetesLeaseConfig.model_fields["name"].default
    named = {name for rule in role["rules"] for name in rule.get("resourceNames", ())}
    assert named == {f"{prefix}-{half}" for half in (*(half.value for half in Half), TUNE, LEVERS, DRILL)}
