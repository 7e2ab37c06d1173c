"""What is shipped in deploy/ fits the code: commands, paths, metrics and times."""

import re
import shutil
import subprocess
import tomllib
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import generate_latest

from forecaster.models.catalogue import EXTRAS
from jobs.daemon.serve import END_S
from jobs.references.commands import every_command
from jobs.telemetry.catalogue import METRICS, metrics_table
from jobs.telemetry.metric import Kind
from jobs.telemetry.metrics import Metrics
from tests.services import program

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
RULES = DEPLOY / "prometheus-rules.yaml"
_FIELD = re.compile(r"(\*|\d+)(/\d+)?")
_RANGES = (range(60), range(24), range(1, 32), range(1, 13), range(8))


def rules() -> list[dict[str, Any]]:
    document: dict[str, Any] = yaml.safe_load(RULES.read_text())
    return [rule for group in document["groups"] for rule in group["rules"]]


def cron_lines() -> list[list[str]]:
    """The lines that start something: five fields of time, a user, and a command."""
    lines = [line for line in (DEPLOY / "crontab").read_text().splitlines() if line and not line.startswith("#")]
    return [line.split(maxsplit=6) for line in lines if not re.match(r"[A-Z_]+=", line)]


def unit() -> ConfigParser:
    parser = ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # the documented way to keep the case of keys
    parser.read(DEPLOY / "forecaster.service")
    return parser


