"""What pydantic found wrong, each fault as one sentence: the path to the key, what is wrong, and what to do."""

import re
from collections.abc import Iterable, Iterator
from itertools import takewhile

from pydantic_core import ErrorDetails

from jobs.config.causes import causes
from jobs.config.scalars import DURATION_PATTERN, did_you_mean, plain_number, short, spell_duration
from jobs.config.schema import Json, entries_of, resolved
from jobs.config.shapes import form
from jobs.config.templates import BodyRejected
from jobs.config.variables import KeyPath

_MOST = 20
"""So many sentences are read; more come from one mistake that was copied."""
_LISTED = 12
_ALIKE = 0.8
"""Keys this much alike are a slip of the finger; less alike, a key of that very name elsewhere is the better guess."""
_WORD = re.compile(r"[\w./-]{1,128}")
_ANY = "NAME"
_KEY = "[key]"  # pydantic's mark for a fault of the key itself
_SECTIONS = {"model_type", "model_attributes_type", "dict_type"}
_PLAIN = {
    **dict.fromkeys(_SECTIONS, "be a section with keys of its own"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float", "int_parsing_size"), "be a whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), "be a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "be true or false"),
    "finite_number": "be a finite number",
}
_BOUNDS = {
    "greater_than": ("be above", "gt"),
    "greater_than_equal": ("be at least", "ge"),
    "less_than": ("be below", "lt"),
    "less_than_equal": ("be at most", "le"),
}


def sentences(faults: Iterable[ErrorDetails], schema: Json, at: KeyPath = ()) -> list[str]:
    """One sentence a fault, each beginning with the path to its key. `at`: where the data stood that was judged."""
    found = [sentence for fault in causes(faults) for sentence in _sentences(fault, schema, at)]
    more = len(found) - _MOST
    return [*found[:_MOST], f"... and {more} more faults"] if more > 0 else found


def spell(path: Iterable[str | int]) -> str:
    """How the path to a key is written: workloads[0].policy.level; keys that are no plain word are quoted."""
    parts = (part if isinstance(part, int) or _WORD.fullmatch(part) else short(part) for part in path)
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts).lstrip(".")


def _sentences(fault: ErrorDetails, schema: Json, at: KeyPath) -> Iterator[str]:
    path = (*at, *fault["loc"])
    cause = fault.get("ctx", {}).get("error")
    if isinstance(cause, BodyRejected):
        for inner in cause.faults:
            yield from _sentences(inner, schema, path)
        return
    keys, node = _walk(schema, path)
    said = _unknown_key(schema, path) if fault["type"] == "extra_forbidden" else _said(fault, schema, node)
    yield f"{spell(keys)}: {said}" if keys else said


def _walk(schema: Json, path: KeyPath) -> tuple[KeyPath, Json]:
    """The path as the file has it, without pydantic's names of unions, and the schema's node at its end, empty where it has none."""
    keys: list[str | int] = []
    node = resolved(schema, schema)
    for part in path:
        options = {option["$ref"].rpartition("/")[2]: option["$ref"] for option in node.get("oneOf", ()) if "$ref" in option}
        kinds = {**options, **node.get("discriminator", {}).get("mapping", {})}
        if part in kinds:
            node = resolved(schema, {"$ref": kinds[part]})
        elif part != _KEY:
            keys.append(part)
            child = node.get("items") if isinstance(part, int) else node.get("properties", {}).get(part) or entries_of(node)
            node = {} if child is None else resolved(schema, child)
    return tuple(keys), node


def _said(fault: ErrorDetails, schema: Json, node: Json) -> str:
    context = fault.get("ctx", {})
    match fault["type"]:
        case "missing":
            about = node.get("description", "").partition(". ")[0].rstrip(".")
            said = f"is missing{f': {about[0].lower()}{about[1:]}' if about else ''}"
        case "union_tag_not_found":
            said = f"has no type; there is {_or(_kinds(node))}"
        case "union_tag_invalid":
            remedy = did_you_mean(str(context["tag"]), _kinds(node)) or f"; there is {_or(_kinds(node))}"
            said = f"there is no type {short(context['tag'])}{remedy}"
        case "value_error":
            said = str(context["error"])
        case "invalid_key":
            said = "is a key that YAML takes for no text; put it in quotes"
        case _:
            said = _wrong_value(fault, schema, node)
    return said


