"""A new configuration in the running daemon, or the old one and a sentence."""

from pathlib import Path

import structlog

from forecaster.errors import ForecasterError
from forecaster.ports import Clock
from jobs.config.reading import read_config
from jobs.daemon.fleets import Fleets
from jobs.failure import failure
from jobs.telemetry import start_logging
from jobs.telemetry.metrics import Metrics

log = structlog.get_logger()


def reload(path: Path, fleets: Fleets, metrics: Metrics, clock: Clock) -> bool:
    """Read the configuration again and put it in force; False when it cannot be used and the one before stays."""
    before = fleets.current
    try:
        config = read_config(path)
        fleets.replace(config, clock.now().replace(microsecond=0))
    except ForecasterError as error:
        _refuse(metrics, error)
        return False
    except Exception as error:  # whatever is wrong with the new one, the old one must go on
        log.exception("reload")
        _refuse(metrics, error)
        return False
    start_logging(config.log)
    metrics.record_config(clock.now(), fleets.current.workloads)
    if config.daemon != before.config.daemon:
        log.warning("reload", sentence="daemon.host and daemon.port are taken at the start: restart to change them")
    added, removed = sorted(fleets.current.workloads - before.workloads), sorted(before.workloads - fleets.current.workloads)
    log.info("reload", sentence=f"{path} is in force", workloads=len(fleets.current.workloads), added=added, removed=removed)
    return True


def _refuse(metrics: Metrics, error: Exception) -> None:
    refused = failure("reload", error)
    metrics.record_refused_config(refused)
    log.error("reload", sentence=f"{refused.sentence}; the configuration from before stays in force")
