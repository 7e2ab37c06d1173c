"""Which file is read, what variables and includes bring into it, and what several files may not say together."""

from pathlib import Path

import pytest

from forecaster.errors import ConfigRejected
from jobs.config.reading import config_path, read_config
from tests.jobs.config.samples import SAMPLE, WORKLOAD, faults_of, with_policy, with_source

TEAM = "workloads:" + WORKLOAD.replace("chat", "code")


def write(folder: Path, text: str) -> Path:
    path = folder / "forecaster.yaml"
    path.write_text(text)
    return path


def test_the_file_named_goes_before_the_environment_and_that_before_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("forecaster.yaml", "env.yaml", "named.yaml"):
        (tmp_path / name).write_text(SAMPLE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORECASTER_CONFIG", raising=False)
    assert config_path(None) == Path("forecaster.yaml")
    monkeypatch.setenv("FORECASTER_CONFIG", "env.yaml")
    assert config_path(None) == Path("env.yaml")
    assert config_path(Path("named.yaml")) == Path("named.yaml")


@pytest.mark.parametrize("name", ["absent.yaml", "x" * 5_000, "a\0b"])
def test_a_file_that_is_not_there_is_refused_with_the_way_to_one(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigRejected, match="there is no configuration file; write one with `forecaster init`, or name it with --config"):
        config_path(tmp_path / name)


def test_a_directory_is_no_configuration(tmp_path: Path) -> None:
    with pytest.raises(ConfigRejected, match="is a directory; name the file in it"):
        config_path(tmp_path)


def test_variables_stand_in_any_text_and_two_dollars_are_the_text_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUERY", "sum(requests)")
    monkeypatch.setenv("MOST", "7")
    text = with_policy("{max: '${MOST}'}").replace("query: requests", "query: 'a ${QUERY} $${QUERY} $x {y}'")
    (workload,) = read_config(write(tmp_path, text)).workloads
    assert workload.policy.maximum == 7
    assert workload.signals["rpm"].query == "a sum(requests) ${QUERY} $x {y}"


def test_every_variable_that_is_not_set_is_named_with_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NOT_THERE", "NOR_THIS"):
        monkeypatch.delenv(name, raising=False)
    text = with_source("{type: prometheus, url: 'http://${NOT_THERE}', bearer_token: '${NOR_THIS}'}")
    assert faults_of(tmp_path, text) == [
        f"forecaster.yaml: sources.prom.{key}: the environment variable {name} is not set; "
        f"set it, or write $${{{name}}} for the text itself"
        for key, name in (("url", "NOT_THERE"), ("bearer_token", "NOR_THIS"))
    ]


def test_included_files_add_their_workloads_in_order_and_each_once(tmp_path: Path) -> None:
    (tmp_path / "teams").mkdir()
    for name in ("b", "a"):
        (tmp_path / "teams" / f"{name}.yaml").write_text("workloads:" + WORKLOAD.replace("chat", name))
    config = read_config(write(tmp_path, f"{SAMPLE}include: [teams/*.yaml, teams/a.yaml, '*.yaml']\n"))
    assert [workload.name for workload in config.workloads] == ["chat", "a", "b"]
    assert config.include == ()


def test_an_included_file_may_lie_anywhere(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "code.yaml").write_text(TEAM)
    (tmp_path / "main").mkdir()
    config = read_config(write(tmp_path / "main", f"{SAMPLE}include: ['{elsewhere}/*.yaml']\n"))
    assert [workload.name for workload in config.workloads] == ["chat", "code"]


@pytest.mark.parametrize(
    ("team", "sentence"),
    [
        ("workloads:\n  - name: [", "team.yaml: line 3, column 1: "),
        (TEAM.replace("rpm: 60", "rpm: 0"), "team.yaml: workloads[0].pools[0].capacity.rpm: must be above 0, got 0"),
        (TEAM + "sources: {}\n", "team.yaml: sources: is no known key; known here: workloads, templates"),
        (TEAM.replace("source: prom", "source: other"), "team.yaml: workloads[0].source: there is no source 'other'; there is prom"),
        (
            TEAM.replace("${", "").replace("query: requests", "query: '${NOT_THERE}'"),
            "team.yaml: workloads[0].signals.rpm.query: the environ",
        ),
        ("", "team.yaml: is empty"),
    ],
)
def test_a_fault_in_an_included_file_names_that_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, team: str, sentence: str) -> None:
    monkeypatch.delenv("NOT_THERE", raising=False)
    (found,) = faults_of(tmp_path, f"{SAMPLE}include: [team.yaml]\n", team=team)
    assert found.startswith(sentence)


def test_a_pattern_that_matches_nothing_is_refused(tmp_path: Path) -> None:
    sentence = "forecaster.yaml: include: 'teams/*.yaml' matches no file; name one, or a pattern such as teams/*.yaml"
    assert faults_of(tmp_path, f"{SAMPLE}include: [teams/*.yaml]\n") == [sentence]


def test_a_workload_or_a_target_stands_once_in_a_file(tmp_path: Path) -> None:
    twice = f"{SAMPLE}{WORKLOAD}"
    assert faults_of(tmp_path, twice) == [
        "forecaster.yaml: workloads[1].name: the workload chat stands at workloads[0].name already; each workload may be configured once"
    ]
    renamed = f"{SAMPLE}{WORKLOAD.replace('- name: chat', '- name: code')}"
    first, second = (f"workloads[{i}].pools[0].targets[0]" for i in range(2))
    assert faults_of(tmp_path, renamed) == [
        f"forecaster.yaml: {second}: the target recording:chat stands at {first} already; each target may be configured once"
    ]


def test_a_workload_that_stands_in_two_files_names_both(tmp_path: Path) -> None:
    found = faults_of(tmp_path, f"{SAMPLE}include: [team.yaml]\n", team=f"workloads:{WORKLOAD}")
    assert found[0] == (
        "team.yaml: workloads[0].name: the workload chat stands at forecaster.yaml: workloads[0].name already; "
        "each workload may be configured once"
    )
    assert len(found) == 2


def test_keys_are_those_of_the_reference_not_those_of_the_code(tmp_path: Path) -> None:
    window = "{windows: [{start: 08:00, end: 18:00, min_replicas: 1}]}"
    assert all("is no known key" in sentence or "is missing" in sentence for sentence in faults_of(tmp_path, with_policy(window)))
