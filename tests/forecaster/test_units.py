"""Rounding up, one by one and all at once."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from forecaster.units import whole_replicas, whole_replicas_each

needs = st.floats(-5, 2e6) | st.integers(0, 10**6).map(lambda n: n * (1 + 1e-10)) | st.just(float("inf"))


@given(st.lists(needs, max_size=20))
def test_an_array_is_rounded_up_as_each_of_its_numbers_is(replicas: list[float]) -> None:
    assert whole_replicas_each(np.array(replicas, dtype=np.float64)).tolist() == [whole_replicas(each) for each in replicas]
