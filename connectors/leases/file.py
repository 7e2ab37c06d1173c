"""A lease on one machine: a lock that the kernel takes from a dead process at once."""

import fcntl
import os
from pathlib import Path

from forecaster.errors import StoreError


class FileLease:
    """A `forecaster.ports.Lease` by `flock` on a file, which stays where it is when the lease is given back.

    Raises StoreError when the file cannot be opened. The lock is no protection between machines that share a file system, and
    neither is SQLite. A child made by a bare fork keeps the lock of a parent that is killed; a started program does not.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def try_acquire(self) -> bool:
        """Take the lease unless another holder has it; a holder whose file is still in place holds it still."""
        if self.renew():
            return True
        file = self._opened()
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            return False
        self._file = file
        return self.renew()

    def renew(self) -> bool:
        """Whether the lease is still ours: a file that was deleted or replaced excludes nobody any more."""
        if self._file is not None and not self._in_place(self._file):
            self.release()
        return self._file is not None

    def release(self) -> None:
        """Give the lease back, if it is ours."""
        if self._file is not None:
            fcntl.flock(self._file, fcntl.LOCK_UN)  # closing alone leaves it to a child that was forked a moment ago
            os.close(self._file)
            self._file = None

    def _opened(self) -> int:
        try:
            return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            msg = f"the lock file {self._path} cannot be opened ({error.strerror}): create its directory and grant write access to it"
            raise StoreError(msg) from error

    def _in_place(self, file: int) -> bool:
        try:
            return os.path.samestat(os.fstat(file), self._path.stat())
        except OSError:
            return False
