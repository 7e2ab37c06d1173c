"""Rounding up, one by one and all at once; how refusals of numbers read."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.units import check_not_negative, check_positive, whole_replicas, whole_replicas_each

needs = st.floats(-5, 2e6) | st.integers(0, 10**6).map(lambda n: n * (1 + 1e-10)) | st.just(float("inf"))


@given(st.lists(needs, max_size=20))
def test_an_array_is_rounded_up_as_each_of_its_numbers_is(replicas: list[float]) -> None:
    assert whole_replicas_each(np.array(replicas, dtype=np.float64)).tolist() == [whole_replicas(each) for each in replicas]


def test_a_number_without_a_unit_is_refused_without_a_gap() -> None:
    with pytest.raises(ValueError, match=r"^share must be above 0, got -1$"):
        check_positive("share", -1, "")
    with pytest.raises(ValueError, match=r"^share must be at least 0, got -1$"):
        check_not_negative("share", -1, "")
    with pytest.raises(ValueError, match=r"^wait must be above 0 seconds, got -1$"):
        check_positive("wait", -1, "seconds")
