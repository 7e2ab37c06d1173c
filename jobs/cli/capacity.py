"""The commands `capacity import` and `show`: what one replica carries, and what the load is."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jobs.cli.options import AnyWorkload, ConfigFile, Json, Now, Output, OutputFormat

if TYPE_CHECKING:
    from datetime import datetime

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
    Floors follow it from now on where the pool says `capacity: {profile: imported}`; figures that the configuration has win. Files that
    prove nothing (one step, no P95, a sweep that never broke the SLO, mixed-up units) are refused with a sentence, and nothing is kept.

    Example: forecaster capacity import results/ --workload chat --slo ttft_p95=1s,e2e_p95=10s
    """
    from dataclasses import replace

    from jobs.capacity.importing import import_profile, pool_of, told
    from jobs.capacity.known import with_capacities
    from jobs.capacity.overview import overview
    from jobs.cli.session import author, session
    from jobs.cli.show import say, show

    with session(config, now) as at:
        member = at.member(workload)
        chosen = pool_of(member, pool)
        import_profile(at.fleet.store, member, chosen, files, told=told(slo, setup, author(None)), now=at.now)
        fresh = with_capacities(replace(at.fleet, members=(member,)), at.now).members
        (row,) = [each for each in overview(at.fleet.store, fresh, at.now) if each.pool == chosen]
        show(_capacities([row], at.now), Output.TABLE)
        for sentence in (*_notes(row), _from_now_on(row, {each.name for each in member.variants}, is_asked=chosen in member.imported)):
            say(sentence)


def show_(
    workload: AnyWorkload = None,
    load: Loads = False,
    config: ConfigFile = None,
    now: Now = None,
    output: OutputFormat = Output.TABLE,
    json: Json = False,
) -> None:
    """What one replica of each pool carries: by signal, from where, how old, how far to believe it, and whether rate or memory binds.

    With --load what the load is: requests a minute and a second, the largest minute, streams, tokens and latencies, over 15 minutes, an
    hour and a day. What is not known is empty, never zero.

    Example: forecaster capacity show chat --load
    """
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
        rows = list(overview(at.fleet.store, members, at.now))
    show(_capacities(rows, at.now), output)
    if output is Output.TABLE:
        for row in rows:
            for note in _notes(row):
                say(f"{row.workload}/{row.pool}: {note}")


def _capacities(rows: "list[PoolCapacity]", now: "datetime") -> "Table":
    from jobs.cli.show import Table

    keys: tuple[str, ...] = ("workload", "pool", "rpm", "concurrency", "tokens_per_s", "source", "measured_at", "confidence", "binds")
    keys += ("stale", "memory_in_flight", "imported_rpm", "contradiction")
    names: tuple[str, ...] = ("workload", "pool", "rpm", "in flight", "tokens/s", "source", "age", "confidence", "binds")
    names += ("stale", "fit in memory", "imported rpm", "contradiction")
    cells = tuple(_cells(row, now) for row in rows)
    return Table(title="What one replica carries", columns=names, keys=keys, rows=cells, empty="there is no workload", named_by=2)


def _cells(row: "PoolCapacity", now: "datetime") -> tuple[object, ...]:
    from forecaster.units import DAY_S
    from jobs.cli.show import Cell, amount

    found, at = row.carried, row.in_use.measured_at
    age = None if at is None else Cell(value=at, words=f"{(now - at).total_seconds() / DAY_S:,.0f} d")
    return (
        row.workload,
        row.pool,
        *(amount(value) for value in (row.in_use.rpm, row.in_use.concurrency, row.in_use.tokens)),
        None if row.origin is None else row.in_use.source,
        age,
        None if row.confidence is None else str(row.confidence),
        None if found is None else str(found.binds),
        None if row.profile is None else "; ".join(row.profile.stale) or "no",
        amount(None if found is None else found.memory_in_flight),
        amount(None if found is None else found.capacity.rpm),
        row.contradiction or None,
    )


def _notes(row: "PoolCapacity") -> list[str]:
    """What a person should know of a pool's figures beside them."""
    if row.profile is None:
        return [] if row.origin is not None else ["no capacity: set one, or import a load test with `forecaster capacity import`"]
    found, notes = row.carried, []
    if found is not None:
        broke = f"; the next step, {found.beyond.load_rpm:,.0f} rpm, broke: {found.broke}" if found.beyond is not None else ""
        notes.append(f"within {row.profile.entry.slo.told}{broke}")
        unknown = f" (memory: {found.memory_unknown})" if found.memory_unknown else ""
        notes.append(f"{found.binds.advice}{unknown}")
    notes += [f"confidence {row.profile.confidence}: {doubt}" for doubt in row.profile.doubts]
    return notes + ([f"the configured figures hold, and the profile contradicts them: {row.contradiction}"] if row.contradiction else [])


def _from_now_on(row: "PoolCapacity", variants: "set[str]", *, is_asked: bool) -> str:
    if row.pool in variants:
        return f"kept: `forecaster capacity compare {row.workload}` plans tomorrow with it"
    if is_asked:
        return f"kept: floors of {row.workload}/{row.pool} follow it from the next plan on; `forecaster plan` makes one now"
    return f"kept, and not in use: {row.workload}/{row.pool} has figures of its own; write `capacity: {{profile: imported}}` to follow it"
