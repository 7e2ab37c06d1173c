"""docs/targets.md and docs/targets/ against the code: what it shows can be used, and every kind, mark and permission stands in it."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from pydantic import TypeAdapter

from connectors.targets.marks import OURS, PAUSED
from connectors.targets.registry import TargetConfig
from forecaster import errors
from forecaster.ports import StartSource
from tests.connectors.targets import object_subjects
from tests.connectors.targets.subjects import HpaSubject, let_go, stand
from tests.kube_api import KubeApi
from tests.kube_pods import put_workload

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "targets.md").read_text(encoding="utf-8")
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in sorted((DOCS / "targets").glob("*.md"))}
"""The pages of single kinds, by kind."""
CONFIGS: TypeAdapter[TargetConfig] = TypeAdapter(TargetConfig)
FENCES = re.findall(r"```yaml\n(.*?)```", PAGES["kubernetes-hpa"], flags=re.DOTALL)
EXAMPLES = [
    fence
    for page in (PAGE, *PAGES.values())
    for fence in re.findall(r"```yaml\n(.*?)```", page, flags=re.DOTALL)
    if fence.startswith("- type:")
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_is_a_configuration(example: str) -> None:
    (document,) = yaml.safe_load(example)
    CONFIGS.validate_python(document)


def test_every_kind_has_its_example() -> None:
    kinds = {kind.model_fields["type"].annotation for kind in get_args(get_args(TargetConfig)[0])}
    assert {yaml.safe_load(example)[0]["type"] for example in EXAMPLES} == {name for kind in kinds for name in get_args(kind)}


@pytest.mark.parametrize("kind", PAGES)
def test_every_kinds_page_shows_it_tells_rights_and_undoing_and_is_linked(kind: str) -> None:
    assert f"- type: {kind}\n" in PAGES[kind]
    assert "\n## Permissions\n" in PAGES[kind]
    assert "\n## Undo without Forecaster\n" in PAGES[kind]
    assert f"(targets/{kind}.md)" in PAGE


@pytest.mark.parametrize("example", [example for example in EXAMPLES if "\n  namespace: " in example])
def test_every_object_that_an_example_moves_can_be_undone_by_kubectl(example: str) -> None:
    (document,) = yaml.safe_load(example)
    undo = PAGES[document["type"]].partition("\n## Undo without Forecaster\n")[2]
    revision = "-00001" if document["type"] == "knative" else ""
    assert re.search(rf"kubectl (patch|scale) [\w.]+ {document['name']}{revision} -n {document['namespace']} ", undo)


@pytest.mark.parametrize("word", [*OURS, PAUSED, *(kind.__name__ for kind in errors.TargetError.__subclasses__())])
def test_every_mark_and_error_is_explained(word: str) -> None:
    assert f"`{word}`" in PAGE


def test_the_role_allows_what_a_hpa_is_asked_and_no_more(api: KubeApi) -> None:
    subject = HpaSubject(api=api)
    put_workload(api, "inference", subject.name, replicas=3, ready=3)
    stand(subject.open(), 8)
    starts = subject.open()
    assert isinstance(starts, StartSource)
    starts.starts(datetime(2026, 3, 2, tzinfo=UTC))
    let_go(subject.open())
    asked = {(request.verb, request.path.partition("/namespaces/inference/")[2].split("/")[0]) for request in api.requests}
    role: dict[str, Any] = next(document for fence in FENCES for document in yaml.safe_load_all(fence) if "rules" in document)
    allowed = {(verb, resource) for rule in role["rules"] for verb in rule["verbs"] for resource in rule["resources"]}
    assert asked == allowed - {("get", "statefulsets")}


@pytest.mark.parametrize("kind", object_subjects.KINDS)
def test_the_roles_of_an_objects_page_allow_what_it_is_asked(api: KubeApi, kind: str) -> None:
    subject = object_subjects.ObjectSubject(api=api, kind=kind)
    stand(subject.open(), 8)
    let_go(subject.open())
    asked = {(request.verb, _resource(request.path)) for request in api.requests}
    told = "".join(PAGES[name] for name in PAGES_OF.get(kind, (kind,)))
    documents = [one for fence in re.findall(r"```yaml\n(.*?)```", told, flags=re.DOTALL) for one in yaml.safe_load_all(fence)]
    rules = [rule for one in documents if "rules" in one for rule in one["rules"]]
    assert asked <= {(verb, resource) for rule in rules for verb in rule["verbs"] for resource in rule["resources"]}


PAGES_OF = {"kserve-serverless": ("kserve", "knative"), "dynamo-service": ("dynamo",)}


def _resource(path: str) -> str:
    parts = path.strip("/").split("/")
    rest = parts[2:] if parts[0] == "api" else parts[3:]
    return rest[2] if rest[0] == "namespaces" else rest[0]
