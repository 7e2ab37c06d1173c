"""The commented configuration that `forecaster init` writes."""

import os
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

from forecaster.errors import ConfigRejected


def starter() -> str:
    """The text of the starter."""
    return files("jobs.starter").joinpath("starter.yaml").read_text("utf-8")


def write_starter(path: Path, *, force: bool) -> None:
    """Write the starter, all of it or nothing. Raises ConfigRejected where a file is there already, unless forced, or none can be."""
    target = path.resolve()  # a link stays one, and the file behind it is written
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        if target.is_dir():
            raise ConfigRejected(f"{path}: is a directory; name the file to write in it")
        if target.exists() and not force:
            raise ConfigRejected(f"{path}: is there already and was left alone; name another file, or write over it with --force")
        draft.write_text(starter(), encoding="utf-8")
        draft.replace(target)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        raise ConfigRejected(f"{path}: cannot be written ({error.strerror}); name a file in a directory that you may write") from error
