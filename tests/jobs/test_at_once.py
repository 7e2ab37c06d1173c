"""Work that waits for others, done by several threads."""

from collections.abc import Iterator
from threading import Barrier

import pytest

from jobs.at_once import at_once


def test_results_come_in_the_order_of_the_items() -> None:
    assert at_once(str, iter(range(100)), 4) == tuple(map(str, range(100)))
    assert at_once(str, [], 4) == ()


def test_several_are_worked_on_at_a_time() -> None:
    together = Barrier(3, timeout=10)
    assert len(at_once(lambda _: together.wait(), range(3), 3)) == 3


def test_no_item_is_taken_before_a_thread_has_time_for_it() -> None:
    taken = []

    def items() -> Iterator[int]:
        for number in range(9):
            taken.append(number)
            yield number

    assert at_once(lambda number: len(taken) - number, items(), 1) == (1,) * 9


def test_what_the_work_raises_is_raised_and_nothing_more_is_taken() -> None:
    done = []

    def work(number: int) -> None:
        done.append(number)
        raise KeyError(number)

    with pytest.raises(KeyError, match="0"):
        at_once(work, range(9), 1)
    assert done == [0]


def test_what_the_taking_raises_is_raised() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise OSError

    with pytest.raises(OSError):  # noqa: PT011  a bare one
        at_once(str, items(), 2)
