"""What kustomize makes of deploy/ and examples/, put on the real API server, and taken away again."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from tests.cluster.control_plane import ControlPlane, Json

ROOT = Path(__file__).parents[2]
KUSTOMIZE = ROOT / "deploy" / "kustomize"
_STAYS = frozenset({"Namespace", "ServiceAccount"})
"""Kinds that other tests have too."""


def rendered(cluster: ControlPlane, folder: Path) -> list[Json]:
    """The objects as `kubectl kustomize` prints them, without a word on stderr."""
    done = cluster.tried("kustomize", str(folder))
    assert (done.returncode, done.stderr) == (0, ""), (folder, done.stderr)
    return [document for document in yaml.safe_load_all(done.stdout) if document]


def overlay(folder: Path, **kustomization: Any) -> Path:
    """A kustomization of its own; paths of folders are written relative to it, as kustomize wants them."""
    folder.mkdir(parents=True, exist_ok=True)
    root = folder.resolve()
    for key in ("resources", "components"):
        if key in kustomization:
            kustomization[key] = [_relative(Path(path), root) for path in kustomization[key]]
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))
    return folder


def _relative(path: Path, root: Path) -> str:
    up = len(root.parts) - 1
    return str(Path(*[".."] * up, *path.resolve().parts[1:]))


def put(cluster: ControlPlane, objects: Sequence[Json], namespace: str | None = None) -> str:
    """Apply the objects as an administrator; what kubectl said on stderr, which is where warnings come."""
    place = () if namespace is None else ("--namespace", namespace)
    words = ("apply", "--server-side", "--force-conflicts", "--field-manager=platform-team", *place, "-f", "-")
    done = cluster.tried(*words, stdin=yaml.safe_dump_all(objects))
    assert done.returncode == 0, done.stderr
    return done.stderr


@contextmanager
def standing(cluster: ControlPlane, objects: Sequence[Json], namespace: str | None = None) -> Iterator[None]:
    """The objects on the server for as long as the block lasts; not a warning when they come."""
    ours = sorted(objects, key=lambda each: each["kind"] not in _STAYS)
    assert put(cluster, ours, namespace) == ""
    try:
        yield
    finally:
        place = () if namespace is None else ("--namespace", namespace)
        going = yaml.safe_dump_all([each for each in ours if each["kind"] not in _STAYS])
        cluster.kubectl("delete", "--ignore-not-found", *place, "-f", "-", stdin=going)
