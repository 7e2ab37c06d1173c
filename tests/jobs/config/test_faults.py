"""Each kind of fault is one sentence: the file, the path to the key, what is wrong, what to do."""

import re
from pathlib import Path
from typing import get_args

import pytest

from connectors.targets.registry import TargetConfig
from forecaster.models.catalogue import MODEL_NAMES
from jobs.config.shapes import SHAPES
from tests.jobs.config.samples import SAMPLE, SOURCES, WORKLOAD, faults_of, with_policy, with_source, with_workload

ROOT = Path(__file__).resolve().parents[3]
AT = "forecaster.yaml: workloads[0]"
KINDS = sorted(get_args(kind.model_fields["type"].annotation)[0] for kind in get_args(get_args(TargetConfig)[0]))
TARGETS = f"{', '.join(KINDS[:-1])} or {KINDS[-1]}"


@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        ("{levl: 0.9}", ".levl: is no known key; did you mean level?"),
        ("{minimum: 3}", ".minimum: is no known key; did you mean min?"),
        ("{min_replicas: 3}", ".min_replicas: is no key of this section; it belongs to workloads[0].policy.windows[0]"),
        ("{port: 3}", ".port: is no key of this section; it belongs to daemon"),
        ("{1: 2}", "[1]: is a key that YAML takes for no text; put it in quotes"),
        ("", ": is empty; give it a value, or remove the key"),
        ("[]", ": must be a section with keys of its own"),
        ("{min: five}", ".min: must be a whole number, got 'five'"),
        ("{min: 2.5}", ".min: must be a whole number, got 2.5"),
        ("{min: true}", ".min: must be a number, got true"),
        ("{min: -1}", ".min: must be at least 0, got -1"),
        ("{min: 99999999999999999999}", ".min: must be at most 1,000,000, got 99999999999999999999"),
        ("{headroom: false}", ".headroom: must be a number, got false"),
        ("{headroom: 1e300}", ".headroom: must be at most 1e+24, got 1e+300"),
        ("{headroom: [1]}", ".headroom: must be a number"),
        ("{growth: 0}", ".growth: must be above 0, got 0"),
        ("{level: 1}", ".level: must be at most 0.99, got 1"),
        ("{level: .nan}", ".level: must be a finite number, got nan"),
        ("{growth: .inf}", ".growth: must be a finite number, got inf"),
        ("{growth: infinity}", ".growth: must be a finite number, got 'infinity'"),
        ("{hold: 600}", ".hold: a duration needs a unit, such as 600s, 600m or 600h"),
        ("{hold: 0.5}", ".hold: a duration needs a unit, such as 0.5s, 0.5m or 0.5h"),
        ("{hold: soon}", ".hold: a duration is written like 90s, 10m, 1h30m or 7d, got 'soon'"),
        ("{hold: 10 m}", ".hold: a duration is written like 90s, 10m, 1h30m or 7d, got '10 m'"),
        ("{hold: 0s}", ".hold: must be above 0s, got '0s'"),
        ("{hold: 99999w}", ".hold: must be at most 3650d, got '99999w'"),
        ("{mode: atuo}", ".mode: must be observe, review or auto, got 'atuo'; did you mean auto?"),
        ("{allow_below_original: perhaps}", ".allow_below_original: must be true or false, got 'perhaps'"),
        ("{level: 0.9, cost_ratio: 3}", ": level and cost_ratio both choose the level: keep one of them"),
        ("{blend: {drain: 5}}", ".blend.drain: a duration needs a unit, such as 5s, 5m or 5h"),
        ("{windows: {from: 1}}", ".windows: must be a list; begin each entry with a dash"),
    ],
)
def test_what_is_wrong_with_a_policy_is_said_at_its_key(tmp_path: Path, policy: str, sentence: str) -> None:
    assert faults_of(tmp_path, with_policy(policy)) == [f"{AT}.policy{sentence}"]


