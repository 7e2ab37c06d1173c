"""A progress bar for a person who watches."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forecaster.backtest.settings import Progress


@contextmanager
def progress_bar() -> Iterator["Progress"]:
    """Where progress is told: a bar on stderr while that is a terminal, gone at the end of the block; nothing otherwise."""
    from forecaster.backtest.settings import silent

    if not sys.stderr.isatty():
        yield silent
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda done, doing: bar.update(task, completed=done, description=doing)
