"""How the benchmark measures what correction gains."""

import numpy as np
import pytest

from benchmarks.correction import Rolled
from forecaster.gains import Gains
from forecaster.units import DAY_S

STEP_S = 600
PER_DAY = DAY_S // STEP_S
ALL_OF_IT = Gains(leads_s=(0, 600, 1_200), short=(1.0, 1.0, 0.0), long=(0.0, 0.0, 0.0))


def rolled(load: np.ndarray, *gains: Gains | None) -> Rolled:
    """One young day, then one day a gain, all forecast at 100."""
    return Rolled(step_s=STEP_S, load=load, median=np.full(load.size, 100.0), offset=0.0, young=1, gains=gains)


def test_a_deviation_that_stays_is_cut_to_nothing_as_far_as_the_gains_reach() -> None:
    steady = rolled(np.full(2 * PER_DAY, 130.0), ALL_OF_IT)
    assert steady.cut(600) == pytest.approx(1)
    assert steady.cut(1_200) == pytest.approx(1)
    assert steady.cut(1_800) == pytest.approx(0)


def test_without_gains_nothing_is_cut() -> None:
    assert rolled(np.full(2 * PER_DAY, 130.0), None).cut(600) == 0


def test_a_deviation_that_turns_over_every_bucket_is_made_worse_and_said_so() -> None:
    swing = rolled(np.where(np.arange(2 * PER_DAY) % 2, 150.0, 60.0), ALL_OF_IT)
    assert (swing.cut(600) or 0) < -0.5


def test_a_lead_at_which_no_bucket_ends_is_not_measured() -> None:
    assert rolled(np.full(2 * PER_DAY, 130.0), ALL_OF_IT).cut(900) is None


def test_days_that_only_teach_and_buckets_that_were_not_measured_do_not_count() -> None:
    load = np.full(2 * PER_DAY, 130.0)
    odd = load.copy()
    odd[: PER_DAY - 12] = 900.0
    odd[-1] = np.nan
    assert rolled(odd, ALL_OF_IT).cut(600) == pytest.approx(1)
    assert rolled(np.full(2 * PER_DAY, np.nan), ALL_OF_IT).cut(600) is None
