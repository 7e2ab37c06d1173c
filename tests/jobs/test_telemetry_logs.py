"""One stream of lines on stderr, whoever speaks."""

import io
import json
import logging
import sys
import warnings
from contextlib import redirect_stderr

import pytest
import structlog

from jobs.config.document import LogSection
from jobs.telemetry import start_logging


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_collectors_read_one_json_object_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    start_logging(LogSection())
    structlog.get_logger().info("apply", workload="chat", sentence="floor 2 -> 5")
    (line,) = lines(capsys)
    assert line.pop("timestamp")
    assert line == {"event": "apply", "level": "info", "workload": "chat", "sentence": "floor 2 -> 5"}


def test_people_read_lines_without_braces(capsys: pytest.CaptureFixture[str]) -> None:
    start_logging(LogSection(format="console"))
    structlog.get_logger().info("apply", sentence="floor 2 -> 5")
    assert "{" not in (said := capsys.readouterr().err)
    assert "floor 2 -> 5" in said


def test_lines_below_the_level_are_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    start_logging(LogSection(level="warning"))
    structlog.get_logger().info("apply")
    structlog.get_logger().warning("plan")
    assert [line["event"] for line in lines(capsys)] == ["plan"]


def test_libraries_warn_in_our_format_and_are_otherwise_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    start_logging(LogSection(level="debug"))
    library = logging.getLogger("urllib3.connectionpool")
    library.debug("Authorization: Bearer secret")
    library.info("a connection was made")
    library.warning("the pool is full of %s", "strangers")
    (line,) = lines(capsys)
    assert (line["event"], line["level"], line["logger"]) == ("library", "warning", "urllib3.connectionpool")
    assert line["sentence"] == "the pool is full of strangers"


def test_a_librarys_traceback_stays_inside_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    start_logging(LogSection())
    try:
        int("deep inside")
    except ValueError:
        logging.getLogger("uvicorn.error").exception("a page failed")
    (line,) = lines(capsys)
    assert line["level"] == "error"
    assert "deep inside" in str(line["exception"])


def test_warnings_of_python_are_lines_too(capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():  # inside, since the test runner puts its own recorder in place before
        warnings.simplefilter("always")
        start_logging(LogSection())
        warnings.warn("this will change", FutureWarning, stacklevel=1)
    (line,) = lines(capsys)
    assert (line["event"], line["logger"]) == ("library", "py.warnings")


def test_starting_again_repeats_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    start_logging(LogSection())
    start_logging(LogSection(level="error"))
    logging.getLogger("library").warning("not heard at this level")
    logging.getLogger("library").error("heard once")
    assert [line["sentence"] for line in lines(capsys)] == ["heard once"]


def test_lines_follow_a_redirected_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    start_logging(LogSection())
    elsewhere = io.StringIO()
    with redirect_stderr(elsewhere):
        structlog.get_logger().info("apply")
        logging.getLogger("library").error("too")
    elsewhere_lines = [json.loads(line)["event"] for line in elsewhere.getvalue().splitlines()]
    elsewhere.close()
    structlog.get_logger().info("plan")
    assert (elsewhere_lines, [line["event"] for line in lines(capsys)]) == (["apply", "library"], ["plan"])
    assert sys.stderr is not elsewhere
