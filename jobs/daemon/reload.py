"""A new configuration in the running daemon, or new objects of its templates; else the old ones and a sentence."""

from pathlib import Path

import structlog

from forecaster.errors import ForecasterError
from forecaster.ports import Clock
from forecaster.units import MINUTE_S
from jobs.config.reading import read_config
from jobs.daemon.due import POLL_S
from jobs.daemon.fleets import Fleets, OpenFleet
from jobs.failure import failure
from jobs.telemetry import start_logging
from jobs.telemetry.metrics import Metrics

RETRY_S = MINUTE_S
"""How long objects of templates that were out of sight wait for the next look."""
_SHOWN = 20
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
    metrics.record_config(clock.now())
    if (config.daemon, config.serve) != (before.config.daemon, before.config.serve):
        log.warning("reload", sentence="addresses in daemon and serve are taken at the start: restart to change them")
    tell_fleet("reload", fleets.current, metrics, known=before.workloads, met=before.problems, sentence=f"{path} is in force")
    return True


def look_again(fleets: Fleets, metrics: Metrics, clock: Clock) -> None:
    """Look up the objects of templates again when it is time: once a forecast, and soon after a look that met problems."""
    before, now = fleets.current, clock.now().replace(microsecond=0)
    known, met = before.workloads, before.problems
    patience_s = RETRY_S if met else before.config.forecast.every - POLL_S / 2
    if not before.config.templates or before.forgets or (now - before.looked_at).total_seconds() < patience_s:
        return
    fleets.refresh(now)
    if (fleets.current.workloads, fleets.current.problems) != (known, met):
        tell_fleet("templates", fleets.current, metrics, known=known, met=met, sentence="the objects of templates were looked up again")


def tell_fleet(event: str, fleet: OpenFleet, metrics: Metrics, *, known: frozenset[str], met: tuple[str, ...], sentence: str) -> None:
    """Say which workloads are in force, which came and went since `known`, and what keeps others out that was not `met` before."""
    metrics.record_workloads(fleet.workloads, len(fleet.problems))
    added, removed = _few(fleet.workloads - known), _few(known - fleet.workloads)
    log.info(event, sentence=sentence, workloads=len(fleet.workloads), added=added, removed=removed)
    for problem in fleet.problems:
        if problem not in met:
            log.warning("templates", sentence=problem)


def _few(names: frozenset[str]) -> list[str]:
    """The names in order, the first of many."""
    left = len(names) - _SHOWN
    return [*sorted(names)[:_SHOWN], *([f"and {left} more"] if left > 0 else [])]


def _refuse(metrics: Metrics, error: Exception) -> None:
    refused = failure("reload", error)
    metrics.record_refused_config(refused)
    log.error("reload", sentence=f"{refused.sentence}; the configuration from before stays in force")