@pytest.mark.parametrize(
    ("window", "sentence"),
    [
        ("{from: 7:30, to: 18:00, min_replicas: 2}", ".from: a time of day is written HH:MM, 00:00 to 24:00, got '7:30'"),
        ("{from: 24:30, to: 18:00, min_replicas: 2}", ".from: a time of day is written HH:MM, 00:00 to 24:00, got '24:30'"),
        ("{from: 7, to: 18:00, min_replicas: 2}", ".from: a time of day is written HH:MM, 00:00 to 24:00, got 7"),
        ("{to: 18:00, min_replicas: 2}", ".from: is missing: local time at which the floor begins to hold, HH:MM"),
        (
            "{from: 08:00, to: 18:00, min_replicas: 2, zone: Europe/Pariss}",
            ".zone: must be an IANA time zone such as Europe/Paris or UTC, got 'Europe/Pariss'; did you mean Europe/Paris?",
        ),
        ("{from: 08:00, to: 18:00, min_replicas: 2, days: mon}", ".days: must be a list, got 'mon'; put it in [ ]"),
        ("{from: 08:00, to: 18:00, min_replicas: 2, days: []}", ".days: must not be empty"),
        (
            "{from: 08:00, to: 18:00, min_replicas: 2, days: [monday]}",
            ".days[0]: must be mon, tue, wed, thu, fri, sat or sun, got 'monday'; did you mean mon?",
        ),
    ],
)
def test_what_is_wrong_with_a_window_is_said_at_its_key(tmp_path: Path, window: str, sentence: str) -> None:
    assert faults_of(tmp_path, with_policy(f"{{windows: [{window}]}}")) == [f"{AT}.policy.windows[0]{sentence}"]


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("name: chat\n", "name: 7\n", ".name: must be text, got 7; put it in quotes"),
        ("name: chat\n", "name: [chat]\n", ".name: must be text; put it in quotes"),
        ("name: chat\n", "name: {chat}\n", ".name: must be text; quote a text that begins with a brace"),
        ("name: chat\n", "name:\n", ".name: is empty; give it a value, or remove the key"),
        ("source: prom", "source: porm", ".source: there is no source 'porm'; did you mean prom?"),
        ("source: prom", "source: elsewhere", ".source: there is no source 'elsewhere'; there is prom"),
        ("    source: prom\n", "", ".source: is missing: which of `sources` its load is read from"),
        (
            "rpm: {query",
            "rps: {query",
            (
                ".signals.rps: must be rpm, concurrency, tokens, input_length, output_length, response_hits, prefix_hits, queue_depth "
                "or refused, got 'rps'; did you mean rpm?"
            ),
        ),
        (
            "rpm: {query",
            "queue_depth: {query",
            ": signals needs at least one load signal: rpm, concurrency or tokens; or name a preset that supplies one",
        ),
        (
            "unit: per_second",
            "unit: persecond",
            ".signals.rpm.unit: must be per_second, per_minute or count, got 'persecond'; did you mean per_second?",
        ),
        ("rpm: 60", "rpm: -60", ".pools[0].capacity.rpm: must be above 0, got -60"),
        ("type: recording", "type: recordin", ".pools[0].targets[0]: there is no type 'recordin'; did you mean recording?"),
        ("type: recording, ", "", f".pools[0].targets[0]: has no type; there is {TARGETS}"),
        ("type: recording", "type: kubernetes-hpa", ".pools[0].targets[0].namespace: is missing: namespace of the HPA"),
        ("[{type: recording, name: chat}]", "[]", ".pools[0].targets: must not be empty"),
    ],
)
def test_what_is_wrong_with_a_workload_is_said_at_its_key(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    assert faults_of(tmp_path, with_workload(old, new)) == [f"{AT}{sentence}"]


@pytest.mark.parametrize("step", ["7m", "90s"])
def test_a_step_that_fits_no_day_is_refused(tmp_path: Path, step: str) -> None:
    expected = f"{AT}: step must be whole minutes and divide a day, such as 1m, 5m, 15m or 1h, got {step}"
    assert faults_of(tmp_path, f"{SAMPLE}    step: {step}\n") == [expected]


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("{type: prometeus, url: x}", ": there is no type 'prometeus'; did you mean prometheus?"),
        ("{url: x}", ": has no type; there is cloudwatch, csv, datadog, prometheus or sql"),
        ("null", ": is empty; give it a value, or remove the key"),
        ("{type: prometheus, url: 'http://p', timeout: 5}", ".timeout: is no known key; did you mean timeout_s?"),
        ("{type: prometheus, url: 'http://p', verify_tls: 5}", ".verify_tls: must be true or false, got 5"),
        ("{type: csv}", ".path: is missing: the file, plain or gzipped, with a header and one row a bucket"),
        ("{type: csv, path: 5}", ".path: must be text, got 5; put it in quotes"),
    ],
)
def test_what_is_wrong_with_a_source_is_said_at_its_key(tmp_path: Path, source: str, sentence: str) -> None:
    assert faults_of(tmp_path, with_source(source)) == [f"forecaster.yaml: sources.prom{sentence}"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("workloads: []", "sources: is missing: where load is read from, by name"),
        ("sources: {}", "sources: must not be empty"),
        ("sources: [prom]", "sources: must be a section with keys of its own"),
        (f"{SAMPLE}level: 5\n", "level: is no key of this section; it belongs to workloads[0].policy"),
        (f"{SAMPLE}workload: 5\n", "workload: is no known key; did you mean workloads?"),
        (f"{SAMPLE}apply: {{every: 1s}}\n", "apply.every: must be at least 5s, got 1s"),
        (f"{SAMPLE}forecast: {{horizon: 30d}}\n", "forecast.horizon: must be at most 2w, got 30d"),
        (f"{SAMPLE}forecast: {{model: profle}}\n", None),
        (
            f"{SAMPLE}forecast: {{members: [profile, gbm, profile]}}\n",
            "forecast: members names profile twice: name it once, its share follows its loss",
        ),
        (f"{SAMPLE}log: {{levle: info}}\n", "log.levle: is no known key; did you mean level?"),
        (f"{SAMPLE}log: {{colour: red}}\n", "log.colour: is no known key; known here: format, level"),
    ],
)
def test_what_is_wrong_at_the_top_is_said_at_its_key(tmp_path: Path, text: str, sentence: str | None) -> None:
    *others, last = MODEL_NAMES
    models = f"forecast.model: must be {', '.join(others)} or {last}, got 'profle'; did you mean profile?"
    assert faults_of(tmp_path, text) == [f"forecaster.yaml: {sentence or models}"]


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        (
            "{type: webhook, name: a, url: ftp://h/p, secret: 0123456789abcdef}",
            ".url: must be an address that begins with http:// or https://, ",
        ),
        ("{type: webhook, name: a, url: http://h/p, secret: shorter}", ".secret: must have at least 16 characters"),
        ("{type: webhook, name: a, url: http://h/p, secret: ''}", ".secret: must have at least 16 characters"),
        ("{type: kubernetes-field, api_version: v1, namespace: a, name: b, field: c}", ".api_version: must be an API group and version, "),
    ],
)
def test_what_a_text_must_look_like_is_said_in_words(tmp_path: Path, target: str, sentence: str) -> None:
    found = faults_of(tmp_path, with_workload("[{type: recording, name: chat}]", f"[{target}]"))
    assert any(one.startswith(f"{AT}.pools[0].targets[0]{sentence}") for one in found), found


