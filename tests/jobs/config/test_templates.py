"""A template is checked when the file is read, and filled in when an object is there."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from connectors.kube.connection import KubeConnection
from connectors.targets.discovery import Found
from connectors.targets.kubernetes_hpa import KubernetesHpaConfig
from jobs.config.reading import read_config
from jobs.config.templates import TemplateSection
from tests.jobs.config.samples import SOURCES, faults_of

BODY = """
      name: "{namespace}.{name}"
      source: prom
      signals: {rpm: {query: 'sum(rate(vllm:request_success_total{model="{label:model}", ns=~"{namespace}"}[2m]))', unit: per_second}}
      pools:
        - name: gpu
          capacity: {rpm: "{label:example.com/rpm}"}
          lead_time: {cold: "{label:cold}"}
          targets: [{type: kubernetes-hpa, namespace: "{namespace}", name: "{name}"}]
"""
FOR_EACH = "{type: kubernetes-hpa, label_selector: forecaster=on, cluster: {context: production}}"
TEMPLATE = f"{SOURCES}templates:\n  - for_each: {FOR_EACH}\n    workload:{BODY}"
LABELS = {"model": "llama", "example.com/rpm": "90", "cold": "7m"}
AT = "forecaster.yaml: templates[0]"


def template(folder: Path, text: str = TEMPLATE) -> TemplateSection:
    path = folder / "forecaster.yaml"
    path.write_text(text)
    (section,) = read_config(path).templates
    return section


def found(**labels: str) -> Found:
    return Found(namespace="inference", name="chat", labels={**LABELS, **labels})


def test_placeholders_stand_for_what_was_found_and_other_braces_stay(tmp_path: Path) -> None:
    workload = template(tmp_path).workload_of(found())
    assert workload.name == "inference.chat"
    assert workload.signals["rpm"].query == 'sum(rate(vllm:request_success_total{model="llama", ns=~"inference"}[2m]))'


def test_a_label_may_be_a_number_or_a_duration(tmp_path: Path) -> None:
    (pool,) = template(tmp_path).workload_of(found()).pools
    assert (pool.capacity.rpm, pool.lead_time.cold) == (90, 420)


def test_an_object_is_written_in_the_cluster_where_it_was_found(tmp_path: Path) -> None:
    (target,) = template(tmp_path).workload_of(found()).pools[0].targets
    assert target == KubernetesHpaConfig(
        type="kubernetes-hpa", namespace="inference", name="chat", cluster=KubeConnection(context="production")
    )


def test_a_target_that_names_its_cluster_keeps_it(tmp_path: Path) -> None:
    text = TEMPLATE.replace('name: "{name}"}]', 'name: "{name}", cluster: {context: staging}}]')
    (target,) = template(tmp_path, text).workload_of(found()).pools[0].targets
    assert isinstance(target, KubernetesHpaConfig)
    assert target.cluster.context == "staging"


def test_an_object_without_the_label_is_told_apart_from_a_wrong_one(tmp_path: Path) -> None:
    section = template(tmp_path)
    bare = Found(namespace="inference", name="chat", labels={})
    with pytest.raises(ValueError, match="it has no label model, which the template asks for; add the label, or narrow label_selector"):
        section.workload_of(bare)
    with pytest.raises(ValidationError):
        section.workload_of(found(cold="soon"))


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("source: prom", "sorce: prom", ".workload.sorce: is no known key; did you mean source?"),
        ("source: prom", "source: other", ".workload.source: there is no source 'other'; there is prom"),
        ("name: gpu", "name: g p", ".workload.pools[0].name: a name begins with"),
        ("unit: per_second", "unit: hertz", ".workload.signals.rpm.unit: must be per_second, per_minute or count, got 'hertz'"),
        ('{name}"}]', '{nme}"}]', ".workload: {nme} is no placeholder; there are {name}, {namespace} and {label:KEY}"),
        ("{label:model}", "{lable:model}", ".workload: {lable:model} is no placeholder; there are"),
        ('name: "{namespace}.{name}"', "name: {name}", ".workload.name: must be text; quote a text that begins with a brace"),
        ("label_selector: forecaster=on, ", "", ".for_each.label_selector: is missing: which of them, in kubectl's words"),
        ("label_selector: forecaster=on", "label_selector: ''", ".for_each.label_selector: must not be empty"),
        (
            "type: kubernetes-hpa, label",
            "type: kubernetes, label",
            ".for_each.type: must be kubernetes-hpa, got 'kubernetes'; did you mean",
        ),
        ("context: production", "contxt: production", ".for_each.cluster.contxt: is no known key; did you mean context?"),
    ],
)
def test_what_is_wrong_with_every_workload_is_said_when_the_file_is_read(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    assert old in TEMPLATE
    lines = faults_of(tmp_path, TEMPLATE.replace(old, new, 1))
    assert [line for line in lines if line.startswith(f"{AT}{sentence}")]


def test_what_a_placeholder_decides_is_not_judged_before_it_has_a_value(tmp_path: Path) -> None:
    section = template(tmp_path, TEMPLATE + '      policy: {mode: "{label:mode}", level: "{label:level}"}\n')
    assert section.workload_of(found(mode="auto", level="0.9")).policy.level == 0.9


def test_an_included_file_may_hold_templates(tmp_path: Path) -> None:
    (tmp_path / "team.yaml").write_text(TEMPLATE.replace(SOURCES, ""))
    (tmp_path / "forecaster.yaml").write_text(f"{SOURCES}include: [team.yaml]\n")
    (section,) = read_config(tmp_path / "forecaster.yaml").templates
    assert section.for_each.label_selector == "forecaster=on"
