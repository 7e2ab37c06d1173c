"""One stream of log lines on stderr: ours, and what libraries have to warn of, in the same format."""

import logging
import sys

import structlog

from jobs.config.document import LogSection

_LIBRARIES = "forecaster.libraries"
_RETRY = "stamina.retry_scheduled"


def start_logging(section: LogSection) -> None:
    """Log to stderr: lines for people on a terminal, JSON for collectors elsewhere, unless the section says which.

    Libraries are heard from `warning` on, whatever the level, and never at `debug`: their lines may quote headers and addresses.
    A retry is nobody's news: one that helps changed nothing, and one that does not ends in a failure that is told.
    """
    level = logging.getLevelNamesMapping()[section.level.upper()]
    people = section.format == "console" or (section.format == "auto" and sys.stderr.isatty())
    renderer = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty()) if people else structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[
            _without_retries,
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=_stderr_logger,
        cache_logger_on_first_use=False,
    )
    _hear_libraries(max(level, logging.WARNING))


def _stderr_logger(*_: object) -> structlog.PrintLogger:
    """A logger on today's stderr: it may have been redirected since logging was started."""
    return structlog.PrintLogger(sys.stderr)


def _without_retries(_logger: object, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    if event["event"] == _RETRY:
        raise structlog.DropEvent
    return event


def _hear_libraries(level: int) -> None:
    root = logging.getLogger()
    for handler in [h for h in root.handlers if h.get_name() == _LIBRARIES]:
        root.removeHandler(handler)
    root.addHandler(_Rerouted(level))
    root.setLevel(level)
    logging.captureWarnings(capture=True)


class _Rerouted(logging.Handler):
    """Lines of libraries as lines of ours: event `library`, with the name of the logger."""

    def __init__(self, level: int) -> None:
        super().__init__(level)
        self.set_name(_LIBRARIES)

    def emit(self, record: logging.LogRecord) -> None:
        """One line for one record, with its traceback if it has one."""
        log = structlog.get_logger()
        say = log.error if record.levelno >= logging.ERROR else log.warning
        say("library", logger=record.name, sentence=record.getMessage(), exc_info=record.exc_info)
