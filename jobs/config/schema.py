"""The JSON Schema of the configuration file: for editors, for the generated reference, and for sentences about faults."""

from collections.abc import Iterator
from typing import Any, TypeAlias

from jobs.config.document import Config, Included
from jobs.config.scalars import DURATION_PATTERN, spell_duration

Json: TypeAlias = dict[str, Any]
_URI = "https://json-schema.org/draft/2020-12/schema"


def config_schema() -> Json:
    """The schema with every kind of source and target as a literal of its `type`; defaults are spelled as one would write them."""
    schema = Config.model_json_schema(by_alias=True)
    definitions = schema["$defs"]
    definitions["TemplatedWorkload"] = _templated(definitions["WorkloadSection"])
    body = definitions["TemplateSection"]["properties"]["workload"]
    body.pop("type")
    body["$ref"] = "#/$defs/TemplatedWorkload"
    for node in _properties(schema):
        _spell_default(node)
        if "description" in node:
            node["description"] = " ".join(node["description"].split())
    return {"$schema": _URI, **schema, "title": "Forecaster configuration"}


def included_schema() -> Json:
    """The schema of a file named by `include`, which has the lists of what is scaled only."""
    schema = config_schema()
    return {**schema, "properties": {name: schema["properties"][name] for name in Included.model_fields}, "required": []}


def resolved(schema: Json, node: Json) -> Json:
    """The node that is meant: behind its reference, and without the alternative of null. Its own description outranks."""
    while "$ref" in node:
        own = {key: value for key, value in node.items() if key != "$ref"}
        node = {**schema["$defs"][node["$ref"].rpartition("/")[2]], **own}
    options = [option for option in node.get("anyOf", ()) if option.get("type") != "null"]
    if len(options) == 1:
        own = {key: value for key, value in node.items() if key != "anyOf"}
        return resolved(schema, {**options[0], **own})
    return node


def entries_of(node: Json) -> Json | None:
    """The node of every entry of a mapping whose keys are names, None where the keys are given."""
    free = node.get("additionalProperties")
    return free if isinstance(free, dict) else next(iter(node.get("patternProperties", {}).values()), None)


def _templated(workload: Json) -> Json:
    """A workload whose name may hold placeholders, so that editors do not call it wrong."""
    name = {key: value for key, value in workload["properties"]["name"].items() if key not in {"pattern", "maxLength"}}
    return {**workload, "title": "TemplatedWorkload", "properties": {**workload["properties"], "name": name}}


def _properties(schema: Json) -> Iterator[Json]:
    for section in (schema, *schema["$defs"].values()):
        yield from section.get("properties", {}).values()


def _spell_default(node: Json) -> None:
    """Durations with their unit; no default where it is a whole section, which says its own."""
    default = node.get("default")
    if isinstance(default, dict):
        del node["default"]
    elif DURATION_PATTERN in _patterns(node) and isinstance(default, int | float):
        node["default"] = spell_duration(default)


def _patterns(node: Json) -> set[str]:
    """The patterns of a text, also of one that may be null."""
    return {option["pattern"] for option in (node, *node.get("anyOf", ())) if "pattern" in option}
