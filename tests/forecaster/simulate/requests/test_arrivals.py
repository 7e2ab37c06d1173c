"""Requests drawn from a load, and recorded ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecaster.simulate.requests.arrivals import Priority, Requests, Share, Spacing, drawn, recorded
from tests.forecaster.simulate.requests.scenes import at, minute_load


@given(counts=st.lists(st.integers(0, 300), min_size=1, max_size=20), seed=st.integers(0, 99), spacing=st.sampled_from(Spacing))
def test_every_minute_gets_exactly_its_requests_in_order(counts: list[int], seed: int, spacing: Spacing) -> None:
    requests = drawn(minute_load(counts), np.random.default_rng(seed), spacing=spacing)
    assert np.bincount((requests.at_s // 60).astype(int), minlength=len(counts)).tolist() == counts
    assert (np.diff(requests.at_s) >= 0).all()


def test_evenly_spaced_requests_fall_one_into_each_part_of_the_minute() -> None:
    requests = drawn(minute_load([120, 60]), np.random.default_rng(1), spacing=Spacing.EVEN)
    assert (requests.at_s[:120] // 0.5).tolist() == list(range(120))
    assert (requests.at_s[120:] // 1.0).tolist() == list(range(60, 120))


def test_the_same_generator_draws_the_same_requests() -> None:
    one, same, other = (drawn(minute_load([50, 70]), np.random.default_rng(seed)) for seed in (5, 5, 6))
    assert one.at_s.tolist() == same.at_s.tolist() != other.at_s.tolist()


def test_senders_share_a_load_by_weight() -> None:
    shares = (Share(tenant="shop", weight=3), Share(tenant="lab", priority=Priority.BULK), Share(tenant="shop", priority=Priority.BULK))
    requests = drawn(minute_load([10_000]), np.random.default_rng(2), shares=shares)
    assert requests.tenants == ("shop", "lab")
    assert (requests.tenant == 0).mean() == pytest.approx(0.8, abs=0.02)
    assert (requests.priority == Priority.BULK).mean() == pytest.approx(0.4, abs=0.02)


@pytest.mark.parametrize("rpm", [[np.nan], [-1.0], [np.inf]])
def test_a_load_that_is_not_known_is_no_load_to_draw_from(rpm: list[float]) -> None:
    with pytest.raises(ValueError, match="finite and at least 0 requests/min in every minute"):
        drawn(minute_load(rpm), np.random.default_rng(0))


RECORDED = """timestamp,input_tokens,output_tokens
2023-11-16T18:15:50.995169Z,396,109
2023-11-16T18:15:46.680590Z,374,44
2023-11-16T18:17:00.000000Z,500,100
"""


def test_recorded_requests_keep_their_instants_in_the_minute_of_the_first_and_weigh_by_their_tokens() -> None:
    requests = recorded(RECORDED.splitlines(), output_weight=2)
    assert requests.at_s.tolist() == pytest.approx([46.68059, 50.995169, 120.0], abs=1e-5)
    assert requests.minutes == 3
    assert requests.work.mean() == pytest.approx(1)
    assert requests.work[2] / requests.work[0] == pytest.approx(700 / 462)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("timestamp,tokens\n", "missing: input_tokens, output_tokens"),
        ("timestamp,input_tokens,output_tokens\n", "no request was recorded"),
        ("timestamp,input_tokens,output_tokens\n2023-11-16T18:15:46Z,many,1\n", "line 2 of the recorded requests cannot be read"),
        ("timestamp,input_tokens,output_tokens\n2023-11-16T18:15:46,1,1\n", "line 2 .* needs a timestamp with a zone"),
        ("timestamp,input_tokens,output_tokens\n2023-11-16T18:15:46Z,5\n", "line 2 of the recorded requests cannot be read"),
    ],
)
def test_a_record_that_cannot_be_read_says_where(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        recorded(text.splitlines())


def test_requests_out_of_order_or_outside_of_their_minutes_are_refused() -> None:
    with pytest.raises(ValueError, match="sort them by arrival"):
        at(2.0, 1.0)
    with pytest.raises(ValueError, match="within the 1 minutes"):
        at(60.0)
    with pytest.raises(ValueError, match="one arrival, work, tenant and priority each"):
        Requests(minutes=1, at_s=np.zeros(2), work=np.ones(1), tenant=np.zeros(2, dtype=int), priority=np.zeros(2, dtype=int))
