"""The simpler rules that a budget is held against give out what they say they do."""

from collections.abc import Sequence

import numpy as np
import pytest

from benchmarks.budget import first_come, proportional
from forecaster.budget import Ask
from forecaster.claim import Claim


def asks(*replicas: int) -> Sequence[Ask]:
    return [Ask(claim=Claim(budget="gpus"), replicas=n, minimum=0, worth=np.ones(n)) for n in replicas]


@pytest.mark.parametrize(
    ("gpus", "asked", "gets"),
    [(10, (10, 10), (5, 5)), (11, (10, 10), (6, 5)), (30, (10, 10), (10, 10)), (3, (1, 2, 6), (0, 1, 2)), (0, (4,), (0,))],
)
def test_a_cut_in_proportion_gives_out_all_there_is_and_no_more_than_is_asked_for(
    gpus: int, asked: tuple[int, ...], gets: tuple[int, ...]
) -> None:
    assert tuple(proportional(gpus, asks(*asked))) == gets


def test_who_comes_first_has_all_it_wants() -> None:
    assert tuple(first_come(15, asks(10, 10, 10))) == (10, 5, 0)
