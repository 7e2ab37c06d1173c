"""The virtual object of the recording target: a rehearsal where there is nothing to observe."""

import pytest
from pydantic import ValidationError

from connectors.targets.recording import RecordingConfig
from connectors.targets.registry import open_target
from forecaster.reasons import Code
from tests.connectors.targets.subjects import NOW, codes, let_go, stand


def test_a_virtual_object_shows_its_configured_bounds_and_no_replicas() -> None:
    seen = open_target(RecordingConfig(type="recording", name="demo", floor=2, ceiling=9)).observe(NOW)
    assert (seen.target, seen.floor, seen.ceiling, seen.original) == ("recording:demo", 2, 9, 2)
    assert (seen.ready, seen.pending, seen.valid_until) == (None, None, None)


def test_a_virtual_object_never_changes() -> None:
    target = open_target(RecordingConfig(type="recording", name="demo"))
    first, second = stand(target, 40), stand(target, 40)
    assert first == second
    assert (first.before, first.after, first.written) == (1, 40, False)
    assert not let_go(target).written


def test_a_virtual_ceiling_is_a_ceiling() -> None:
    applied = stand(open_target(RecordingConfig(type="recording", name="demo", ceiling=9)), 12)
    assert (applied.after, codes(applied)) == (9, {Code.CEILING_BELOW_FLOOR})


def test_a_virtual_object_takes_a_floor_of_zero() -> None:
    assert stand(open_target(RecordingConfig(type="recording", name="demo")), 0).after == 0


@pytest.mark.parametrize("fields", [{"floor": 3, "ceiling": 2}, {"floor": -1}, {"name": ""}, {"flor": 1}])
def test_bounds_that_cannot_be_are_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        RecordingConfig.model_validate({"type": "recording", "name": "demo"} | fields)
