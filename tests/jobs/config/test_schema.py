"""The JSON Schema says what the reader takes: every kind by its name, every default as one would write it."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import TypeAdapter

from connectors.sources.registry import SourceConfig
from connectors.targets.registry import TargetConfig
from jobs.config.scalars import DURATION_PATTERN, duration_s
from jobs.config.schema import Json, config_schema


def settings() -> Iterator[tuple[str, Json]]:
    schema = config_schema()
    for name, section in (("the top", schema), *schema["$defs"].items()):
        for key, node in section.get("properties", {}).items():
            yield f"{name}.{key}", node


@pytest.mark.parametrize("kinds", [SourceConfig, TargetConfig])
def test_every_kind_of_source_and_target_is_a_literal(kinds: Any) -> None:
    schema = TypeAdapter[Any](kinds).json_schema()
    literals = {node["const"] for name, node in settings() if name.endswith(".type") and "const" in node}
    assert set(schema["discriminator"]["mapping"]) <= literals
    assert len(schema["discriminator"]["mapping"]) >= 2


def test_every_reference_leads_somewhere() -> None:
    schema = config_schema()
    text = json.dumps(schema)
    assert set(re.findall(r'"#/\$defs/(\w+)"', text)) <= set(schema["$defs"])


def test_durations_have_a_default_with_a_unit() -> None:
    defaults = {name: node["default"] for name, node in settings() if node.get("pattern") == DURATION_PATTERN and "default" in node}
    assert defaults["PolicySection.hold"] == "10m"
    assert dict(settings())["WhenSection.lasting"]["default"] == "5s"  # which may be null as well
    assert all(duration_s(default) > 0 for default in defaults.values())


def test_the_name_of_a_templated_workload_may_hold_placeholders() -> None:
    definitions = config_schema()["$defs"]
    assert "pattern" in definitions["WorkloadSection"]["properties"]["name"]
    assert "pattern" not in definitions["TemplatedWorkload"]["properties"]["name"]
    assert definitions["TemplateSection"]["properties"]["workload"]["$ref"] == "#/$defs/TemplatedWorkload"


def test_every_setting_says_what_it_means_and_what_its_default_is() -> None:
    for name, node in settings():
        is_kind, is_section = name.endswith(".type"), "$ref" in node
        said = node.get("description", "")
        assert is_kind or is_section or said, f"{name} says nothing"
        assert is_kind or is_section or "default" in said.lower(), f"{name} says nothing of its default"
