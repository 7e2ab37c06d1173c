"""Lists that many targets need are asked for once."""

from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Barrier

import pytest

from connectors.kube.cluster import Cluster, KubeFailed, ObjectRef
from connectors.kube.connection import KubeConnection
from connectors.recent import Recent, Roll
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


class Book:
    """What an API would tell of names, and which were asked for in one request."""

    def __init__(self, *there: str) -> None:
        self.there = set(there)
        self.asked: list[tuple[str, ...]] = []

    def describe(self, names: tuple[str, ...]) -> dict[str, int]:
        """The number of the request, under each name that is there."""
        self.asked.append(names)
        return {name: len(self.asked) for name in names if name in self.there}


def rolled(*names: str, most: int = 100) -> Roll[int]:
    roll: Roll[int] = Roll(most)
    for name in names:
        roll.enrol(name)
    return roll


def test_whoever_asks_first_asks_for_all_that_are_on_the_roll() -> None:
    book, roll = Book("a", "b"), rolled("a", "b", "c")
    assert [roll.of(name, book.describe) for name in ("b", "a", "c")] == [1, 1, None]
    assert book.asked == [("a", "b", "c")]


def test_nobody_is_told_the_same_twice_so_that_who_looks_again_looks_anew() -> None:
    book, roll = Book("a", "b"), rolled("a", "b")
    assert [roll.of(name, book.describe) for name in ("a", "a", "b", "b")] == [1, 2, 2, 3]


def test_more_than_a_request_takes_are_asked_for_in_several() -> None:
    names = [str(number) for number in range(5)]
    book, roll = Book(*names), rolled(*names, most=2)
    assert [roll.of(name, book.describe) for name in names] == [1, 1, 2, 2, 3]
    assert book.asked == [("0", "1"), ("2", "3"), ("4",)]


def test_one_that_came_after_the_request_is_asked_for_with_the_others() -> None:
    book, roll = Book("a", "b"), rolled("a")
    assert roll.of("a", book.describe) == 1
    assert roll.of("b", book.describe) == 2
    assert book.asked == [("a",), ("a", "b")]


def test_those_on_a_roll_who_ask_at_once_share_one_request_and_its_failure() -> None:
    names, together = [str(number) for number in range(MANY)], Barrier(MANY)
    roll, asked = rolled(*names), count()

    def refuse(_: tuple[str, ...]) -> dict[str, int]:
        next(asked)
        raise TimeoutError

    def ask(name: str) -> None:
        together.wait()
        with pytest.raises(TimeoutError):
            roll.of(name, refuse)

    with ThreadPoolExecutor(MANY) as pool:
        list(pool.map(ask, names))
    assert next(asked) == 1
