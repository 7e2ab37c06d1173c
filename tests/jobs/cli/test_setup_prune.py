"""`prune` forgets what is old and says what went."""

from pathlib import Path

from tests.jobs.cli.process import forecaster
from tests.jobs.config.samples import SAMPLE


def test_a_store_with_nothing_old_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "forecaster.yaml").write_text(SAMPLE)
    done = forecaster(tmp_path, "prune")
    assert (done.code, done.out) == (0, "nothing in the store is older than `keep` says\n")


def test_a_span_too_short_for_what_is_looked_back_is_refused_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "forecaster.yaml").write_text(SAMPLE + "keep: {plans: 7d}\n")
    refused = forecaster(tmp_path, "prune")
    assert refused.code == 2
    assert "keep: keep.plans must be at least 42d, got 7d" in refused.err


def test_history_is_kept_at_least_as_long_as_models_look_back(tmp_path: Path) -> None:
    (tmp_path / "forecaster.yaml").write_text(SAMPLE + "keep: {history: 30d}\n")
    refused = forecaster(tmp_path, "prune")
    assert refused.code == 2
    assert "keep.history must not be shorter than forecast.history of 56d, got 30d" in refused.err
