"""The roles on the pages of scaled objects against what these targets ask of an API server."""

import re
from pathlib import Path

import pytest
import yaml

from tests.connectors.targets.scale_subjects import PlaceholderSubject, ScaleSubject
from tests.connectors.targets.subjects import Subject, let_go, stand
from tests.kube_api import KubeApi

PAGES = Path(__file__).parents[3] / "docs" / "targets"


def asked_of(api: KubeApi) -> set[tuple[str, str]]:
    """Verb and resource of every request in the namespace, as rules name them."""
    paths = ((request.verb, request.path.partition("/namespaces/inference/")[2].split("/")) for request in api.requests)
    return {(verb, "/".join([parts[0], *parts[2:]])) for verb, parts in paths if parts[0]}


def allowed_by(kind: str) -> set[tuple[str, str]]:
    """Verb and resource of the Role on the page of the kind."""
    page = (PAGES / f"{kind}.md").read_text(encoding="utf-8")
    documents = [document for fence in re.findall(r"```yaml\n(.*?)```", page, flags=re.DOTALL) for document in yaml.safe_load_all(fence)]
    (role,) = [document for document in documents if isinstance(document, dict) and document.get("kind") == "Role"]
    return {(verb, resource) for rule in role["rules"] for verb in rule["verbs"] for resource in rule["resources"]}


@pytest.mark.parametrize("kind", ["kubernetes-scale", "placeholder-pods"])
def test_the_role_allows_what_is_asked_and_no_more(api: KubeApi, kind: str) -> None:
    subject: Subject = ScaleSubject(api=api) if kind == "kubernetes-scale" else PlaceholderSubject(api=api)
    for floor in (8, 5):
        stand(subject.open(), floor)
    let_go(subject.open())
    optional = {("list", "podautoscalers")}  # loops of serving projects, where we may list them
    assert asked_of(api) - optional == allowed_by(kind)
