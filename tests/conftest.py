"""What all tests share: examples of hypothesis are not timed, since the machine may be busy, and any test may ask for PostgreSQL."""

import logging
from collections.abc import Iterator

import pytest
import structlog
from hypothesis import settings

pytest_plugins = ("tests.postgres",)

settings.register_profile("forecaster", deadline=None)
settings.load_profile("forecaster")


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    """A command that runs in the test's own process sets the log up for itself: the next test, of whatever folder, begins without."""
    root = logging.getLogger()
    handlers, level = set(root.handlers), root.level
    structlog.reset_defaults()
    yield
    for handler in set(root.handlers) - handlers:
        if (handler.get_name() or "").startswith("forecaster"):
            root.removeHandler(handler)
    root.setLevel(level)
    logging.captureWarnings(capture=False)
    structlog.reset_defaults()
