"""How live load corrects a plan can be said in the configuration."""

from pathlib import Path

import pytest

from forecaster.workload import Blend
from jobs.config.policy import BlendSection
from jobs.config.reading import read_config
from tests.jobs.config.samples import with_policy


def test_what_is_not_said_is_what_the_core_takes_by_default() -> None:
    assert BlendSection().to_core() == Blend()


@pytest.mark.parametrize("said", [True, False])
def test_whether_live_load_may_lower_is_said_in_the_policy(tmp_path: Path, said: bool) -> None:
    path = tmp_path / "forecaster.yaml"
    path.write_text(with_policy(f"{{blend: {{live_may_lower: {str(said).lower()}}}}}"))
    assert read_config(path).workloads[0].to_core().policy.blend == Blend(live_may_lower=said)
