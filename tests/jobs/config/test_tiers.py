"""The section `tiers`: what contradicts itself or names what is not there is one sentence."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from forecaster.errors import ConfigRejected
from forecaster.ladder import Tier
from jobs.config.document import Config
from jobs.config.reading import read_config
from tests.jobs.config.samples import SOURCES, WORKLOAD

PAGE = "http://127.0.0.1:1/metrics"


def tiers(**changed: Any) -> dict[str, Any]:
    field = {"type": "kubernetes-field", "api_version": "v1", "kind": "ConfigMap", "namespace": "llm", "name": "engine"}
    return {
        "levers": {"batch": {**field, "field": "data.batch"}, "cache": {**field, "field": "data.cache"}},
        "signals": {"p99": {"pages": [PAGE], "query": "p99(latency)"}},
        "rules": [{"name": "slow", "when": {"signal": "p99", "above": 2}, "set": {"batch": 8}}],
    } | changed


def read(folder: Path, section: dict[str, Any]) -> Config:
    path = folder / "forecaster.yaml"
    path.write_text(f"{SOURCES}workloads:{WORKLOAD}" + yaml.safe_dump({"tiers": section}))
    return read_config(path)


def ladder(*steps: dict[str, Any], **when: Any) -> dict[str, Any]:
    named = [{"name": f"step {i}", "set": step} for i, step in enumerate(steps)]
    return {"name": "degrade", "when": {"signal": "p99", "above": 2, **when}, "steps": named}


def admission(**changed: str) -> dict[str, str]:
    return {"workload": "chat", "pool": "gpu", "slo": "9s", "service": "5s", **changed}


def test_defaults_are_those_that_the_reference_tells(tmp_path: Path) -> None:
    section = read(tmp_path, tiers()).tiers
    assert section is not None
    assert (section.mode, section.every) == ("observe", 5)
    (rule,) = section.to_core().ladders
    trigger = rule.trigger
    assert (rule.tier, trigger.above, trigger.below, trigger.for_s, trigger.calm_s, trigger.expiry_s) == (Tier.ACT, 2, 1.6, 5, 60, 3_600)


def test_values_keep_their_kind(tmp_path: Path) -> None:
    section = read(tmp_path, tiers(rules=[], ladders=[ladder({"batch": 8, "cache": True})])).tiers
    assert section is not None
    assert section.to_core().ladders[0].steps[0].levers == {"batch": 8, "cache": True}
    assert section.to_core().ladders[0].steps[0].levers["cache"] is True


@pytest.mark.parametrize(
    ("section", "told"),
    [
        (tiers(ladders=[ladder({"batch": 16}, {"batch": 32}, {"batch": 8})]), "degrade contradicts itself: it sets batch to 16, then 32"),
        (tiers(ladders=[ladder({"cache": True}, {"cache": False})]), "degrade contradicts itself: it sets cache to true, then false"),
        (tiers(ladders=[ladder({"batch": 8}, below=3)]), "must calm down below less than the 2 above which it acts, or it flutters; got 3"),
        (tiers(ladders=[ladder({"bach": 8})]), "tiers: degrade: there is no lever 'bach'; did you mean batch?"),
        (
            tiers(ladders=[ladder({"batch": [8]})]),
            "tiers.ladders[0].steps[0].set.batch: must be a number, a word, true or false, one value alone",
        ),
        (
            tiers(ladders=[ladder({"batch": None})]),
            "tiers.ladders[0].steps[0].set.batch: is empty: it must be a number, a word, true or false",
        ),
        (tiers(ladders=[ladder({"batch": 8}, above=0)]), "give `below` as well: its default, 0.8 of `above`, is not lower than 0"),
        (
            tiers(ladders=[{**ladder({"batch": 8}, {"batch": 4}), "hold": "1h"}]),
            "the last of 2 steps is taken 1h after the first at the earliest",
        ),
        (tiers(signals={}), "tiers: slow: there is no signal 'p99'; there is none"),
        (
            tiers(signals={"p99": {"source": "elsewhere", "query": "x"}}),
            "tiers.signals.p99.source: there is no source 'elsewhere'; there is ",
        ),
        (tiers(signals={"p99": {"pages": [PAGE], "query": "p99 latency"}}), "tiers.signals.p99.query: 'p99 latency' names no metric"),
        (tiers(signals={"p99": {"pages": [], "query": "p99(x)"}}), "tiers.signals.p99.pages: must not be empty"),
        (tiers(signals={"p99": {"pages": [PAGE]}}), "tiers.signals.p99.query: is missing: what is asked of them"),
        (tiers(signals={"p99": {"source": "metrics", "query": ""}}), "tiers.signals.p99.query: must not be empty"),
        (tiers(signals={"p99": {"pages": [PAGE, PAGE], "query": "p99(x)"}}), "stands twice in pages, and its samples would count twice"),
        (
            tiers(signals={"p99": {"pages": [PAGE], "source": "metrics", "query": "x"}}),
            "tiers.signals.p99: says pages and a source as well",
        ),
        (tiers(signals={"p99": {"query": "x"}}), "tiers.signals.p99: says neither pages nor a source"),
        (tiers(signals={"p99": "x"}), "tiers.signals.p99: must be a section with keys of its own"),
        (tiers(admission=[admission(workload="chatt", breaker="batch")]), "there is no workload 'chatt'; did you mean chat?"),
        (tiers(admission=[admission(pool="gpus", breaker="batch")]), "chat has no pool 'gpus'; did you mean gpu?"),
        (tiers(admission=[admission(slo="4s", breaker="batch")]), "nothing may wait"),
        (tiers(admission=[admission()]), "no lever is named that takes a limit"),
        (tiers(admission=[admission(breaker="batch")]), "needs rpm and concurrency"),
    ],
)
def test_what_cannot_be_is_one_sentence(tmp_path: Path, section: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigRejected) as refused:
        read(tmp_path, section)
    assert told in str(refused.value)
    assert "tiers" in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


def test_two_levers_of_one_value_are_refused(tmp_path: Path) -> None:
    section = tiers()
    section["levers"]["again"] = section["levers"]["batch"]
    with pytest.raises(ConfigRejected, match=r"two levers move the same value, kubernetes-field:llm/configmaps/engine/data\.batch"):
        read(tmp_path, section)
