"""`check` on the store, and on templates."""

import sqlite3
from pathlib import Path

import pytest
import yaml

from connectors.stores.migrate import migrate
from connectors.stores.opening import open_store
from jobs.checking.check import check_all
from jobs.checking.finding import Finding, State
from tests.jobs.checking.findings import found, states
from tests.jobs.world import NOW, World
from tests.kube_api import KubeApi
from tests.services import free_port


class TestStore:
    def test_memory_is_a_warning(self, world: World) -> None:
        world.workload("chat")
        world.config["store"] = "memory:"
        assert found(world, "store").state is State.WARNING

    def test_a_file_that_is_not_there_will_be_created_and_is_not_now(self, world: World) -> None:
        world.workload("chat")
        assert found(world, "store").sentence.endswith("forecaster.db is not there yet and will be created by the first run")
        assert not (world.folder / "forecaster.db").exists()

    def test_an_empty_file_stays_empty(self, world: World) -> None:
        world.workload("chat")
        (world.folder / "forecaster.db").touch()
        assert found(world, "store").state is State.OK
        assert (world.folder / "forecaster.db").read_bytes() == b""

    def test_a_store_of_this_release_is_named_with_its_schema(self, world: World) -> None:
        world.workload("chat")
        migrate(f"sqlite:///{world.folder / 'forecaster.db'}")
        assert "is at schema" in found(world, "store").sentence

    @pytest.mark.parametrize(("content", "says"), [(b"no database at all, but long enough to be one" * 10, "is not a SQLite database")])
    def test_a_file_that_is_no_store_fails_and_the_rest_is_checked(self, world: World, content: bytes, says: str) -> None:
        world.workload("chat")
        (world.folder / "forecaster.db").write_bytes(content)
        assert says in found(world, "store").sentence
        assert states(world)[State.FAILED] == 1

    def test_a_store_of_a_newer_release_fails(self, world: World) -> None:
        world.workload("chat")
        path = world.folder / "forecaster.db"
        open_store(f"sqlite:///{path}").close()
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.close()
        assert "upgrade Forecaster" in found(world, "store").sentence

    def test_a_missing_directory_fails(self, world: World) -> None:
        world.workload("chat")
        world.config["store"] = "sqlite:///absent/forecaster.db"
        store = found(world, "store")
        assert store.state is State.FAILED
        assert "create it" in store.sentence

    def test_a_database_that_cannot_be_reached_fails_without_its_password(self, world: World) -> None:
        world.workload("chat")
        world.config["store"] = f"postgresql://forecaster:hunter2@127.0.0.1:{free_port()}/forecaster"
        store = found(world, "store")
        assert store.state is State.FAILED
        assert "cannot be reached" in store.sentence
        assert "hunter2" not in store.sentence


class TestTemplates:
    def checked(self, folder: Path, url: str) -> list[Finding]:
        template = {
            "for_each": {"type": "kubernetes-hpa", "label_selector": "team=chat", "cluster": {"server": url, "timeout_s": 1}},
            "workload": {
                "name": "{name}",
                "source": "trace",
                "signals": {"rpm": {"query": "value", "unit": "count"}},
                "pools": [
                    {
                        "name": "gpu",
                        "capacity": {"rpm": 60},
                        "targets": [{"type": "kubernetes-hpa", "namespace": "{namespace}", "name": "{name}"}],
                    }
                ],
            },
        }
        path = folder / "forecaster.yaml"
        config = {"store": "memory:", "sources": {"trace": {"type": "csv", "path": "load.csv"}}, "templates": [template]}
        path.write_text(yaml.safe_dump(config))
        return [one for one in check_all(path, NOW) if one.what in {"template", "target"}]

    def test_what_was_found_is_counted_and_checked_like_any_workload(self, world: World, tmp_path: Path) -> None:
        world.api.add_hpa("serving", "chat", labels={"team": "chat"})
        template, target = self.checked(tmp_path, world.api.url)
        assert (template.state, template.where, template.sentence) == (State.OK, "team=chat", "1 found, 1 workloads made")
        assert (target.state, target.where) == (State.OK, "kubernetes-hpa:serving/chat")

    def test_a_selector_that_matches_nothing_is_a_warning(self, tmp_path: Path) -> None:
        with KubeApi() as api:
            (template,) = self.checked(tmp_path, api.url)
        assert template.state is State.WARNING
        assert template.sentence == "no HPA carries this label; label one, or correct label_selector and namespaces"

    def test_a_cluster_that_cannot_be_reached_is_a_failure(self, tmp_path: Path) -> None:
        (template,) = self.checked(tmp_path, f"http://127.0.0.1:{free_port()}")
        assert template.state is State.FAILED
