"""`init` writes a configuration to begin with, all of it or nothing, and never over somebody's work."""

import json
import re
import stat
from pathlib import Path

import pytest

from forecaster.errors import ConfigRejected
from jobs.config.reading import read_config
from jobs.starter import starter, write_starter
from tests.jobs.cli.process import forecaster


def test_the_starter_is_a_configuration_that_can_be_read_without_any_variable(tmp_path: Path) -> None:
    write_starter(tmp_path / "forecaster.yaml", force=False)
    (workload,) = read_config(tmp_path / "forecaster.yaml").workloads
    assert workload.policy.mode == "observe"
    assert set(workload.signals) == {"rpm", "concurrency", "queue_depth"}
    assert workload.pools[0].targets[0].type == "kubernetes-hpa"


def test_every_line_of_the_starter_that_is_commented_out_can_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "teams").mkdir()
    (tmp_path / "teams" / "code.yaml").write_text("workloads: []")
    monkeypatch.setenv("PROMETHEUS_TOKEN", "secret")
    head, store, body = starter().partition("\nstore:")
    path = tmp_path / "forecaster.yaml"
    path.write_text(head + store + re.sub(r"^( *)# ( *(?:- |[A-Za-z_]+:(?: |$)))", r"\1\2", body, flags=re.MULTILINE))
    config = read_config(path)
    assert config.templates[0].for_each.label_selector == "forecaster=on"
    assert config.workloads[0].policy.windows[0].min_replicas == 4
    assert config.workloads[0].policy.maximum == 24
    assert list(config.workloads[0].hold_when) == ["rollout"]


def test_a_file_that_is_there_is_left_alone_unless_forced(tmp_path: Path) -> None:
    path = tmp_path / "forecaster.yaml"
    path.write_text("mine")
    refused = forecaster(tmp_path, "init")
    assert refused.code == 2
    assert (
        refused.err
        == "forecaster: forecaster.yaml: is there already and was left alone; name another file, or write over it with --force\n"
    )
    assert path.read_text() == "mine"
    assert forecaster(tmp_path, "init", "--force").code == 0
    assert path.read_text() == starter()


def test_the_sentence_says_what_comes_next_and_stdout_stays_empty(tmp_path: Path) -> None:
    done = forecaster(tmp_path, "init", "mine.yaml")
    assert (done.code, done.out) == (0, "")
    assert done.err == "mine.yaml is written; fill in the lines marked <--, then run `forecaster check --config mine.yaml`\n"


def test_nothing_but_the_file_is_left_and_others_may_read_it_as_any_file(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    write_starter(tmp_path / "forecaster.yaml", force=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["forecaster.yaml", "plain"]
    modes = {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert len(modes) == 1


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.yaml").write_text("old")
    link = tmp_path / "forecaster.yaml"
    link.symlink_to("real.yaml")
    write_starter(link, force=True)
    assert link.is_symlink()
    assert (tmp_path / "real.yaml").read_text() == starter()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("", "is a directory; name the file to write in it"),
        ("absent/forecaster.yaml", "cannot be written .*; name a file in a directory that you may write"),
        ("x" * 300, "cannot be written .*; name a file in a directory that you may write"),
    ],
)
def test_a_place_where_no_file_can_be_is_refused(tmp_path: Path, name: str, sentence: str) -> None:
    with pytest.raises(ConfigRejected, match=sentence):
        write_starter(tmp_path / name, force=True)
    assert list(tmp_path.iterdir()) == []


def test_the_schema_goes_to_stdout_as_json(tmp_path: Path) -> None:
    done = forecaster(tmp_path, "init", "--schema")
    schema = json.loads(done.out)
    assert schema["title"] == "Forecaster configuration"
    assert set(schema["$defs"]["PrometheusConfig"]["properties"]) >= {"url", "headers", "bearer_token"}
    assert list(tmp_path.iterdir()) == []
