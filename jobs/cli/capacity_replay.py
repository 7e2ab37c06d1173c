"""The command `capacity replay`: what one replica carries, by driving it with a request log at rising rates."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jobs.cli.capacity import PoolName, SloText, Workload
from jobs.cli.options import ConfigFile, Output

if TYPE_CHECKING:
    from forecaster.profile import Point, Profile, Slo
    from jobs.capacity.known import Known
    from jobs.capacity.replaying import Step
    from jobs.cli.show import Table

Url = Annotated[
    str,
    typer.Option(
        "--endpoint", metavar="URL", help="One replica's OpenAI-compatible address; $OPENAI_API_KEY is its key where it needs one."
    ),
]
Log = Annotated[
    Path,
    typer.Option("--trace", metavar="REQUESTS", help="A request log: CSV, plain or .gz, of timestamp,input_tokens,output_tokens."),
]
_KEY = "OPENAI_API_KEY"
_INTERRUPTED = 130


def replay(endpoint: Url, trace: Log, workload: Workload, pool: PoolName = None, slo: SloText = None, config: ConfigFile = None) -> None:
    """Measure what one replica carries: a request log at rising rates against it, to the largest load whose P95 keeps the SLO.

    AIPerf sends the requests: install it with `pipx install aiperf`. Rates double until one breaks the SLO, then halve the way between;
    each step is told as it ends. Section `replay` of the configuration says where it begins and how long a step takes. The pool's `serving`
    says what is measured. What was found is kept as the pool's profile; when it is interrupted, nothing is.

    Example: forecaster capacity replay --endpoint http://replica:8000 --trace requests.csv.gz --workload chat --slo ttft_p95=1s
    """
    import signal

    from jobs.cli.show import say, show

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # whoever ends us in whatever way ends the load as well
    try:
        profile, limits, kept, notes = _replayed(endpoint, trace, workload, pool, slo, config)
    except KeyboardInterrupt:
        say("interrupted: nothing was kept")
        raise typer.Exit(_INTERRUPTED) from None
    show(_steps(profile, limits), Output.TABLE)
    for sentence in (*notes, _found(kept, limits), f"kept: `forecaster capacity show {workload}` says whether floors follow it"):
        say(sentence)


def _replayed(
    endpoint: str, trace: Path, workload: str, pool: str | None, slo: str | None, config: Path | None
) -> "tuple[Profile, Slo, Known, tuple[str, ...]]":
    """The sweep, kept; and what there is to say of its lengths."""
    import os

    import numpy as np

    from connectors.loadgen.aiperf import AiPerf, found
    from connectors.loadgen.csv_log import read_request_log
    from connectors.loadgen.endpoint import first_answer
    from jobs.capacity.importing import keep_profile, pool_of, serving_of, slo_of, told
    from jobs.capacity.replaying import Replay, mix_notes
    from jobs.cli.session import author, session
    from jobs.cli.show import say
    from jobs.config.scalars import spell_duration

    with session(config) as at:
        member = at.member(workload)
        chosen = pool_of(member, pool)
        limits = told(slo, None, author(None)).slo or slo_of(at.fleet.store, member, chosen, at.now)
        log, section = read_request_log(trace), at.config.replay
        generator = AiPerf(program=found(section.command), rng=np.random.default_rng())
        model = serving_of(member, chosen).model
        served = first_answer(endpoint, model=model, key=os.environ.get(_KEY) or None, key_variable=_KEY)
        what = f"replaying {trace.name} against {served.url}, model {served.model}, within {limits.told}"
        say(f"{what}; each step takes {spell_duration(section.step)} or more")
        if model not in {None, served.model}:
            say(f"the endpoint has one model, {served.model}, which is taken for `serving.model` of the pool, {model}")
        sweep = Replay(
            name=trace.name, log=log, model=model or served.model, served=served, generator=generator, slo=limits, section=section
        )
        profile = sweep.swept(at.now, lambda step: say(_line(step, limits)))
        kept = keep_profile(at.fleet.store, member, chosen, profile, slo=limits, author=author(None), now=at.now)
        return profile, limits, kept, () if isinstance(kept.found, str) else mix_notes(log, kept.found.knee)


def _line(step: "Step", slo: "Slo") -> str:
    """A step in one line, each figure under that of the step before."""
    from forecaster.units import spell_number

    point = step.point
    latencies = "  ".join(f"P95 {name.upper()} {_p95(point, name):>7.3f} s" for name, _ in slo.limits)
    errors = f"errors {point.error_ratio or 0:>6.1%}"
    rates = f"{spell_number(point.load_rpm):>7} rpm  served {spell_number(point.achieved_rpm):>7}"
    return f"step {step.number:>2}  {rates}  {latencies}  {errors}  {f'breaks: {step.broke}' if step.broke else 'holds'}"


def _p95(point: "Point", name: str) -> float:
    p95_s: float = getattr(point, name).p95_s
    return p95_s


def _found(kept: "Known", slo: "Slo") -> str:
    from forecaster.profile_carried import Carried
    from forecaster.units import spell_number

    carried = kept.found
    assert isinstance(carried, Carried)  # noqa: S101 - others are not kept
    beyond = f"; {spell_number(carried.beyond.load_rpm)} rpm broke: {carried.broke}" if carried.beyond is not None else ""
    return f"one replica carries {spell_number(carried.capacity.rpm or 0)} rpm within {slo.told}{beyond}; {carried.binds.advice}"


def _steps(profile: "Profile", slo: "Slo") -> "Table":
    from forecaster.profile_carried import outside
    from jobs.cli.show import Table, amount, percent

    limits = [name for name, _ in slo.limits]
    keys = ("offered_rpm", "achieved_rpm", *(f"{name}_p95_s" for name in limits), "error_ratio", "input_tokens", "output_tokens", "broke")
    names = ("rpm", "served", *(f"P95 {name.upper()} s" for name in limits), "errors", "tokens in", "tokens out", "breaks")
    rows = tuple(
        (
            amount(point.load_rpm),
            amount(point.achieved_rpm),
            *(amount(_p95(point, name)) for name in limits),
            percent(point.error_ratio),
            amount(point.input_tokens),
            amount(point.output_tokens),
            outside(point, slo) or None,
        )
        for point in sorted(profile.points, key=lambda point: point.load_rpm)
    )
    return Table(title=f"Load steps of the {profile.source}", columns=names, keys=keys, rows=rows)
