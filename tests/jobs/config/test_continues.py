"""`continues`: one older name or several, and never in a circle."""

from typing import Any

import pytest
from pydantic import ValidationError

from forecaster.lineage import Lineage
from jobs.config.document import Config
from jobs.config.schema import config_schema
from jobs.config.workloads import WorkloadSection
from jobs.wiring import open_fleet


def workload(name: str, continues: Any = None) -> dict[str, Any]:
    body = {"name": name, "source": "trace", "signals": {"rpm": {"query": "value", "unit": "count"}}}
    pool = {"name": "gpu", "targets": [{"type": "recording", "name": name}]}
    return body | {"pools": [pool]} | ({"continues": continues} if continues is not None else {})


def config(*workloads: dict[str, Any]) -> Config:
    return Config.model_validate(
        {"store": "memory:", "sources": {"trace": {"type": "csv", "path": "load.csv"}}, "workloads": list(workloads)}
    )


@pytest.mark.parametrize("written", [{"name": "old", "share": 0.3}, [{"name": "old", "share": 0.3}]])
def test_a_single_older_name_may_stand_alone(written: Any) -> None:
    (older,) = WorkloadSection.model_validate(workload("new", written)).continues
    assert (older.name, older.share) == ("old", 0.3)


def test_the_share_is_above_zero() -> None:
    with pytest.raises(ValidationError, match="greater than 0"):
        WorkloadSection.model_validate(workload("new", {"name": "old", "share": 0}))


def test_the_schema_allows_both_forms() -> None:
    node = config_schema()["$defs"]["WorkloadSection"]["properties"]["continues"]
    assert (node["type"], node["items"]) == (["array", "object"], {"$ref": "#/$defs/ContinuesSection"})


@pytest.mark.parametrize(
    ("older", "told"),
    [
        ({"a": ["a"]}, r"workloads\[0\]\.continues: a continues a; a history cannot begin with itself"),
        ({"a": ["b"], "b": ["c"], "c": ["x", "a"]}, r"workloads\[0\]\.continues: a continues b continues c continues a;"),
        ({"a": ["b"], "b": ["c"], "c": ["b"]}, r"workloads\[1\]\.continues: b continues c continues b;"),
    ],
)
def test_a_circle_is_refused_where_it_is_written(older: dict[str, list[str]], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        config(*(workload(name, [{"name": one} for one in names]) for name, names in older.items()))


def test_one_name_that_two_continue_is_no_circle() -> None:
    assert config(workload("a", [{"name": "b"}, {"name": "c"}]), workload("b", {"name": "d"}), workload("c", {"name": "d"}), workload("d"))


def test_the_fleet_knows_the_whole_chain(tmp_path: Any) -> None:
    document = config(workload("new", {"name": "middle", "share": 0.5}), workload("middle", {"name": "old"}))
    with open_fleet(document, tmp_path) as fleet:
        (older,) = fleet.members[0].lineage.continues
    assert older == Lineage(name="middle", share_ratio=0.5, continues=(Lineage(name="old"),))
