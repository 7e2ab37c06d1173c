"""Libraries at work without their chatter."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet(*loggers: str) -> Iterator[None]:
    """Silences the named loggers and all warnings inside.

    A fit that stops early, a missing plotting library or a library's own use of pandas is no news for anybody: what a member cannot
    draw is a row of NaN.
    """
    known = [logging.getLogger(name) for name in loggers]
    before = [logger.disabled for logger in known]
    try:
        for logger in known:
            logger.disabled = True
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, disabled in zip(known, before, strict=True):
            logger.disabled = disabled
