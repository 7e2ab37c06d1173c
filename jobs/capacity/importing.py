"""Results of load tests into the store: read, judged at the SLO, and kept only where they prove a capacity."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path

from connectors.loadtests.registry import read_profile
from connectors.loadtests.result_file import Mix
from forecaster.errors import ConfigRejected, LoadTestRejected
from forecaster.ports import Store
from forecaster.profile import Profile, ProfileEntry, Setup, Slo
from forecaster.units import check_positive
from jobs.capacity.known import Known, known, newest_of
from jobs.fleet import Member

_LIMITS = ("ttft_p95", "tpot_p95", "e2e_p95")
_TEXTS = ("engine", "engine_version", "model", "precision", "hardware")
_WHOLE = ("tensor_parallelism", "max_batch")
_NUMBERS = ("kv_tokens", "shared_prefix_tokens", "input_tokens", "output_tokens")
_SPAN = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m)")
_BARE = re.compile(r"\d+(?:\.\d+)?")
_UNITS_S = {"ms": 1e-3, "s": 1.0, "m": 60.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a person says beside the files: the SLO, None = that of the pool's last profile; the setup; a typical request; who it is."""

    slo: Slo | None
    setup: Setup
    mix: Mix | None
    author: str


def import_profile(store: Store, member: Member, pool: str, files: Sequence[Path], *, told: Told, now: datetime) -> Known:
    """Keep what the files come to as the pool's profile from `now` on.

    What neither the files nor the person tell of the setup is taken from the pool's `serving`. Raises LoadTestRejected, and keeps nothing,
    where the files cannot be read, or prove no capacity within the SLO; ConfigRejected where there is no SLO, or --setup contradicts them.
    """
    profile = read_profile(files, told.mix)
    apart = profile.setup.changed(told.setup)
    if apart:
        raise ConfigRejected(f"--setup says otherwise than the files ({'; '.join(apart)}): correct the one, or leave it out")
    slo = told.slo or profile.proven or slo_of(store, member, pool, now)
    return keep_profile(store, member, pool, replace(profile, setup=told.setup.filled(profile.setup)), slo=slo, author=told.author, now=now)


def slo_of(store: Store, member: Member, pool: str, now: datetime) -> Slo:
    """The SLO of the pool's newest profile. Raises ConfigRejected where there is none yet."""
    key = (member.workload.name, pool)
    before = newest_of(store, [key], now).get(key)
    if before is None:
        raise ConfigRejected("a capacity is that within an SLO: say what P95 must keep, such as --slo ttft_p95=1s,e2e_p95=10s")
    return before.slo


def keep_profile(store: Store, member: Member, pool: str, profile: Profile, *, slo: Slo, author: str, now: datetime) -> Known:
    """Keep a profile as the pool's from `now` on; what it does not tell of the setup is taken from the pool's `serving`.

    Raises LoadTestRejected, and keeps nothing, where it proves no capacity within the SLO.
    """
    serving = serving_of(member, pool)
    entry = ProfileEntry(at=now, author=author, profile=replace(profile, setup=profile.setup.filled(serving)), slo=slo)
    found = known(entry, serving, now)
    if isinstance(found.found, str):
        raise LoadTestRejected(f"{profile.source}: {found.found}; nothing was kept")
    store.append_profiles([(member.workload.name, pool, entry)])
    return found


def pool_of(member: Member, name: str | None) -> str:
    """The pool or variant of that name, or the only pool. Raises ConfigRejected naming those there are."""
    pools = [pool.name for pool in member.workload.pools]
    names = [*pools, *(variant.name for variant in member.variants)]
    if name is None and len(pools) == 1:
        return pools[0]
    if name in names:
        return name
    said = "say which with --pool" if name is None else f"there is no pool {name!r}"
    raise ConfigRejected(f"{said}; {member.workload.name} has: {', '.join(names)}")


def serving_of(member: Member, pool: str) -> Setup:
    """What a pool, or a variant, serves with."""
    of_variant = {variant.name: variant.serving for variant in member.variants}
    return of_variant[pool] if pool in of_variant else member.servings.get(pool, Setup())


def told(slo: str | None, setup: str | None, author: str) -> Told:
    """What `--slo` and `--setup` say. Raises ConfigRejected naming the part that is wrong."""
    limits = {name: _seconds(name, value) for name, value in _pairs("--slo", slo, _LIMITS)}
    said = dict(_pairs("--setup", setup, (*_TEXTS, *_WHOLE, *_NUMBERS)))
    numbers = {name: _number(name, said[name]) for name in (*_WHOLE, *_NUMBERS) if name in said}
    try:
        return Told(
            slo=Slo(**{f"{name}_s": limit_s for name, limit_s in limits.items()}) if limits else None,
            setup=Setup(
                **{name: said[name] for name in _TEXTS if name in said},
                tensor_parallelism=_whole("tensor_parallelism", numbers),
                max_batch=_whole("max_batch", numbers),
                kv_tokens=numbers.get("kv_tokens"),
                shared_prefix_tokens=numbers.get("shared_prefix_tokens"),
            ),
            mix=_mix(numbers),
            author=author,
        )
    except ValueError as error:
        raise ConfigRejected(str(error)) from error


def _pairs(option: str, text: str | None, known_names: Sequence[str]) -> list[tuple[str, str]]:
    """`a=1,b=2` as pairs."""
    if text is None:
        return []
    pairs: list[tuple[str, str]] = []
    for part in text.split(","):
        name, found, value = (each.strip() for each in part.partition("="))
        if not found or not value:
            raise ConfigRejected(f"{option} is written NAME=VALUE,NAME=VALUE, got {part.strip()!r}")
        if name not in known_names:
            close = get_close_matches(name, known_names, n=1)
            meant = f"; did you mean {close[0]}?" if close else f"; known are {', '.join(known_names)}"
            raise ConfigRejected(f"{option} knows no {name!r}{meant}")
        if name in dict(pairs):
            raise ConfigRejected(f"{option} says {name} twice")
        pairs.append((name, value))
    return pairs


def _seconds(name: str, text: str) -> float:
    found = _SPAN.fullmatch(text)
    if found is None:
        wrong = "needs a unit, such as" if _BARE.fullmatch(text) else "is a time such as"
        raise ConfigRejected(f"{name} {wrong} 500ms or 1.5s, got {text!r}")
    return float(found[1]) * _UNITS_S[found[2]]


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise ConfigRejected(f"{name} must be a number, got {text!r}") from error


def _whole(name: str, numbers: dict[str, float]) -> int | None:
    if name in numbers and not numbers[name].is_integer():
        raise ConfigRejected(f"{name} must be a whole number, got {numbers[name]:g}")
    return int(numbers[name]) if name in numbers else None


def _mix(numbers: dict[str, float]) -> Mix | None:
    """Both lengths or none."""
    lengths = [numbers.get(name) for name in ("input_tokens", "output_tokens")]
    match lengths:
        case [float(sent), float(generated)]:
            check_positive("input_tokens", sent, "")
            check_positive("output_tokens", generated, "")
            return Mix(input_tokens=sent, output_tokens=generated)
        case [None, None]:
            return None
        case _:
            raise ConfigRejected("a typical request has both: input_tokens=N,output_tokens=N")
