"""The counterparts, one of each a module: starting moto takes a second."""

from collections.abc import Iterator

import pytest

from connectors.aws import AwsAccount
from tests.aws import Aws, aws_to_ask
from tests.connectors.targets.subjects import account_of
from tests.kube_api import KubeApi


@pytest.fixture
def api() -> Iterator[KubeApi]:
    with KubeApi() as server:
        yield server


@pytest.fixture(scope="module")
def aws_server() -> Iterator[Aws]:
    with aws_to_ask() as server:
        yield server


@pytest.fixture(scope="module")
def account(aws_server: Aws) -> AwsAccount:
    return account_of(aws_server)


@pytest.fixture
def aws(aws_server: Aws) -> Aws:
    """The server with nothing asked so far."""
    aws_server.operations.clear()
    aws_server.writes.clear()
    return aws_server