def _wrong_value(fault: ErrorDetails, schema: Json, node: Json) -> str:
    value = fault["input"]
    if value is None:
        return "is empty; give it a value, or remove the key"
    must, remedy = _rule(fault, node)
    shown = isinstance(value, str | int | float) and value != "" and fault["type"] not in _SECTIONS and not _secret(schema, node)
    got = spell_duration(value) if isinstance(value, float) and _is_duration(node) else short(value)
    return f"must {must}{f', got {got}' if shown else ''}{remedy}"


def _rule(fault: ErrorDetails, node: Json) -> tuple[str, str]:
    """What the value must be, and how one gets there, in words for people who write YAML."""
    kind, context, value = fault["type"], fault.get("ctx", {}), fault["input"]
    plain = _PLAIN.get(kind) or form(fault)
    if plain is not None:
        return plain, ""
    if kind in _BOUNDS:
        words, key = _BOUNDS[kind]
        bound = context[key]
        return f"{words} {spell_duration(bound) if _is_duration(node) else plain_number(bound)}", ""
    match kind:
        case "literal_error" | "enum":
            names = re.findall(r"'([^']*)'", str(context["expected"]))
            return f"be {_or(names)}", did_you_mean(value, names) if isinstance(value, str) else "; write one of them alone"
        case "tuple_type" | "list_type":
            return "be a list", "; begin each entry with a dash" if isinstance(value, dict) else "; put it in [ ]"
        case "string_type" | "path_type":
            return "be text", "; quote a text that begins with a brace" if isinstance(value, dict) else "; put it in quotes"
        case _:
            return f"be otherwise ({fault['msg'][0].lower()}{fault['msg'][1:]})", ""


def _unknown_key(schema: Json, path: KeyPath) -> str:
    """What may be meant: a key of this section that is spelled alike, else the section that has such a key."""
    at, section = _walk(schema, path[:-1])
    name, known = str(path[-1]), list(section.get("properties", {}))
    alike = did_you_mean(name, known, likeness=_ALIKE)
    elsewhere = [other for other in _paths(schema, resolved(schema, schema), ()) if other[-1] == name and not _same(other[:-1], at)]
    if elsewhere and not alike:
        nearest = max(elsewhere, key=lambda other: _common(other, at))
        return f"is no key of this section; it belongs to {spell(nearest[:-1]) or 'the top of the file'}"
    listed = f"; known here: {', '.join(known)}" if 0 < len(known) <= _LISTED else "; `forecaster init --schema` lists the known ones"
    return f"is no known key{alike or did_you_mean(name, known) or listed}"


def _paths(schema: Json, node: Json, at: KeyPath) -> Iterator[KeyPath]:
    """The path to every key there is; [0] stands for any place in a list, NAME for any name."""
    for option in node.get("oneOf", ()):
        yield from _paths(schema, resolved(schema, option), at)
    for key, child in node.get("properties", {}).items():
        yield (*at, key)
        yield from _paths(schema, resolved(schema, child), (*at, key))
    for part, entry in ((0, node.get("items")), (_ANY, entries_of(node))):
        if entry is not None:
            yield from _paths(schema, resolved(schema, entry), (*at, part))


def _common(path: KeyPath, other: KeyPath) -> int:
    """How many parts two paths share from the start, any name and any place in a list counting as equal."""
    alike = (one in {two, _ANY} or (isinstance(one, int) and isinstance(two, int)) for one, two in zip(path, other, strict=False))
    return sum(takewhile(bool, alike))


def _same(path: KeyPath, other: KeyPath) -> bool:
    return len(path) == len(other) == _common(path, other)


def _kinds(node: Json) -> list[str]:
    return list(node.get("discriminator", {}).get("mapping", {}))


def _secret(schema: Json, node: Json) -> bool:
    """Whether the value at this node is a secret, or a section that holds one."""
    if node.get("writeOnly"):
        return True
    children = [*node.get("properties", {}).values(), *node.get("oneOf", ()), node.get("items"), entries_of(node)]
    return any(_secret(schema, resolved(schema, child)) for child in children if child is not None)


def _is_duration(node: Json) -> bool:
    return node.get("pattern") == DURATION_PATTERN


def _or(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else "".join(names)
