"""The programs of a real control plane, built from their Go modules once and kept: `python -m tests.cluster.build`.

A cold build takes some minutes of two cores. What was built is kept under the hash of everything that it came from.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

_HERE = Path(__file__).parent
_VERSION = "k8s.io/component-base/version"
_KUBERNETES = "v1.37.2"  # that of kubernetes/go.mod


class BuildFailed(Exception):
    """The programs are not there and cannot be built; the sentence says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Module:
    """A folder with a go.mod, and the packages that become programs, each named like the last part of its path."""

    folder: str
    packages: tuple[str, ...]
    ldflags: str = "-s -w"

    @property
    def programs(self) -> tuple[str, ...]:
        return tuple(package.rpartition("/")[2] for package in self.packages)


_MODULES = (
    _Module(
        folder="kubernetes",
        packages=("k8s.io/kubernetes/cmd/kube-apiserver", "k8s.io/kubernetes/cmd/kube-controller-manager", "k8s.io/kubernetes/cmd/kubectl"),
        # without these the server calls itself v0.0.0-master, and kubectl finds it too old
        ldflags=f"-s -w -X {_VERSION}.gitVersion={_KUBERNETES} -X {_VERSION}.gitMajor=1 -X {_VERSION}.gitMinor=37",
    ),
    _Module(folder="kine", packages=("github.com/k3s-io/kine",)),
)
_PROGRAMS = tuple(program for module in _MODULES for program in module.programs)


def built() -> Path | None:
    """The folder of the programs, None before they are built or where there is no Go."""
    go = shutil.which("go")
    place = _place(go) if go is not None else None
    return place if place is not None and _is_complete(place) else None


def programs() -> Path:
    """The folder of the programs, built first where they are not there. Two that ask at once build once. Raises BuildFailed."""
    place = _place(_toolchain())
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _is_complete(place):
            print("building the control plane of the tests: some minutes, once", file=sys.stderr)  # noqa: T201
            _build(place)
    return place


def _toolchain() -> str:
    go = shutil.which("go")
    if go is None:
        msg = "needs Go, which builds a Kubernetes control plane: https://go.dev/dl"
        raise BuildFailed(msg)
    if not any(shutil.which(name) for name in ("cc", "gcc", "clang")):
        msg = "needs a C compiler, since the control plane keeps its state in SQLite: apt-get install gcc libc6-dev"
        raise BuildFailed(msg)
    return go


def _place(go: str) -> Path:
    """Named by the hash of what the programs are made of: modules, toolchain, flags."""
    version = subprocess.run([go, "env", "GOVERSION"], capture_output=True, cwd=_HERE / _MODULES[0].folder, check=False).stdout  # noqa: S603
    digest = hashlib.sha256(version + repr(_MODULES).encode())
    for module in _MODULES:
        for name in ("go.mod", "go.sum"):
            digest.update((_HERE / module.folder / name).read_bytes())
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "forecaster-tests" / digest.hexdigest()[:16]


def _is_complete(place: Path) -> bool:
    return all((place / program).exists() for program in _PROGRAMS)


def _build(place: Path) -> None:
    """All of it beside its place, then into its place at once: a build that was cut short leaves nothing that looks whole."""
    go = _toolchain()
    env = {**os.environ, "CGO_ENABLED": "1"}  # SQLite is C
    with tempfile.TemporaryDirectory(dir=place.parent, prefix="building-") as beside:
        whole = Path(beside) / "programs"
        whole.mkdir()
        for module in _MODULES:
            flags = ("-trimpath", "-buildvcs=false", "-mod=readonly", f"-ldflags={module.ldflags}")
            command: list[str | Path] = [go, "build", *flags, "-o", whole, *module.packages]
            done = subprocess.run(  # noqa: S603  # the toolchain found above
                command, cwd=_HERE / module.folder, env=env, capture_output=True, text=True, check=False
            )
            if done.returncode:
                msg = f"tests/cluster/{module.folder} does not build: {done.stderr.strip()[-2000:]}"
                raise BuildFailed(msg)
        shutil.rmtree(place, ignore_errors=True)
        whole.rename(place)


def main() -> None:
    """Build, and say where the programs are, or why they are not: that fails only under FORECASTER_REQUIRE_CLUSTER=1."""
    try:
        print(f"the control plane of the tests: {programs()}")  # noqa: T201
    except BuildFailed as failed:
        if os.environ.get("FORECASTER_REQUIRE_CLUSTER") == "1":
            sys.exit(str(failed))
        print(f"tests on a real control plane are skipped: {failed}")  # noqa: T201


if __name__ == "__main__":
    main()
