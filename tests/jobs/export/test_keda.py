"""KEDA cron triggers by the scaler's documentation: https://keda.sh/docs/latest/scalers/cron/."""

import re
from itertools import pairwise

import pytest

from jobs.export.keda import LoadTrigger, Scaled, scaled_object
from jobs.proof.cron import CronWindow, Timetable

FIELDS = re.compile(r"0 (\d|1\d|2[0-3]) \* \* (\*|[0-6](-[0-6])?(,[0-6](-[0-6])?)*)")


def trigger(window: CronWindow) -> dict[str, str]:
    scaled = Scaled(namespace="inference", name="chat", kind="Deployment", scales="chat", maximum=40)
    manifest = scaled_object(scaled, Timetable(minimum=2, windows=(window,)), None)
    spec = manifest["spec"]
    assert isinstance(spec, dict)
    assert (spec["minReplicaCount"], spec["maxReplicaCount"]) == (2, 40)
    (found,) = spec["triggers"]
    assert found["type"] == "cron"
    metadata: dict[str, str] = found["metadata"]
    return metadata


@pytest.mark.parametrize(
    ("window", "start", "end"),
    [
        (CronWindow(days=(0, 1, 2, 3, 4), from_h=8, until_h=17, replicas=12), "0 8 * * 1-5", "0 17 * * 1-5"),
        (CronWindow(days=(4,), from_h=18, until_h=24, replicas=5), "0 18 * * 5", "0 0 * * 6"),
        (CronWindow(days=tuple(range(7)), from_h=22, until_h=6, replicas=5), "0 22 * * *", "0 6 * * *"),
        (CronWindow(days=(5, 6), from_h=20, until_h=24, replicas=5), "0 20 * * 0,6", "0 0 * * 0-1"),
    ],
    ids=["office", "to midnight", "over midnight", "weekend"],
)
def test_a_window_is_one_trigger_with_zone_start_end_and_replicas_as_texts(window: CronWindow, start: str, end: str) -> None:
    metadata = trigger(window)
    assert metadata == {"timezone": "UTC", "start": start, "end": end, "desiredReplicas": str(window.replicas)}
    assert FIELDS.fullmatch(metadata["start"])
    assert FIELDS.fullmatch(metadata["end"])


def test_the_load_is_a_trigger_beside_the_crons() -> None:
    scaled = Scaled(namespace="inference", name="chat", kind="StatefulSet", scales="chat-0")
    load = LoadTrigger(url="http://prometheus:9090", query="sum(rate(x[2m]))", threshold=6.25)
    manifest = scaled_object(scaled, Timetable(minimum=1, windows=()), load)
    assert manifest == {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {"name": "chat", "namespace": "inference"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "chat-0"},
            "minReplicaCount": 1,
            "triggers": [
                {
                    "type": "prometheus",
                    "metadata": {"serverAddress": "http://prometheus:9090", "query": "sum(rate(x[2m]))", "threshold": "6.25"},
                }
            ],
        },
    }


def test_windows_keep_their_order() -> None:
    days = tuple(range(7))
    windows = tuple(CronWindow(days=days, from_h=hour, until_h=hour + 2, replicas=hour) for hour in (6, 8, 10))
    manifest = scaled_object(Scaled(namespace="n", name="a", kind="Deployment", scales="a"), Timetable(minimum=1, windows=windows), None)
    spec = manifest["spec"]
    assert isinstance(spec, dict)
    ends = [(one["metadata"]["start"], one["metadata"]["end"]) for one in spec["triggers"]]
    assert all(before[1] == after[0] for before, after in pairwise(ends))
