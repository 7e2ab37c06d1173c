"""Whatever stands in the file: it is read, or refused in sentences that name it. Nothing else is ever raised."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forecaster.errors import ConfigRejected
from jobs.config.reading import read_config
from jobs.config.schema import config_schema
from jobs.config.variables import KeyPath, leaves
from jobs.config.yaml_file import load_yaml
from jobs.starter import starter
from tests.jobs.config.test_templates import TEMPLATE

_KEYS = sorted({key for section in config_schema()["$defs"].values() for key in section.get("properties", ())})
_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(["auto", "prometheus", "{name}", "{label:x}", "${", "$${X}", "10m", "24:00", "1", "UTC", "recording"]),
)
_ANYTHING = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.one_of(st.sampled_from(_KEYS), st.text(max_size=5)), inner, max_size=3)
    ),
    max_leaves=8,
)


def documents(folder: Path) -> list[dict[str, Any]]:
    found = []
    for text in (starter(), TEMPLATE):
        path = folder / "sample.yaml"
        path.write_text(text)
        found.append(load_yaml(path))
    return found


def places(data: Any) -> list[KeyPath]:
    """Every place where a value stands, those of sections and lists too."""
    return sorted({path[:i] for path, _ in leaves(data) for i in range(1, len(path) + 1)}, key=str)


def put(data: Any, path: KeyPath, value: Any) -> Any:
    """The data with another value at a place."""
    if not path:
        return value
    head, *rest = path
    if isinstance(data, dict):
        return data | {head: put(data[head], tuple(rest), value)}
    return [put(item, tuple(rest), value) if i == head else item for i, item in enumerate(data)]


def refusal(path: Path) -> list[str]:
    """The sentences that a file is refused with, none where it is taken."""
    try:
        read_config(path)
    except ConfigRejected as refused:
        return str(refused).split("\n")
    return []


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(draw=st.data())
def test_any_value_at_any_place_is_taken_or_refused_in_sentences(tmp_path: Path, draw: st.DataObject) -> None:
    document = draw.draw(st.sampled_from(documents(tmp_path)))
    changed = put(document, draw.draw(st.sampled_from(places(document))), draw.draw(_ANYTHING))
    path = tmp_path / "forecaster.yaml"
    path.write_text(json.dumps(changed))
    assert all(line.startswith(str(path)) for line in refusal(path))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=200))
def test_any_bytes_are_taken_or_refused_in_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "forecaster.yaml"
    path.write_bytes(content)
    with pytest.raises(ConfigRejected) as refused:
        read_config(path)
    assert str(refused.value).startswith(str(path))
