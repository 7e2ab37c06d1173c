"""The desk and its doors: pages and gRPC on one desk, opened together and closed together."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import structlog
from prometheus_client import CollectorRegistry

from forecaster.errors import ConfigRejected
from jobs.config.document import Config
from jobs.config.paths import beside
from jobs.config.serve import GrpcSection
from jobs.hooks.desk import Desk
from jobs.web.health import Health
from jobs.web.pages import pages
from jobs.web.server import PageServer
from jobs.web.workloads import answer_workloads

if TYPE_CHECKING:
    from jobs.hooks.server import ScalerServer

log = structlog.get_logger()


class Doors:
    """Every address, bound when this is made. Raises ConfigRejected where one cannot be bound; relative paths start at `folder`."""

    def __init__(self, config: Config, folder: Path, desk: Desk, registry: CollectorRegistry, health: Callable[[], Health]) -> None:
        app = pages(registry, health)
        answer_workloads(app, desk)
        self._pages = PageServer(app, config.daemon.host, config.daemon.port)
        try:
            self._scaler = None if config.serve.grpc is None else _scaler(beside(config.serve.grpc, folder), desk)
        except ConfigRejected:
            self._pages.stop()
            raise

    def open(self) -> None:
        """Answer from now on."""
        self._pages.start()
        url, address = self._pages.url, None if self._scaler is None else self._scaler.address
        if self._scaler is not None:
            self._scaler.start()
        also = "" if address is None else f", KEDA's external scaler at {address}"
        log.info("serve", sentence=f"pages at {url}{also}", url=url, grpc=address)

    def close(self) -> None:
        """Answer what was asked already, for a second or two at most, and let the addresses go."""
        if self._scaler is not None:
            self._scaler.stop()
        self._pages.stop()


def _scaler(section: GrpcSection, desk: Desk) -> "ScalerServer":
    from jobs.hooks.server import ScalerServer, Tls  # noqa: PLC0415 - gRPC is loaded where it is asked for

    tls = None if section.tls is None else Tls(cert=section.tls.cert, key=section.tls.key, client_ca=section.tls.client_ca)
    return ScalerServer(desk, section.host, section.port, tls)
