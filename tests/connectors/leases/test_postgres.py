"""A lease by an advisory lock."""

import re
from typing import TYPE_CHECKING

import pytest

from connectors.leases.opening import open_lease
from connectors.leases.postgres import PostgresLease
from forecaster.errors import StoreError
from tests.services import free_port

if TYPE_CHECKING:  # as a plugin it must not be imported before pytest does
    from tests.postgres import Postgres

pytest_plugins = ("tests.postgres",)


def test_a_holder_whose_session_was_ended_notices_and_can_take_it_again(postgres: "Postgres", postgres_url: str) -> None:
    lease, other = PostgresLease(postgres_url, "apply"), PostgresLease(postgres_url, "apply")
    assert lease.try_acquire()
    postgres.end_sessions(postgres_url)
    assert not lease.renew()
    assert not lease.renew()
    assert other.try_acquire()
    assert not lease.try_acquire()
    other.release()
    assert lease.try_acquire()
    lease.release()


def test_a_lease_is_held_by_whatever_number_its_name_becomes(postgres_url: str) -> None:
    for name in map(str, range(20)):  # hashes of either sign
        lease = PostgresLease(postgres_url, name)
        assert lease.try_acquire()
        assert lease.renew()
        lease.release()


def test_both_spellings_of_an_address_are_one_lease(postgres_url: str) -> None:
    first = open_lease(postgres_url, "apply")
    second = open_lease(postgres_url.replace("postgresql:", "postgresql+psycopg:"), "apply")
    assert first.try_acquire()
    assert not second.try_acquire()
    first.release()


def test_a_server_that_is_not_there_is_named_with_the_remedy_and_without_the_password() -> None:
    port = free_port()
    lease = PostgresLease(f"postgresql://ada:secret@127.0.0.1:{port}/forecaster", "apply")
    with pytest.raises(StoreError, match=re.escape(f'"127.0.0.1", port {port} failed: Connection refused')) as refused:
        lease.try_acquire()
    assert str(refused.value).startswith("the lease apply cannot be taken in PostgreSQL (")
    assert str(refused.value).endswith("): start it, or correct store")
    assert "secret" not in str(refused.value)
