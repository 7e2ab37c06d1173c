"""No sentence ever shows a secret, wherever it stands and whatever is wrong around it."""

import re
from pathlib import Path

import pytest

from forecaster.errors import ConfigRejected
from jobs.config.reading import read_config
from tests.jobs.config.samples import SAMPLE, faults_of, with_policy, with_source

SECRET = "hunter2-XYZZY"


@pytest.mark.parametrize(
    "source",
    [
        f"'http://user:{SECRET}@prometheus'",
        f"{{type: prometheus, url: 'http://p', bearer_token: [{SECRET}]}}",
        f"{{type: prometheus, url: 'http://p', headers: '{SECRET}'}}",
        f"{{type: prometheus, url: 'http://p', headers: {{Authorization: [{SECRET}]}}}}",
        f"{{type: prometheus, url: 'http://p', basic_auth: 'user:{SECRET}'}}",
        f"{{type: prometheus, url: 'http://p', basic_auth: {{username: u, pasword: '{SECRET}'}}}}",
        f"{{type: prometheus, url: 'http://u:{SECRET}@p', basic_auth: {{username: u, password: '{SECRET}'}}}}",
        f"{{type: prometheus, url: 'http://p', bearer_token: '{SECRET}', basic_auth: {{username: u, password: '{SECRET}'}}}}",
        f"{{type: prometheus, url: 'ftp://u:{SECRET}@p'}}",
    ],
)
def test_a_secret_written_in_the_file_shows_in_no_sentence(tmp_path: Path, source: str) -> None:
    assert SECRET not in "\n".join(faults_of(tmp_path, with_source(source)))


@pytest.mark.parametrize(
    "text",
    [
        with_source("{type: '${TOKEN}'}"),
        with_source("{type: prometheus, url: '${TOKEN}', timeout_s: '${TOKEN}'}"),
        with_source("{type: prometheus, url: 'http://p', basic_auth: '${TOKEN}'}"),
        with_policy("{mode: '${TOKEN}', hold: '${TOKEN}', min: 'a ${TOKEN} b'}"),
        with_policy("{windows: [{from: '${TOKEN}', to: '${TOKEN}', zone: '${TOKEN}', min_replicas: 1}]}"),
        SAMPLE.replace("source: prom", "source: '${TOKEN}'"),
        SAMPLE.replace("name: chat\n", "name: '${TOKEN} !'\n"),
        f"{SAMPLE}include: ['${{TOKEN}}']\n",
    ],
)
def test_the_value_of_a_variable_shows_as_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    for value in (SECRET, 'it\'s \\ "quoted"-XYZZY'):
        monkeypatch.setenv("TOKEN", value)
        said = "\n".join(faults_of(tmp_path, text))
        assert "XYZZY" not in said
        assert "quoted" not in said


def test_where_the_value_came_from_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEPLOY_MODE", "yolo")
    (sentence,) = faults_of(tmp_path, with_policy("{mode: '${DEPLOY_MODE}'}"))
    assert sentence.endswith("policy.mode: must be observe, review or auto, got '${DEPLOY_MODE}'")


def test_neither_the_cause_of_an_error_nor_the_configuration_shows_a_secret(tmp_path: Path) -> None:
    path = tmp_path / "forecaster.yaml"
    source = f"{{type: prometheus, url: 'http://p', basic_auth: {{username: u, password: '{SECRET}'}}}}"
    path.write_text(with_source(source))
    assert SECRET not in repr(read_config(path))
    path.write_text(with_source(source) + "    step: 7m\n")
    with pytest.raises(ConfigRejected) as refused:
        read_config(path)
    assert refused.value.__cause__ is not None
    assert not re.search(SECRET, str(refused.value.__cause__))
