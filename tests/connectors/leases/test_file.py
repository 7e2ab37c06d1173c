"""A lease by a file lock."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from connectors.leases.file import FileLease
from connectors.leases.opening import open_lease
from forecaster.errors import ConfigRejected, StoreError


def test_a_holder_whose_file_was_deleted_has_lost_it_since_the_next_one_locks_a_new_file(tmp_path: Path) -> None:
    path = tmp_path / "forecaster.db.apply.lock"
    first, second = FileLease(path), FileLease(path)
    assert first.try_acquire()
    path.unlink()
    assert second.try_acquire()
    assert not first.renew()
    assert not first.try_acquire()
    second.release()


def test_a_holder_whose_file_was_replaced_has_lost_it(tmp_path: Path) -> None:
    path, other = tmp_path / "lock", tmp_path / "other"
    lease = FileLease(path)
    assert lease.try_acquire()
    other.touch()
    other.replace(path)
    assert not lease.renew()


def test_the_file_of_a_dead_holder_stands_in_nobodys_way(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.write_text("left over")
    lease = FileLease(path)
    assert lease.try_acquire()
    lease.release()


def test_a_program_that_the_holder_has_started_does_not_keep_the_lease(tmp_path: Path) -> None:
    first, second = FileLease(tmp_path / "lock"), FileLease(tmp_path / "lock")
    assert first.try_acquire()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False) as child:
        first.release()
        free = second.try_acquire()
        child.communicate(b"\n")
    assert free
    second.release()


def test_a_missing_directory_is_named_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "gone" / "lock"
    said = f"the lock file {path} cannot be opened (No such file or directory): create its directory and grant write access to it"
    with pytest.raises(StoreError, match=re.escape(said)):
        FileLease(path).try_acquire()


def test_the_lock_lies_beside_the_database_and_never_outside_of_its_directory(tmp_path: Path) -> None:
    lease = open_lease(f"sqlite:///{tmp_path}/forecaster.db", "../apply")
    assert lease.try_acquire()
    assert [path.name for path in tmp_path.iterdir()] == ["forecaster.db...%2Fapply.lock"]
    lease.release()


@pytest.mark.parametrize("url", ["mysql://root:secret@db/x", "sqlite://", "sqlite:///", "forecaster.db"])
def test_an_address_that_no_lease_fits_is_refused_without_quoting_it(url: str) -> None:
    with pytest.raises(ConfigRejected, match=r"store must begin with memory:, sqlite:/// or postgresql://") as refused:
        open_lease(url, "apply")
    assert "secret" not in str(refused.value)
