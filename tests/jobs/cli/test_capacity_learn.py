"""capacity learn, and a drift as capacity show tells it, as people type them."""

import json
from pathlib import Path

import pytest

from forecaster.units import iso
from jobs.capacity.drifting import look_for_drift
from tests.jobs.capacity.production import NOW, Production
from tests.jobs.cli.process import Ended, forecaster

SLO = ("--slo", "e2e_p95=10s")


def learn(folder: Path, *arguments: str) -> Ended:
    return forecaster(folder, "capacity", "learn", "chat", *arguments, "--now", iso(NOW))


@pytest.fixture
def production(tmp_path: Path) -> Production:
    """Two weeks that are in the store already."""
    made = Production(folder=tmp_path)
    with made.fleet():
        return made


def test_the_bins_and_the_outcome_are_shown_and_kept_on_demand(production: Production, tmp_path: Path) -> None:
    with production.served():
        done = learn(tmp_path, *SLO, "--keep")
        assert done.code == 0, done.err
        assert "P95 against load a replica" in done.out
        assert "chat/gpu: a replica carries 5" in done.err
        assert "chat/gpu: kept" in done.err
        shown = forecaster(tmp_path, "capacity", "show", "chat", "--json", "--now", iso(NOW))
        (row,) = json.loads(shown.out)
        assert (row["origin"], row["in_use"], row["confidence"]) == ("production", True, "medium")
        assert 0.95 * 600 <= row["rpm"] <= 600


def test_for_programs_every_bin_is_a_row(production: Production, tmp_path: Path) -> None:
    with production.served():
        rows = json.loads(learn(tmp_path, *SLO, "--json").out)
        assert rows[0]["inside"]
        assert not rows[-1]["inside"]
        assert sum(row["buckets"] for row in rows) == 14 * 288
        assert [row["e2e_p95_s"] for row in rows] == sorted(row["e2e_p95_s"] for row in rows)


def test_what_is_not_identified_is_said_and_nothing_is_kept(production: Production, tmp_path: Path) -> None:
    with production.served():
        done = learn(tmp_path, "--slo", "e2e_p95=1m", "--days", "3", "--keep")
        assert done.code == 1
        assert "chat/gpu: not identified: P95 never broke P95 E2E 60 s: at least 8" in done.err
        assert "chat/gpu: nothing was kept" in done.err


def test_a_drift_is_shown_beside_the_profile_it_contradicts(production: Production, tmp_path: Path) -> None:
    with production.served():
        assert learn(tmp_path, *SLO, "--keep").code == 0
    production.slow = 2.0
    with production.fleet() as at:
        assert look_for_drift(at, NOW)[0]
    with production.served():
        done = forecaster(tmp_path, "capacity", "show", "chat", "--now", iso(NOW))
        assert "P95 2x" in done.out
        assert "chat/gpu: drift since 2026-03-16T07:30:00Z: production serves worse than its profile" in done.err
        (row,) = json.loads(forecaster(tmp_path, "capacity", "show", "chat", "--json", "--now", iso(NOW)).out)
        assert row["drift"].startswith("drift since")
