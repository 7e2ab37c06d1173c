"""Lists that many targets need are asked for once."""

from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Barrier

import pytest

from connectors.kube.cluster import Cluster, KubeFailed, ObjectRef
from connectors.kube.connection import KubeConnection
from connectors.kube.recent import Recent
from tests.kube_api import KubeApi

HPAS = ObjectRef(group="autoscaling", version="v2", plural="horizontalpodautoscalers", namespace="serving", name="")
MANY = 16


def test_those_who_ask_at_once_share_one_answer() -> None:
    recent: Recent[int] = Recent()
    numbers, together = count(), Barrier(MANY)

    def ask(_: int) -> int:
        together.wait()
        return recent.of("loops", lambda: next(numbers))

    with ThreadPoolExecutor(MANY) as pool:
        assert set(pool.map(ask, range(MANY))) == {0}
    assert recent.of("other loops", lambda: next(numbers)) == 1


def test_objects_are_listed_once_for_many_and_another_namespace_is_another_question() -> None:
    with KubeApi() as api:
        api.add_hpa("serving", "chat")
        cluster = Cluster(KubeConnection(server=api.url))
        for _ in range(MANY):
            assert [one["metadata"]["name"] for one in cluster.found_lately(HPAS)] == ["chat"]
        assert len(api.requests) == 1
        elsewhere = ObjectRef(group=HPAS.group, version=HPAS.version, plural=HPAS.plural, namespace="elsewhere", name="")
        assert cluster.found_lately(elsewhere) == ()


def test_a_list_that_is_refused_is_refused_to_all() -> None:
    with KubeApi() as api:
        api.forbid("list")
        cluster = Cluster(KubeConnection(server=api.url))
        for _ in range(MANY):
            with pytest.raises(KubeFailed, match="forbidden"):
                cluster.found_lately(HPAS)
        assert [request.verb for request in api.requests].count("list") == 1
