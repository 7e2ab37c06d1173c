"""One chunk after the other."""

from collections.abc import Iterator

import pytest

from connectors.executors.serial import SerialExecutor


def test_results_come_in_the_order_of_the_chunks() -> None:
    assert list(SerialExecutor().map(sum, [(1, 2), (3,), ()])) == [3, 3, 0]


def test_a_function_that_raises_raises_at_its_chunk_and_the_results_before_it_stand() -> None:
    results = SerialExecutor().map(lambda chunk: 1 // chunk, [1, 0, 1])
    assert next(results) == 1
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_a_chunk_is_taken_when_its_result_is_asked_for() -> None:
    taken = []

    def chunks() -> Iterator[int]:
        for chunk in range(3):
            taken.append(chunk)
            yield chunk

    results = SerialExecutor().map(str, chunks())
    assert next(results) == "0"
    assert taken == [0]
