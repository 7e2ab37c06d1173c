"""The admission policy's word on levers: a CEL expression that is true where an update changes fields of levers and nothing else.

Of one object, with A as it would be and B as it is, over a tree of the fields that are ours:

    keys       every key of A and B that is not in the tree is in both, and equal
    ours       what stands there is one value, not a map or a list
    on the way the same one level down; where B has it not yet, A has nothing in it but what is ours
    entry      a list stays as long as it is, at most 64, and its other entries are equal
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from connectors.kube.cluster import ObjectRef
from connectors.kube.paths import Path

POLICY = "forecaster-our-field-only"
VARIABLE = "levers"
_LONGEST_LIST = 64
_OF_THE_SERVER = ("metadata", "status")
"""Metadata has validations of its own, and status cannot be changed that way."""
Tree: TypeAlias = dict[str, "Tree"]
"""Keys to what is below them; nothing below: the field itself."""


def lever_expression(fields: Iterable[tuple[ObjectRef, Path]]) -> str:
    """Whether the update is of one of these objects, and changes none but these fields; `false` where there are none."""
    trees: dict[ObjectRef, Tree] = {}
    for ref, path in fields:
        tree = trees.setdefault(ref, {})
        for key in path:
            tree = tree.setdefault(key, {})
    told = [f"({_is(ref)}\n    && {_map('object', 'oldObject', tree, _OF_THE_SERVER)})" for ref, tree in trees.items()]
    return "\n|| ".join(told) or "false"


def policy_component(expression: str) -> dict[str, Any]:
    """The kustomize component that gives the policy of deploy/kustomize/admission the expression."""
    at = "/spec/variables/0"
    patch = [
        {"op": "test", "path": f"{at}/name", "value": VARIABLE},
        {"op": "replace", "path": f"{at}/expression", "value": expression},
    ]
    target = {"kind": "ValidatingAdmissionPolicy", "name": POLICY}
    return {
        "apiVersion": "kustomize.config.k8s.io/v1alpha1",
        "kind": "Component",
        "patches": [{"target": target, "patch": json.dumps(patch)}],
    }


def _is(ref: ObjectRef) -> str:
    told = [("request.resource.group", ref.group), ("request.resource.resource", ref.plural), ("request.name", ref.name)]
    told += [("request.namespace", ref.namespace)] if ref.namespace else []
    return " && ".join(f"{what} == {_text(value)}" for what, value in told)


def _map(after: str, before: str, tree: Mapping[str, Tree], beside: Sequence[str] = ()) -> str:
    ours = _list([*tree, *beside])
    parts = [
        f"{after}.all(k, k in {ours} || (k in {before} && {before}[k] == {after}[k]))",
        f"{before}.all(k, k in {ours} || k in {after})",
        *(_child(after, before, key, below) for key, below in tree.items()),
    ]
    return " && ".join(parts)


def _child(after: str, before: str, key: str, below: Tree) -> str:
    name, here, there = _text(key), f"{after}[{_text(key)}]", f"{before}[{_text(key)}]"
    if not below:
        return f"(!({name} in {after}) || ({_is_value(here)}))"
    both = _deeper(here, there, below)
    return f"({name} in {after} ? ({name} in {before} ? ({both}) : ({_new(here, below)})) : !({name} in {before}))"


def _deeper(here: str, there: str, below: Tree) -> str:
    return _entries(here, there, below) if all(key.isdigit() for key in below) else _map(here, there, below)


def _new(here: str, below: Tree) -> str:
    """Of what was not there: nothing in it but what is ours. Entries of lists are never made."""
    if any(key.isdigit() for key in below):
        return "false"
    parts = [f"{here}.all(k, k in {_list(below)})"]
    for key, rest in below.items():
        inner = f"{here}[{_text(key)}]"
        parts.append(f"(!({_text(key)} in {here}) || ({_new(inner, rest) if rest else _is_value(inner)}))")
    return " && ".join(parts)


def _entries(here: str, there: str, below: Tree) -> str:
    ours, every = f"[{', '.join(below)}]", f"[{', '.join(map(str, range(_LONGEST_LIST)))}]"
    parts = [
        f"size({here}) == size({there}) && size({here}) <= {_LONGEST_LIST}",
        f"{every}.all(i, i in {ours} || i >= size({here}) || {here}[i] == {there}[i])",
        *(_deeper(f"{here}[{key}]", f"{there}[{key}]", rest) if rest else _is_value(f"{here}[{key}]") for key, rest in below.items()),
    ]
    return " && ".join(parts)


def _is_value(what: str) -> str:
    return f"type({what}) != map && type({what}) != list"


def _list(names: Iterable[str]) -> str:
    return f"[{', '.join(map(_text, names))}]"


def _text(text: str) -> str:
    """A text as CEL has it: the escapes of JSON are its own."""
    return json.dumps(text)
