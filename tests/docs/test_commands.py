"""Every command that a sentence, a page or a file of ours tells people to run is one that there is, with options that it has."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from jobs.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
ROOMS = {"forecaster": "py", "connectors": "py", "jobs": "py", "migrations": "py", "jobs/starter": "yaml", "docs": "md", "deploy": "*"}
QUOTED = re.compile(r"`forecaster ([a-z-][^`\n]*)`")
LEFT_OUT = {"...", "…"}


def files() -> Iterator[Path]:
    yield ROOT / "README.md"
    for room, kind in ROOMS.items():
        yield from (path for path in (ROOT / room).rglob(f"*.{kind}") if path.is_file() and path.suffix != ".pyc")


def told() -> dict[str, str]:
    """Commands as they are told, without those that code fills in, and a file that tells each."""
    named = ((words, path) for path in sorted(files()) for words in QUOTED.findall(path.read_text(errors="ignore")))
    return {words: str(path.relative_to(ROOT)) for words, path in named if "{" not in words}


def fault(words: str) -> str | None:
    """What the command line would not take of a command, None where it takes all of it. Values are not looked at."""
    arguments = [word for word in shlex.split(words) if word not in LEFT_OUT]
    command: Any = get_command(app)
    while arguments and hasattr(command, "commands") and not arguments[0].startswith("-"):
        if arguments[0] not in command.commands and "show" in command.commands:
            arguments.insert(0, "show")  # a group that shows what it is not asked otherwise
        if arguments[0] not in command.commands:
            return f"there is no command {arguments[0]}"
        command, arguments = command.commands[arguments[0]], arguments[1:]
    options = {name: option for option in command.params for name in (*option.opts, *option.secondary_opts) if name.startswith("-")}
    places = sum(1 for parameter in command.params if parameter.param_type_name == "argument")
    while arguments:
        word = arguments.pop(0)
        if not word.startswith("-"):
            places -= 1
        elif word not in options and word != "--help":
            return f"there is no option {word}"
        elif word in options and not options[word].is_flag:
            arguments = arguments[1:]
    return "there are more arguments than it takes" if places < 0 else None


@pytest.mark.parametrize(("words", "file"), sorted(told().items()))
def test_what_people_are_told_to_run_is_there(words: str, file: str) -> None:
    assert fault(words) is None, file


@pytest.mark.parametrize("words", ["frob", "check --discovr", "status chat", "override st chat"])
def test_what_is_not_there_would_be_found(words: str) -> None:
    assert fault(words) is not None
