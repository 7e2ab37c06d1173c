"""`migrate` brings the store of the configuration to the schema of this release, and says what it did."""

from pathlib import Path

from tests.jobs.cli.process import forecaster
from tests.jobs.config.samples import SAMPLE


def test_an_empty_store_is_filled_and_the_second_time_nothing_is_done(tmp_path: Path) -> None:
    (tmp_path / "forecaster.yaml").write_text(SAMPLE)
    first = forecaster(tmp_path, "migrate")
    assert first.code == 0
    assert "forecaster.db was empty and is now at schema" in first.out
    again = forecaster(tmp_path, "migrate")
    assert again.code == 0
    assert again.out.endswith("already; nothing to do\n")


def test_a_store_that_cannot_be_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "forecaster.yaml").write_text(f"store: sqlite:///absent/forecaster.db\n{SAMPLE}")
    refused = forecaster(tmp_path, "migrate")
    assert refused.code == 1
    assert refused.err.startswith("forecaster: the directory ")
    assert refused.err.count("\n") == 1


def test_a_configuration_with_faults_is_a_sentence_each_and_exit_code_2(tmp_path: Path) -> None:
    (tmp_path / "forecaster.yaml").write_text(SAMPLE + "    policy: {levl: 0.9}\n    zne: UTC\n")
    refused = forecaster(tmp_path, "migrate")
    assert refused.code == 2
    assert "workloads[0].policy.levl: is no known key; did you mean level?" in refused.err
    assert "workloads[0].zne: is no known key; did you mean zone?" in refused.err
    assert "Traceback" not in refused.err