def test_every_pattern_that_a_value_is_held_against_has_its_words() -> None:
    own = re.compile(r'pattern=r"([^"]+)"')
    used = {pattern for room in ("connectors", "jobs") for file in (ROOT / room).rglob("*.py") for pattern in own.findall(file.read_text())}
    assert used <= set(SHAPES)


def test_a_number_in_quotes_is_that_number_since_variables_are_texts(tmp_path: Path) -> None:
    assert faults_of(tmp_path, with_policy("{min: '5', max: '3'}")) == [
        f"{AT}.policy: min must not be above max, got 5 and 3: raise max or lower min"
    ]


def test_every_fault_is_named_not_only_the_first(tmp_path: Path) -> None:
    found = faults_of(tmp_path, with_policy("{min: five, hold: 600, levl: 1}"))
    assert len(found) == 3
    assert all(sentence.startswith(f"{AT}.policy.") for sentence in found)


def test_one_mistake_that_was_copied_a_thousand_times_is_no_thousand_lines(tmp_path: Path) -> None:
    text = f"{SOURCES}workloads:" + WORKLOAD.replace("rpm: 60", "rpm: -60") * 1_000
    found = faults_of(tmp_path, text)
    assert len(found) == 21
    assert found[-1] == "forecaster.yaml: ... and 980 more faults"


def test_long_values_are_cut(tmp_path: Path) -> None:
    (sentence,) = faults_of(tmp_path, with_policy(f"{{mode: {'x' * 10_000}}}"))
    assert len(sentence) < 200