def instructions() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile with their continued lines."""
    text = re.sub(r"^#.*\n", "", (DEPLOY / "Dockerfile").read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in text.splitlines() if line.strip())]


def test_every_cron_line_has_valid_times_and_a_command_that_exists() -> None:
    commands = {name: {option for p in command.params for option in p.opts} for name, command in every_command()}
    assert len(cron_lines()) == 3
    for *times, user, command in cron_lines():
        for field, allowed in zip(times, _RANGES, strict=True):
            match = _FIELD.fullmatch(field)
            assert match, field
            assert match[1] == "*" or int(match[1]) in allowed
        assert user == "forecaster"
        words = command.split()[3:]
        assert words[0] == "forecaster"
        assert words[1] in commands
        assert set(words[2:]) <= commands[words[1]]


def test_cron_applies_every_minute_forecasts_every_hour_and_has_a_watchdog() -> None:
    begins = {" ".join(line[6].split()[3:]): " ".join(line[:5]) for line in cron_lines()}
    assert begins == {
        "forecaster apply": "* * * * *",
        "forecaster forecast": "7 * * * *",
        "forecaster release --expired": "*/10 * * * *",
    }


def test_cron_sees_the_exit_code_of_the_command_and_the_journal_what_it_printed() -> None:
    for *_, command in cron_lines():
        assert re.fullmatch(r"systemd-cat -t forecaster-[a-z]+ forecaster [a-z -]+", command), command  # no pipe, no shell's own code


def test_the_unit_stops_after_the_daemon_has_had_its_time_and_always_starts_again() -> None:
    service = unit()["Service"]
    assert service["ExecStart"].endswith("/forecaster daemon")
    assert service["ExecReload"] == "/bin/kill -HUP $MAINPID"
    assert int(service["TimeoutStopSec"]) > 10 > END_S
    assert service["Restart"] == "always"
    assert service["User"] == "forecaster"
    assert service["ProtectSystem"] == "strict"


def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    analyse = shutil.which("systemd-analyze")
    text = (DEPLOY / "forecaster.service").read_text()
    assert text.count("/opt/forecaster/bin/forecaster") == 1
    if analyse is None:  # a container without systemd; the rules above hold all the same
        return
    path = tmp_path / "forecaster.service"
    path.write_text(text.replace("/opt/forecaster/bin/forecaster", str(shutil.which("true"))))
    done = subprocess.run([analyse, "verify", "--man=no", str(path)], capture_output=True, text=True, check=False)  # noqa: S603 - Debian's program
    assert (done.returncode, done.stderr) == (0, "")


def test_what_the_image_copies_is_there_and_passes_the_ignore_file() -> None:
    let_in = {line[1:] for line in (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = {source for word, rest in instructions() if word == "COPY" and "--from" not in rest for source in rest.split()[:-1]}
    assert copied == let_in
    for source in copied:
        assert (ROOT / source).exists(), source
    pyproject = (ROOT / "pyproject.toml").read_text()
    packages = re.search(r"^packages = \[(.*)\]$", pyproject, flags=re.MULTILINE)
    assert packages
    assert {name.strip(' "') for name in packages[1].split(",")} <= copied


def test_the_image_has_the_member_that_learns_and_the_library_that_it_is_linked_with() -> None:
    runs = " ".join(rest for word, rest in instructions() if word == "RUN")
    assert '"$1[gbm]"' in runs
    assert "libgomp1" in runs


def test_all_is_every_extra() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    names = ",".join(sorted(extras.keys() - {"all"}))
    assert extras["all"] == [f"forecaster[{names}]"]
    assert {extra for _, extra in EXTRAS.values()} <= extras.keys()


def test_the_image_has_two_stages_runs_as_nobody_and_is_told_by_sigterm() -> None:
    words = [word for word, _ in instructions()]
    parts = dict(instructions())
    assert words.count("FROM") == 2
    assert parts["USER"] == "10001:10001"
    assert words.index("USER") > len(words) - 1 - words[::-1].index("RUN")
    assert parts["STOPSIGNAL"] == "SIGTERM"
    assert (parts["ENTRYPOINT"], parts["CMD"]) == ('["forecaster"]', '["daemon"]')
    assert "/healthz" in parts["HEALTHCHECK"]


def test_every_metric_of_an_alert_exists_with_its_labels() -> None:
    known = {metric.name: metric for metric in METRICS}
    for rule in rules():
        for name, matchers in re.findall(r"(forecaster_\w+)(?:\{([^}]*)\})?", rule["expr"]):
            assert name in known, rule["alert"]
            assert set(re.findall(r"(\w+)=", matchers)) <= set(known[name].labels)
        shown = set(re.findall(r"\$labels\.(\w+)", str(rule["annotations"])))
        assert shown <= {label for metric in METRICS for label in metric.labels}


def test_prometheus_takes_the_rules_and_they_fire_when_they_should(tmp_path: Path) -> None:
    promtool = program("promtool", "prometheus")
    labels = 'workload="chat",pool="gpu"'
    target = f'{labels},target="kubernetes-hpa:serving/chat"'
    series = {
        'forecaster_build_info{version="1",python="3"}': "1x400",
        'forecaster_last_success_timestamp_seconds{verb="apply"}': "0+60x60 3600x340",
        f"forecaster_plan_issued_timestamp_seconds{{{labels}}}": "0x400",
        f"forecaster_plan_valid_until_timestamp_seconds{{{labels}}}": "86400x400",
        f'forecaster_alert{{{target},code="load-unknown"}}': "_x10 1x390",
        f"forecaster_overdue_replicas{{{target}}}": "0x100 3x300",
        'forecaster_reasons_total{code="ceiling-ahead"}': "0x300 1+0x100",
        'forecaster_failures_total{verb="apply",error="TargetForbidden"}': "0x100 1+1x300",
        "forecaster_config_last_reload_successful": "1x200 0x200",
        'forecaster_lever_lost{lever="batch"}': "_x10 1x20 _x370",
        "forecaster_lever_last_run_timestamp_seconds": "0+60x60 3600x340",
    }
    expected = {
        "ForecasterApplyStopped": (60, 70),
        "ForecasterLoadUnknown": (20, 30),
        "ForecasterReplicasOverdue": (104, 110),
        "ForecasterWillFallShort": (299, 303),
        "ForecasterFailing": (105, 125),
        "ForecasterForecastOld": (170, 190),
        "ForecasterConfigRefused": (202, 210),
        "ForecasterLeverNotBack": (11, 14),
        "ForecasterLeversIdle": (64, 68),
    }
    fires = [rule for rule in rules() if rule["alert"] in expected]
    assert len(fires) == len(expected)
    quiet_then_loud = {
        "rule_files": [str(RULES)],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [{"series": name, "values": values} for name, values in series.items()],
                "promql_expr_test": [
                    {
                        "expr": f'count(ALERTS{{alertname="{alert}",alertstate="firing"}}) or vector(0)',
                        "eval_time": f"{minute}m",
                        "exp_samples": [{"labels": "{}", "value": value}],
                    }
                    for alert, minutes in expected.items()
                    for minute, value in zip(minutes, (0, 1), strict=True)
                ],
            }
        ],
    }
    test = tmp_path / "test.yaml"
    test.write_text(yaml.safe_dump(quiet_then_loud))
    for arguments in (["check", "rules", str(RULES)], ["test", "rules", str(test)]):
        done = subprocess.run([promtool, *arguments], capture_output=True, text=True, check=False)  # noqa: S603 - Debian's program
        assert done.returncode == 0, done.stdout + done.stderr


def test_promtool_finds_nothing_wrong_with_the_page_of_metrics() -> None:
    promtool = program("promtool", "prometheus")
    page = generate_latest(Metrics().registry)
    done = subprocess.run([promtool, "check", "metrics"], input=page, capture_output=True, check=False)  # noqa: S603 - Debian's program
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_the_documentation_has_the_metrics_and_the_alerts_as_they_are() -> None:
    operations = (ROOT / "docs" / "operations.md").read_text()
    assert metrics_table() in operations
    alerts = operations.partition("\n## Alerts\n")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `(\w+)`", alerts, flags=re.MULTILINE) == [rule["alert"] for rule in rules()]
    assert all(metric.name.endswith("_total") for metric in METRICS if metric.kind is Kind.COUNTER)


@pytest.mark.parametrize("page", ["docs/operations.md", "deploy/README.md"])
def test_the_pages_name_files_and_commands_that_are_there(page: str) -> None:
    text = (ROOT / page).read_text()
    for link in re.findall(r"\]\(([^)#]+)", text):
        assert ((ROOT / page).parent / link).exists(), link
    for path in re.findall(r"`(deploy/[\w.-]+)`", text):
        assert (ROOT / path).exists(), path
    known = {name for name, _ in every_command()}
    known |= {name.partition(" ")[0] for name in known}  # a group by itself
    for words in re.findall(r"`forecaster ([a-z]+(?: (?:set|clear))?)", text):
        assert words in known, words
