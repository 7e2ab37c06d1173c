"""AIBrix's profile of a GPU (`aibrix_gen_profile`): a grid of the largest rates within its SLO, by output and input tokens.

Rates are a second, latencies in seconds. The grid tells results and no steps, so the tool's own word is taken for the knee.
"""

from collections.abc import Sequence
from typing import Any

from connectors.loadtests.result_file import Mix, ResultFile, finite
from forecaster.profile import Origin, Point, Profile, Slo, Spread
from forecaster.units import MINUTE_S

NAME = "AIBrix profile"
_PERCENTILE = 95


def claims(file: ResultFile) -> bool:
    """Whether a file is of this format."""
    return {"tputs", "indexes"} <= file.data.keys()


def read(files: Sequence[ResultFile], mix: Mix | None) -> Profile:
    """The cell of the token mix: the smallest lengths of the grid that are not below it. Raises LoadTestRejected."""
    file = files[0]
    if len(files) > 1:
        file.reject(f"one grid is one profile, and {len(files)} were given: import one at a time")
    if mix is None:
        file.reject("a grid has a rate for each request length: say yours with --setup input_tokens=N,output_tokens=N")
    outputs, inputs = _axis(file, 0), _axis(file, 1)
    row, column = _reach(file, outputs, mix.output_tokens, "output"), _reach(file, inputs, mix.input_tokens, "input")
    rate_rps = _cell(file, "tputs", row, column)
    if rate_rps == 0:
        file.reject(f"no rate kept its SLO at {inputs[column]:g} input and {outputs[row]:g} output tokens")
    e2e_s = _cell(file, "e2e", row, column) if file.at("e2e") is not None else None
    point = file.step(
        lambda: Point(
            achieved_rpm=rate_rps * MINUTE_S,
            offered_rpm=rate_rps * MINUTE_S,
            e2e=Spread(mean_s=e2e_s),
            error_ratio=0.0,
            input_tokens=inputs[column],
            output_tokens=outputs[row],
        )
    )
    return Profile(
        origin=Origin.FILE,
        source=f"{NAME} {file.name}",
        points=(point,),
        measured_at=file.instant(file.number("created")),
        proven=_slo(file),
    )


def _slo(file: ResultFile) -> Slo:
    percentile = file.number("slos", "percentile")
    if percentile is None or percentile < _PERCENTILE:
        told = "the mean" if not percentile else f"P{percentile:g}"
        file.reject(f"the grid keeps its SLO at {told}, which says nothing of P95: make it with --percentile 99")
    limits = {name: file.number("slos", name) for name in ("ttft", "tpot", "e2e")}
    return file.made(lambda: Slo(ttft_p95_s=limits["ttft"], tpot_p95_s=limits["tpot"], e2e_p95_s=limits["e2e"]))


def _axis(file: ResultFile, number: int) -> list[float]:
    indexes = file.at("indexes")
    told = indexes[number] if isinstance(indexes, list) and len(indexes) > number else None
    axis = [length for each in told if (length := finite(each)) is not None and length > 0] if isinstance(told, list) else []
    if not axis or not isinstance(told, list) or len(axis) < len(told):
        file.reject("indexes must be two lists of token lengths, those of outputs first")
    if axis != sorted(axis):
        file.reject("indexes must rise")
    return axis


def _reach(file: ResultFile, axis: list[float], tokens: float, what: str) -> int:
    found = next((i for i, length in enumerate(axis) if length >= tokens), None)
    if found is None:
        file.reject(f"the grid ends at {axis[-1]:g} {what} tokens, below {tokens:g}: make it for longer requests")
    return found


def _cell(file: ResultFile, name: str, row: int, column: int) -> float:
    rows: Any = file.at(name)
    try:
        value = finite(rows[row][column])  # whatever is no grid raises
    except (TypeError, IndexError, KeyError):
        value = None
    if value is None or value < 0:
        file.reject(f"{name} must have a number of at least 0 for each length of indexes")
    return value
