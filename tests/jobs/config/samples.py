"""A configuration that is right, and how tests make it wrong in one place."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from forecaster.errors import ConfigRejected
from jobs.config.reading import read_config

SOURCES = """
sources:
  prom: {type: prometheus, url: "http://prometheus:9090"}
"""
WORKLOAD = """
  - name: chat
    source: prom
    signals: {rpm: {query: requests, unit: per_second}}
    pools: [{name: gpu, capacity: {rpm: 60}, targets: [{type: recording, name: chat}]}]
"""
SAMPLE = f"{SOURCES}workloads:{WORKLOAD}"


def with_policy(written: str) -> str:
    """The sample with a policy, written as a flow mapping."""
    return f"{SAMPLE}    policy: {written}\n"


def with_source(written: str) -> str:
    """The sample with another source."""
    return SAMPLE.replace('{type: prometheus, url: "http://prometheus:9090"}', written)


def with_workload(old: str, new: str) -> str:
    """The sample with a part of its workload replaced."""
    assert old in WORKLOAD
    return SAMPLE.replace(old, new)


def faults_of(folder: Path, text: str, **files: str) -> list[str]:
    """The sentences that a configuration is refused with, without the folder. `files`: what lies beside it, by stem."""
    path = folder / "forecaster.yaml"
    path.write_text(text)
    for stem, content in files.items():
        (folder / f"{stem}.yaml").write_text(content)
    with pytest.raises(ConfigRejected) as refused:
        read_config(path)
    return [line.replace(f"{folder}/", "") for line in str(refused.value).splitlines()]


@contextmanager
def variables(monkeypatch: pytest.MonkeyPatch, **values: str) -> Iterator[None]:
    """Environment variables for the length of a block."""
    with monkeypatch.context() as patch:
        for name, value in values.items():
            patch.setenv(name, value)
        yield
