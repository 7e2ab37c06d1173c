"""What one replica carries by a rule of thumb, where nobody measured it: the last resort, and never more than of low confidence."""

from dataclasses import dataclass, replace

from forecaster.capacity import Capacity
from forecaster.profile import Point, Setup
from forecaster.profile_carried import Binds, Carried, Unproven, requests_in_memory
from forecaster.units import MINUTE_S, check_not_negative, check_positive, spell_number

NOBODY_MEASURED = "a rule of thumb, which nobody measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """Mean tokens of a request, and how far they spread; None = not known. told: where they are from, in words."""

    input_tokens: float | None = None
    output_tokens: float | None = None
    input_std: float | None = None
    output_std: float | None = None
    told: str = "as configured"

    def __post_init__(self) -> None:
        for name in ("input_tokens", "output_tokens"):
            if (value := getattr(self, name)) is not None:
                check_positive(f"lengths.{name}", value, "tokens")
        for name in ("input_std", "output_std"):
            if (value := getattr(self, name)) is not None:
                check_not_negative(f"lengths.{name}", value, "tokens")

    @property
    def are_known(self) -> bool:
        """Whether both means are."""
        return self.input_tokens is not None and self.output_tokens is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a person says for the estimate.

    output_tokens_s: generated tokens per second of one request while the whole batch is in flight. coefficient: what an input token costs
    in output tokens. lengths: those that are said; what is not is taken from what is measured.
    """

    output_tokens_s: float
    coefficient: float
    lengths: Lengths = Lengths()

    def __post_init__(self) -> None:
        check_positive("terms.output_tokens_s", self.output_tokens_s, "tokens per second")
        check_not_negative("terms.coefficient", self.coefficient, "output tokens")


def estimate(terms: Terms, setup: Setup, measured: Lengths) -> Carried | Unproven:
    """What one replica carries by its batch, or what is missing to say so, in a sentence.

    tokens/s = batch x output speed / (1 + input / output x coefficient), rpm = tokens/s x 60 / output, in flight = batch. A request holds
    its place for output / speed, and for input x coefficient / speed while prompts are read; by Little's law (1961) all three speak of one
    load. A prompt stops the whole batch while it is read, so that coefficient = batch x output speed / input tokens per second of a
    replica that only reads prompts. Batch = setup.max_batch, less where memory holds fewer (`requests_in_memory`); without the spread of
    lengths memory still bounds it, by means alone.
    """
    lengths = terms.lengths if terms.lengths.are_known else _filled(terms.lengths, measured)
    sent, generated = lengths.input_tokens, lengths.output_tokens
    if setup.max_batch is None or sent is None or generated is None:
        return f"the estimate lacks {', '.join(_missing(setup, lengths))}"
    per_place_rpm = terms.output_tokens_s / (1 + sent / generated * terms.coefficient) * MINUTE_S / generated
    step = Point(
        achieved_rpm=setup.max_batch * per_place_rpm,
        input_tokens=sent,
        output_tokens=generated,
        input_std=lengths.input_std or 0.0,
        output_std=lengths.output_std or 0.0,
    )
    memory, unknown = requests_in_memory(setup, step)
    if setup.kv_tokens is not None and memory is None:
        return f"the estimate holds not one request: {unknown}"
    batch = float(setup.max_batch) if memory is None else min(memory, float(setup.max_batch))
    try:
        capacity = Capacity(
            rpm=batch * per_place_rpm,
            concurrency=batch,
            tokens=batch * per_place_rpm * generated / MINUTE_S,
            source=_source(terms, lengths, sent / generated, batch),
        )
    except ValueError as error:
        return f"the estimate contradicts itself: {error}"
    return Carried(
        capacity=capacity,
        binds=Binds.RATE if batch == setup.max_batch else Binds.MEMORY,
        knee=replace(step, achieved_rpm=batch * per_place_rpm),
        beyond=None,
        broke="",
        memory_in_flight=memory,
        memory_unknown=unknown,
    )


def doubts(terms: Terms, setup: Setup) -> tuple[str, ...]:
    """What speaks against an estimate."""
    without_spread = setup.kv_tokens is not None and None in {terms.lengths.input_std, terms.lengths.output_std}
    return (NOBODY_MEASURED, *(("memory was judged by mean lengths, since their spread is not told",) if without_spread else ()))


def _filled(said: Lengths, measured: Lengths) -> Lengths:
    """What is said, with the means that are not said as they were measured."""
    return replace(
        said,
        input_tokens=measured.input_tokens if said.input_tokens is None else said.input_tokens,
        output_tokens=measured.output_tokens if said.output_tokens is None else said.output_tokens,
        told=measured.told,
    )


def _missing(setup: Setup, lengths: Lengths) -> list[str]:
    pairs = (("input", lengths.input_tokens), ("output", lengths.output_tokens))
    return [
        *(["serving.max_batch"] if setup.max_batch is None else []),
        *(f"estimate.{name}_tokens (or the signal {name}_length)" for name, value in pairs if value is None),
    ]


def _source(terms: Terms, lengths: Lengths, input_per_output: float, batch: float) -> str:
    figures = (batch, terms.output_tokens_s, input_per_output, terms.coefficient)
    at_once, speed, ratio, coefficient = (spell_number(value) for value in figures)
    return f"estimate: {at_once} at once x {speed} tokens/s / (1 + {ratio} x {coefficient}), lengths {lengths.told}"
