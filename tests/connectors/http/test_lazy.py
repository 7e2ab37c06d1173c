"""A web client is opened when it is first needed, once, and by nobody who only reads configuration."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from connectors.http.api import Api
from connectors.http.endpoint import Endpoint, Unusable
from connectors.http.lazy import LazyApi
from tests.loopback_prometheus import loopback_prometheus, steady

MANY = 16


def test_all_threads_share_one_client() -> None:
    lazy, together = LazyApi(Endpoint(base_url="http://127.0.0.1:9")), Barrier(MANY)

    def opened(_: int) -> Api:
        together.wait()
        return lazy.opened()

    with ThreadPoolExecutor(MANY) as pool:
        assert len({id(api) for api in pool.map(opened, range(MANY))}) == 1
    lazy.close()


def test_one_that_nobody_opened_is_closed_without_being_opened(tmp_path: Path) -> None:
    lazy = LazyApi(Endpoint(base_url="https://127.0.0.1:9", ca_file=tmp_path / "absent.pem"))
    lazy.close()
    for _ in range(2):
        with pytest.raises(Unusable, match=r"absent\.pem"):
            lazy.opened()


def test_after_close_whoever_asks_is_refused() -> None:
    with loopback_prometheus(steady(1.0)) as prometheus:
        lazy = LazyApi(Endpoint(base_url=prometheus.url))
        assert lazy.opened().send("GET", "api/v1/query_range", {"start": "0", "end": "60", "step": "60"}).status == 200
        lazy.close()
        with pytest.raises(RuntimeError, match="closed"):
            lazy.opened().send("GET", "api/v1/query_range", {})


@pytest.mark.parametrize(
    "module",
    ["connectors.http.rest", "connectors.http.lazy", *(f"connectors.sources.{name}" for name in ("promql", "datadog", "metric_index"))],
)
def test_those_who_use_it_import_no_client(module: str) -> None:
    said = f"import sys, {module}; print([name for name in sys.modules if name.startswith(('httpx', 'connectors.http.api'))])"
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True, timeout=60)  # noqa: S603 - our own interpreter
    assert done.stdout.strip() == "[]"
