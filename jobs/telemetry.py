"""Logs and metrics of our own work. Event names are the verbs of the line."""

import logging
import sys

import structlog

from jobs.config.document import LogSection


def start_logging(section: LogSection) -> None:
    """Log to stderr: lines for people on a terminal, JSON for collectors elsewhere, unless the section says which."""
    people = section.format == "console" or (section.format == "auto" and sys.stderr.isatty())
    renderer = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty()) if people else structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[section.level.upper()]),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
