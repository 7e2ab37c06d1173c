"""docs/configuration.md, from the schema of the configuration."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from jobs.config.scalars import CLOCK_PATTERN, DURATION_PATTERN, plain_number
from jobs.config.schema import Json, config_schema, entries_of, resolved

_HEAD = """# Configuration

This page is written by `make docs` from the code that reads the file. `forecaster init` writes a commented example,
`forecaster init --schema` the JSON Schema for editors, and `forecaster check` says what works.

- The file is the one named by `--config`, else `$FORECASTER_CONFIG`, else `./forecaster.yaml`. Relative paths begin at its directory,
  also those in files that it includes.
- It is YAML 1.2: `18:00`, `no` and `2024-05-18` are texts. A key that is not on this page is refused, and so is one that stands twice.
- `${NAME}` in any text is the environment variable of that name, so that secrets need not stand in the file; `$${NAME}` is the text itself.
  Inside `{ }` and `[ ]` it needs quotes.
- A duration is a number with its unit: `90s`, `10m`, `1h30m`, `7d`, `8w`.
- Numbers of replicas are whole; loads are in requests per minute (`rpm`), requests in flight (`concurrency`) and tokens per second
  (`tokens`), whatever unit a query answers in.
"""
_VARIABLE = re.compile(r"\$?\{[A-Za-z:_]+\}")
_KINDS = {"string": "text", "integer": "whole number", "number": "number", "boolean": "`true` or `false`"}
_BOUNDS = (("minimum", "from"), ("exclusiveMinimum", "above"), ("maximum", "to"), ("exclusiveMaximum", "below"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """One section of the file: how one gets there, and its name in the schema."""

    path: str
    name: str


def configuration_page() -> str:
    """Every section of the file with its settings: value, default, meaning."""
    schema = config_schema()
    schema["$defs"]["TemplateSection"]["properties"]["workload"]["$ref"] = "#/$defs/WorkloadSection"  # the same keys: one table
    return f"{_HEAD}\n## The top of the file\n\n{_table(schema, schema)}" + "".join(_section(schema, part) for part in _parts(schema))


def _parts(schema: Json) -> Iterator[_Part]:
    """Every section once, in the order in which one comes upon it from the top."""
    seen: set[str] = set()
    waiting = _below("", schema)
    while waiting:
        part = waiting.pop(0)
        if part.name not in seen:
            seen.add(part.name)
            yield part
            waiting = _below(part.path, schema["$defs"][part.name], schema) + waiting


def _below(path: str, section: Json, schema: Json | None = None) -> list[_Part]:
    """The sections that a section's keys lead to."""
    prefix = f"{path}." if path else ""
    return [
        _Part(path=f"{prefix}{key}{suffix}", name=name)
        for key, node in section["properties"].items()
        for suffix, name in _leads(node)
        if "properties" in (schema or section)["$defs"][name]
    ]


def _leads(node: Json) -> Iterator[tuple[str, str]]:
    """The names in the schema that a node refers to, and what is to be added to its path to get there."""
    if "$ref" in node:
        yield "", node["$ref"].rpartition("/")[2]
    kinds = {ref: kind for kind, ref in node.get("discriminator", {}).get("mapping", {}).items()}
    for option in node.get("oneOf", ()):
        kind = kinds.get(option["$ref"])
        yield "" if kind is None else f" (type: {kind})", option["$ref"].rpartition("/")[2]
    for option in node.get("anyOf", ()):
        yield from _leads(option)
    for added, entry in (("[]", node.get("items")), (".NAME", entries_of(node))):
        if entry is not None:
            yield from ((f"{added}{suffix}", name) for suffix, name in _leads(entry))


def _section(schema: Json, part: _Part) -> str:
    node = schema["$defs"][part.name]
    return f'\n<a id="{_anchor(part.name)}"></a>\n\n## {part.path}\n\n{_prose(node)}\n\n{_table(node, schema)}'


def _table(section: Json, schema: Json) -> str:
    required = section.get("required", ())
    rows = []
    for key, node in section["properties"].items():
        default = "required" if key in required else _default(node)
        rows.append(f"| `{key}` | {_value(node, schema)} | {default} | {_prose(resolved(schema, node)) or _kind(node)} |\n")
    return "| Key | Value | Default | Meaning |\n|---|---|---|---|\n" + "".join(rows)


def _value(node: Json, schema: Json) -> str:
    """What may stand there."""
    sections = [name for _, name in _leads(node) if "properties" in schema["$defs"][name]]
    number = "number or " if sections and _may_be_number(node) else ""
    node = resolved(schema, node)
    if "items" in node:
        inner = _links(sections, schema) if sections else _value(node["items"], schema)
        return f"list of {inner}"
    if sections:
        by_name = "" if entries_of(node) is None else "by name: "
        keys = node.get("propertyNames", {}).get("enum")
        return (f"{_code(keys)}, each: " if keys else by_name) + number + _links(sections, schema)
    if entries_of(node) is not None:
        return "texts by name"
    names = [node["const"]] if "const" in node else node.get("enum")
    return _code(names) if names else _plain(node)


def _plain(node: Json) -> str:
    match node.get("pattern"):
        case str(pattern) if pattern == DURATION_PATTERN:
            return "duration"
        case str(pattern) if pattern == CLOCK_PATTERN:
            return "`HH:MM`"
    bounds = " ".join(f"{word} {plain_number(node[key])}" for key, word in _BOUNDS if key in node)
    kind, *words = node["type"] if isinstance(node["type"], list) else [node["type"]]  # a number, or a word that the pattern spells
    told = f"{_KINDS[kind]} {bounds}".strip()
    return f"{told}, or `{node['pattern'].strip('^$')}`" if words else told


def _may_be_number(node: Json) -> bool:
    """Whether a plain number may stand in the place of a section."""
    return node.get("type") == "number" or any(_may_be_number(option) for option in node.get("anyOf", ()))


def _default(node: Json) -> str:
    """The default as one would write it; nothing where its meaning says it in words."""
    value = node.get("default")
    if value is None or value in ([], {}):
        return ""
    return f"`{value if isinstance(value, str) else plain_number(value) if isinstance(value, float) else json.dumps(value)}`"


def _links(names: list[str], schema: Json) -> str:
    return " or ".join(f"[{_label(schema['$defs'][name], name)}](#{_anchor(name)})" for name in names)


def _label(section: Json, name: str) -> str:
    """What a link to a section says: its `type` where it is one of several kinds."""
    kind = section["properties"].get("type", {}).get("const")
    return f"`{kind}`" if kind else "section" if name else ""


def _kind(node: Json) -> str:
    return "This kind." if "const" in node else ""


def _code(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _prose(node: Json) -> str:
    """A description on one line, safe inside of a table; placeholders and variables are set as code."""
    texts = " ".join(node.get("description", "").split()).replace("|", "\\|").split("`")
    texts[::2] = [_VARIABLE.sub(r"`\g<0>`", text) for text in texts[::2]]
    return "`".join(texts)


def _anchor(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()
