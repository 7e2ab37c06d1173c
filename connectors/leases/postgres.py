"""A lease between machines: a lock that lives as long as one session of PostgreSQL."""

import hashlib

import psycopg

from forecaster.errors import StoreError

_CONNECT_S = 10
_DEAD_AFTER_MS = 10_000

_TAKE = "SELECT pg_try_advisory_lock(%s)"
_HELD = """
    SELECT count(*) FROM pg_locks
    WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND granted AND objsubid = 1
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND classid::bigint << 32 | objid::bigint = %s
"""


class PostgresLease:
    """A `forecaster.ports.Lease` by a session's advisory lock, on a connection of its own, among the users of one database.

    The server frees it when the holder's process dies, and within half a minute when its machine or network does. Raises
    StoreError when the server cannot be reached. Poolers that share sessions between clients must not stand in between.
    """

    def __init__(self, url: str, name: str) -> None:
        self._address = url.replace("postgresql+psycopg://", "postgresql://", 1)
        self._name = name
        self._key = int.from_bytes(hashlib.blake2b(f"forecaster/lease/{name}".encode(), digest_size=8).digest(), "big", signed=True)
        self._session: psycopg.Connection | None = None

    def try_acquire(self) -> bool:
        """Take the lease unless another session holds it; a holder whose session lives holds it still."""
        if self.renew():
            return True
        session = self._connected()
        try:
            taken = session.execute(_TAKE, [self._key]).fetchone() == (True,)
        except psycopg.Error as error:
            session.close()
            raise self._refusal(error) from error
        if taken:
            self._session = session
        else:
            session.close()
        return taken

    def renew(self) -> bool:
        """Whether the lease is still ours: the session answers, and the server still lists the lock as its own."""
        if self._session is not None and not self._listed(self._session):
            self.release()
        return self._session is not None

    def release(self) -> None:
        """Give the lease back, if it is ours."""
        if self._session is not None:
            self._session.close()  # and with it the lock
            self._session = None

    def _connected(self) -> psycopg.Connection:
        """A session that both ends give up soon after the other fell silent: TCP by itself waits for hours."""
        try:
            return psycopg.connect(
                self._address,
                autocommit=True,
                application_name=f"forecaster lease {self._name}",
                connect_timeout=_CONNECT_S,
                tcp_user_timeout=_DEAD_AFTER_MS,
                options="-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3",
            )
        except psycopg.Error as error:
            raise self._refusal(error) from error

    def _listed(self, session: psycopg.Connection) -> bool:
        try:
            return session.execute(_HELD, [self._key]).fetchone() == (1,)
        except psycopg.Error:
            return False

    def _refusal(self, error: psycopg.Error) -> StoreError:
        first_line = next(iter(str(error).splitlines()), type(error).__name__)
        return StoreError(f"the lease {self._name} cannot be taken in PostgreSQL ({first_line}): start it, or correct store")
