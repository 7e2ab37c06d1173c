"""The `serve` section: what autoscalers ask us for."""

from pathlib import Path

from pydantic import BaseModel, Field

from jobs.config.policy import SECTION
from jobs.config.scalars import Integer


class TlsSection(BaseModel):
    """PEM files of the external scaler's server; they are read at the start."""

    model_config = SECTION
    cert: Path
    """Certificate of the server, with those that signed it. No default."""
    key: Path
    """Its key, unencrypted. No default."""
    client_ca: Path | None = None
    """Who signs the certificates of callers; others are refused. Default: none, whoever reaches the port is answered."""


class GrpcSection(BaseModel):
    """The external scaler that KEDA calls."""

    model_config = SECTION
    host: str = Field("127.0.0.1", min_length=1)
    """Address that it listens on. Default loopback: opening it is a decision."""
    port: Integer = Field(9465, ge=0, le=65_535)
    """Port of the same. Default 9465, the one after that of the pages; 0 takes a free one."""
    tls: TlsSection | None = None
    """TLS, where the way from KEDA to here is not trusted. Default: none."""


class ServeSection(BaseModel):
    """What autoscalers ask for, of `forecaster daemon` or `forecaster serve`. JSON is at the address of `daemon`, beside `/metrics`."""

    model_config = SECTION
    grpc: GrpcSection | None = None
    """KEDA's external scaler. Default: none; `grpc: {}` opens it on loopback."""
