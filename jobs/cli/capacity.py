"""The commands `capacity import` and `show`: what one replica carries, and what the load is."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jobs.cli.options import AnyWorkload, ConfigFile, Json, Now, Output, OutputFormat

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from forecaster.profile import Origin
    from forecaster.profile_best import Source
    from jobs.capacity.drifting import Drifted, Drifts
    from jobs.capacity.overview import PoolCapacity
    from jobs.cli.show import Table

Files = Annotated[list[Path], typer.Argument(metavar="FILE...", help="Results of one load test: files, or folders of them.")]
Workload = Annotated[str, typer.Option("--workload", "-w", metavar="NAME", help="Whose replicas were measured.")]
PoolName = Annotated[str | None, typer.Option("--pool", metavar="NAME", help="Which of its pools. Default: the only one.")]
SloText = Annotated[
    str | None,
    typer.Option(
        "--slo", metavar="LIMITS", help="What P95 must keep, such as ttft_p95=1s,tpot_p95=50ms,e2e_p95=10s. Default: as the last time."
    ),
]
SetupText = Annotated[
    str | None,
    typer.Option(
        "--setup",
        metavar="NAME=VALUE,...",
        help="What was measured where the files do not say: engine, engine_version, model, precision, tensor_parallelism, max_batch, "
        "hardware, kv_tokens, shared_prefix_tokens; input_tokens and output_tokens of a request for a grid. Default: the pool's `serving`.",
    ),
]
Loads = Annotated[bool, typer.Option("--load", help="Show what the load is instead: rates, streams, tokens and latencies by window.")]


def import_(
    files: Files,
    workload: Workload,
    pool: PoolName = None,
    slo: SloText = None,
    setup: SetupText = None,
    config: ConfigFile = None,
    now: Now = None,
) -> None:
    """Keep what a load test says that one replica carries: the largest load whose P95 keeps the SLO.

    It reads results of vLLM bench serve (--save-result, one file a rate), GuideLLM, AIPerf, inference-perf, LLMPerf, and AIBrix profiles.
    Floors follow it from now on where the pool says `capacity: {profile: best}` and nothing better is known, or `profile: imported`;
    figures that the configuration has win. Files that prove nothing (one step, no P95, a sweep that never broke the SLO, mixed-up units)
    are refused with a sentence, and nothing is kept.

    Example: forecaster capacity import results/ --workload chat --slo ttft_p95=1s,e2e_p95=10s
    """
    from jobs.capacity.importing import import_profile, pool_of, told
    from jobs.capacity.overview import overview
    from jobs.cli.session import author, session
    from jobs.cli.show import say, show

    with session(config, now) as at:
        member = at.member(workload)
        chosen = pool_of(member, pool)
        kept = import_profile(at.fleet.store, member, chosen, files, told=told(slo, setup, author(None)), now=at.now)
        (row,) = [each for each in overview(at.fleet.store, (member,), at.now) if each.pool == chosen]
        show(_capacities([row], at.now, {}), Output.TABLE)
        for sentence in (*_notes(row), _from_now_on(row, {each.name for each in member.variants}, kept.source.origin)):
            say(sentence)


def show_(
    workload: AnyWorkload = None,
    load: Loads = False,
    config: ConfigFile = None,
    now: Now = None,
    output: OutputFormat = Output.TABLE,
    json: Json = False,
) -> None:
    """What one replica of each pool carries by each source that is known: how old it is, how far to believe it, and what binds.

    The source in use comes first; each other one says why it is not. Configured figures win; else the pool says `profile` or `estimate`.

    With --load what the load is: requests a minute and a second, the largest minute, streams, tokens and latencies, over 15 minutes, an
    hour and a day. What is not known is empty, never zero.

    Example: forecaster capacity show chat --load
    """
    from jobs.capacity.drifting import drifts
    from jobs.capacity.loads import loads
    from jobs.capacity.overview import overview
    from jobs.cli.capacity_load import load_table
    from jobs.cli.session import session
    from jobs.cli.show import say, show

    output = Output.JSON if json else output
    with session(config, now) as at:
        members = at.members(workload)
        if load:
            show(load_table([row for member in members for row in loads(at.fleet.store, member, at.now)]), output)
            return
        rows, found = list(overview(at.fleet.store, members, at.now)), drifts(at.fleet.store, at.now)
    show(_capacities(rows, at.now, found), output)
    if output is Output.TABLE:
        for row in rows:
            for note in (*_notes(row), *(each.words for key, each in found.items() if key == (row.workload, row.pool))):
                say(f"{row.workload}/{row.pool}: {note}")


def _capacities(rows: "list[PoolCapacity]", now: "datetime", found: "Drifts") -> "Table":
    """One row for each source of a pool, the one in use first; a pool of which nothing is known has one that says so."""
    from jobs.cli.show import Table

    keys: tuple[str, ...] = ("workload", "pool", "origin", "in_use", "rpm", "concurrency", "tokens_per_s", "measured_at", "confidence")
    keys += ("binds", "memory_in_flight", "stale", "source", "why_not", "drift")
    names: tuple[str, ...] = ("workload", "pool", "origin", "in use", "rpm", "in flight", "tokens/s", "age", "confidence")
    names += ("binds", "fit in memory", "stale", "source", "why not", "drift")
    cells = tuple(cell for row in rows for cell in _cells(row, now, found.get((row.workload, row.pool))))
    return Table(title="What one replica carries", columns=names, keys=keys, rows=cells, empty="there is no workload", named_by=3)


def _cells(row: "PoolCapacity", now: "datetime", found: "Drifted | None") -> "Iterator[tuple[object, ...]]":
    from forecaster.profile import Origin
    from jobs.cli.show import Cell, amount

    drift = None if found is None else Cell(value=found.words, words=f"P95 {found.ratio:.2g}x")
    nothing = (None,) * 9
    if not row.sources:
        yield (row.workload, row.pool, None, False, *nothing, row.missing, None)
    for source, why in row.sources:
        capacity, carries = source.capacity, source.carried
        figures = (None, None, None) if capacity is None else (capacity.rpm, capacity.concurrency, capacity.tokens)
        yield (
            row.workload,
            row.pool,
            Cell(value=str(source.origin), words="load test") if source.origin is Origin.FILE else str(source.origin),
            source is row.used,
            *(amount(value) for value in figures),
            _age(source, now),
            None if source.confidence is None else str(source.confidence),
            None if carries is None else str(carries.binds),
            amount(None if carries is None else carries.memory_in_flight),
            Cell(value="; ".join(source.stale), words="yes") if source.stale else None,
            None if capacity is None else capacity.source,
            why or None,
            drift if source is row.used else None,
        )


def _age(source: "Source", now: "datetime") -> object:
    """Since it was measured, by a file without a zone to the day; None where nobody tells when that was."""
    from forecaster.units import DAY_S
    from jobs.cli.show import Cell

    at = None if source.capacity is None else source.capacity.measured_at
    if at is None:
        return None
    days = round((now - at).total_seconds() / DAY_S)
    return Cell(value=at, words=f"{days:,} d" if days >= 0 else "to come")


def _notes(row: "PoolCapacity") -> "Iterator[str]":
    """What a person should know of a pool's figures beside them: of what is in use, else of the best that could be."""
    if row.missing:
        yield f"no capacity: {row.missing}"
    told = next((source for source, _ in row.sources if source.carried is not None), None)
    found = None if told is None else told.carried
    if told is not None and found is not None:
        whose = "" if told is row.used else f"{told.name}: "
        broke = f"; the next step, {found.beyond.load_rpm:,.0f} rpm, broke: {found.broke}" if found.beyond is not None else ""
        if told.slo:
            yield f"{whose}within {told.slo}{broke}"
        unknown = f" (memory: {found.memory_unknown})" if found.memory_unknown else ""
        yield f"{whose}{found.binds.advice}{unknown}"
        if told.doubts:
            yield f"{whose}confidence {told.confidence}: {'; '.join(told.doubts)}"
    yield from (f"{source.name} is stale: {'; '.join(source.stale)}" for source, _ in row.choice.beside if source.stale)
    if row.contradiction:
        yield f"the configured figures hold, and the profile contradicts them: {row.contradiction}"


def _from_now_on(row: "PoolCapacity", variants: "set[str]", origin: "Origin") -> str:
    """What comes of an import."""
    if row.pool in variants:
        return f"kept: `forecaster capacity compare {row.workload}` plans tomorrow with it"
    if row.used is not None and row.used.origin is origin:
        return f"kept: floors of {row.workload}/{row.pool} follow it from the next plan on; `forecaster plan` makes one now"
    why = next((why for source, why in row.choice.beside if source.origin is origin), "")
    return f"kept, and not in use by {row.workload}/{row.pool}: {why}"
