"""Whether the lease can be asked for that the configuration puts into a cluster; the store's own is there with the store."""

from collections.abc import Iterator
from pathlib import Path

from forecaster.errors import StoreError
from jobs.checking.finding import Finding, State
from jobs.config.document import Config
from jobs.leases import look

_HALF = "apply"  # both halves lie in one namespace under one rule


def check_lease(config: Config, folder: Path) -> Iterator[Finding]:
    """One finding where the lease lies in Kubernetes, else none. It is looked at and not taken."""
    try:
        told = look(config, folder, _HALF)
    except StoreError as error:
        yield Finding(what="lease", where=_HALF, state=State.FAILED, sentence=str(error))
        return
    if told is not None:
        yield Finding(what="lease", where=_HALF, state=State.OK, sentence=told)
