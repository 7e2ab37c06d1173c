"""What members learn on the fleet, in the line: a library that fails to load takes away its member's opinion and nothing else."""

import os
from pathlib import Path

from forecaster.units import iso
from tests.jobs.cli.process import forecaster
from tests.jobs.world import NOW, daily_rpm, write_trace

CONFIG = """
store: sqlite:///forecaster.db
sources:
  trace: {type: csv, path: load.csv}
forecast: {watched: []}
workloads:
  - name: chat
    source: trace
    signals: {rpm: {query: value, unit: count}}
    pools: [{name: gpu, capacity: {rpm: 100}, targets: [{type: recording, name: chat}]}]
"""


def test_a_library_that_does_not_load_costs_only_its_own_member(tmp_path: Path) -> None:
    write_trace(tmp_path / "load.csv", daily_rpm())
    (tmp_path / "forecaster.yaml").write_text(CONFIG)
    broken = tmp_path / "packages" / "lightgbm"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise OSError('libgomp.so.1: cannot open shared object file')\n")
    path = os.pathsep.join((str(broken.parent), str(Path(__file__).parents[2])))
    ended = forecaster(tmp_path, "forecast", "--now", iso(NOW), PYTHONPATH=path)
    assert ended.code == 0, ended.err
    assert "did not learn: OSError: libgomp.so.1" in ended.err
    assert "ensemble" in forecaster(tmp_path, "review", "--now", iso(NOW), "--output", "csv").out
