"""The scenarios of the field that a configuration must catch before anything is written."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from forecaster.plan import window_floor
from jobs.config.reading import read_config
from tests.jobs.config.samples import faults_of, with_policy

AT = "forecaster.yaml: workloads[0].policy"


def test_k24_min_above_max_is_refused_with_both_numbers(tmp_path: Path) -> None:
    assert faults_of(tmp_path, with_policy("{min: 5, max: 3}")) == [f"{AT}: min must not be above max, got 5 and 3: raise max or lower min"]


def test_k25_a_window_that_begins_when_it_ends_is_refused_since_it_could_mean_two_things(tmp_path: Path) -> None:
    assert faults_of(tmp_path, with_policy("{windows: [{from: 08:00, to: 08:00, min_replicas: 2}]}")) == [
        f"{AT}.windows[0]: from and to must differ: equal ones could mean nothing or the whole day, which is 00:00 to 24:00"
    ]


def test_k25_where_windows_overlap_the_largest_floor_holds(tmp_path: Path) -> None:
    path = tmp_path / "forecaster.yaml"
    windows = (
        "[{from: 08:00, to: 18:00, min_replicas: 4}, {from: 17:00, to: 02:00, min_replicas: 7}, {from: 00:00, to: 24:00, min_replicas: 1}]"
    )
    path.write_text(with_policy(f"{{windows: {windows}}}"))
    (workload,) = read_config(path).workloads
    day = datetime(2026, 3, 2, tzinfo=UTC)
    floors = {hour: window_floor(workload.policy.to_core().windows, day + timedelta(hours=hour)) for hour in (1, 3, 9, 17, 20)}
    assert floors == {1: 7, 3: 1, 9: 4, 17: 7, 20: 7}


@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        ("{hedroom: 1.2}", ".hedroom: is no known key; did you mean headroom?"),
        ("{windows: [{days: mon, from: 08:00, to: 18:00, min_replicas: 1}]}", ".windows[0].days: must be a list, got 'mon'; put it in [ ]"),
        ("{mode: [auto]}", ".mode: must be observe, review or auto; write one of them alone"),
    ],
)
def test_k50_a_typo_or_a_list_in_the_wrong_place_is_refused_with_its_path(tmp_path: Path, policy: str, sentence: str) -> None:
    assert faults_of(tmp_path, with_policy(policy)) == [f"{AT}{sentence}"]
