"""What every store promises of profiles."""

import pytest

from forecaster.keep import Keep
from forecaster.ports import Store
from forecaster.profile import Origin, ProfileEntry, Slo
from forecaster.units import DAY_S, HOUR_S
from tests.contracts.store import NOW, Broken, Interrupted, after, span
from tests.profiles import entry, point, profile

pytest_plugins = ("tests.postgres", "tests.contracts.store_fixtures")

CHAT, EMBED = ("chat", "h100"), ("embed", "h100")
EVER = span(-1000 * DAY_S, DAY_S)


def taught(at_s: float) -> ProfileEntry:
    """One that production taught."""
    return entry(after(at_s), profile([point(100, errors=None)], origin=Origin.PRODUCTION, measured_at=None), Slo(tpot_p95_s=0.1))


def test_the_newest_profile_of_each_origin_is_read_as_it_was_given(any_store: Store) -> None:
    older, old, new = entry(after(-2 * DAY_S)), entry(after(-DAY_S)), taught(-60.000001)
    any_store.append_profiles([(*CHAT, new), (*CHAT, old), (*CHAT, older), (*CHAT, taught(-3 * DAY_S)), (*EMBED, old)])
    assert any_store.newest_profiles_of([CHAT, EMBED, ("chat", "l4")], EVER) == {CHAT: (old, new), EMBED: (old,)}
    assert any_store.newest_profiles_of([], EVER) == {}


def test_a_window_of_profiles_speaks_of_when_they_were_given_and_is_half_open(any_store: Store) -> None:
    entries = [entry(after(60 * i)) for i in range(3)]
    any_store.append_profiles([(*CHAT, each) for each in entries])
    assert any_store.newest_profiles_of([CHAT], span(0, 120)) == {CHAT: (entries[1],)}


def test_a_profile_given_again_at_one_instant_is_the_last_word_of_it(any_store: Store) -> None:
    first, last = entry(after(0)), entry(after(0), slo=Slo(e2e_p95_s=3))
    for each in (first, last, last):
        any_store.append_profiles([(*CHAT, each)])
    assert any_store.newest_profiles_of([CHAT], EVER) == {CHAT: (last,)}


def test_profiles_are_kept_together_all_or_none(any_store: Store) -> None:
    with pytest.raises(Interrupted):
        any_store.append_profiles(Broken((*CHAT, entry(after(0)))))
    assert any_store.newest_profiles_of([CHAT], EVER) == {}


def test_profiles_are_never_forgotten_since_people_gave_them(any_store: Store) -> None:
    ancient = entry(after(-900 * DAY_S - HOUR_S))
    any_store.append_profiles([(*CHAT, ancient)])
    assert any_store.prune(Keep(), NOW).total == 0
    assert any_store.newest_profiles_of([CHAT], EVER) == {CHAT: (ancient,)}
