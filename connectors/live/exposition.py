"""Questions to a page of metrics in Prometheus' text format, for numbers of this very moment.

NAME{label="value"}    the sum of the samples that match, such as a queue's length
max(NAME)              the largest of them
rate(NAME)             growth a second since the look before
ratio(NAME, NAME)      growth of the first for each of the second, such as errors a request
p99(NAME)              that quantile of a histogram, of what was observed since the look before

What has no answer (no such sample, no look before, nothing observed in between) is NaN.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

Sample: TypeAlias = tuple[str, Mapping[str, str], float]
"""Name, labels, value."""
Counts: TypeAlias = Mapping[str, float]
"""What a question needs of one look: a number a sample, by a text that names it."""

_CALL = re.compile(r"(max|rate|ratio|p\d{1,2}(?:\.\d+)?)\((.+)\)")
_SELECTOR = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})?")
_LABEL = re.compile(r"""\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*(=~|=)\s*"([^"]*)"\s*(?:,|$)""")
_AND = " and "


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """Samples by name and labels; each label's value as a regular expression that matches the whole."""

    name: str
    labels: tuple[tuple[str, str], ...] = ()

    def takes(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether a sample is one of them."""
        return name == self.name and all(re.fullmatch(wanted, labels.get(label, "")) for label, wanted in self.labels)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question. kind: sum, max, rate, ratio or quantile; quantile_ratio: in (0, 1), for the last."""

    kind: str
    selectors: tuple[Selector, ...]
    quantile_ratio: float = math.nan


def parse_question(text: str) -> Question:
    """The question as it is written. Raises ValueError."""
    call = _CALL.fullmatch(text.strip())
    kind, inside = ("sum", text) if call is None else (call.group(1), call.group(2))
    parts = [part.strip() for part in re.split(r",(?![^{]*\})", inside)]
    if len(parts) != (2 if kind == "ratio" else 1):
        msg = f"{text!r} is no question to a page of metrics: write NAME, max(NAME), rate(NAME), ratio(NAME, NAME) or p99(NAME)"
        raise ValueError(msg)
    selectors = tuple(_selector(part, text) for part in parts)
    if not kind.startswith("p"):
        return Question(kind=kind, selectors=selectors)
    percent = float(kind.removeprefix("p"))
    if not 0 < percent < 100:  # noqa: PLR2004  # a percentage
        msg = f"{text!r} asks for a quantile outside of p0 and p100"
        raise ValueError(msg)
    return Question(kind="quantile", selectors=selectors, quantile_ratio=percent / 100)


def counts_of(question: Question, samples: Iterator[Sample] | list[Sample], *, page: str) -> dict[str, float]:
    """What the question needs of one look at a page, in words that name the sample so that the next look can be compared."""
    found: dict[str, float] = {}
    for name, labels, value in samples:
        for i, selector in enumerate(question.selectors):
            if question.kind == "quantile":
                if selector.takes(name.removesuffix("_bucket"), labels) and name.endswith("_bucket") and "le" in labels:
                    found[_key(page, i, labels)] = value
            elif selector.takes(name, labels):
                found[_key(page, i, labels)] = value
    return found


def answer(question: Question, now: Counts, before: Counts | None, elapsed_s: float) -> float:
    """The number that answers, from this look and the one before; NaN = unknown."""
    values = [value for value in now.values() if math.isfinite(value)]
    match question.kind:
        case "sum":
            return sum(values) if values else math.nan
        case "max":
            return max(values, default=math.nan)
    if before is None or elapsed_s <= 0:
        return math.nan
    grown = _growth(now, before)
    match question.kind:
        case "rate":
            return sum(grown.values()) / elapsed_s if grown else math.nan
        case "ratio":
            above, below = (sum(value for key, value in grown.items() if _index(key) == i) for i in (0, 1))
            return above / below if below > 0 else math.nan
        case _:
            return _quantile(grown, question.quantile_ratio)


def lacking(question: Question, counts: Counts) -> tuple[Selector, ...]:
    """The selectors of the question of which a look found no sample."""
    found = {_index(key) for key in counts}
    return tuple(selector for i, selector in enumerate(question.selectors) if i not in found)


def largest_bound(counts: Counts) -> float:
    """The largest finite bound of a histogram's buckets, which no quantile of it exceeds; NaN where there is none."""
    bounds = [float(key.rpartition("le=")[2]) for key in counts if "le=" in key]
    return max((bound for bound in bounds if math.isfinite(bound)), default=math.nan)


def _growth(now: Counts, before: Counts) -> dict[str, float]:
    """How much each counter grew; one that began again, or is new on a page seen before, by all that it has; a new page tells nothing."""
    known = {key.split(_AND)[0] for key in before}
    return {
        key: value - before[key] if before.get(key, math.inf) <= value else value
        for key, value in now.items()
        if key.split(_AND)[0] in known
    }


def _quantile(grown: Counts, ratio: float) -> float:
    """Prometheus' histogram_quantile: linear inside of the bucket, and the largest finite bound for what lies beyond it."""
    by_bound: dict[float, float] = {}
    for key, count in grown.items():
        bound = float(key.rpartition("le=")[2])
        by_bound[bound] = by_bound.get(bound, 0.0) + count
    bounds = sorted(by_bound)
    total = by_bound.get(math.inf, 0.0)
    if total <= 0:
        return math.nan
    rank, low, under = ratio * total, 0.0, 0.0
    for bound in bounds:
        if by_bound[bound] >= rank:
            inside = by_bound[bound] - under
            return low if math.isinf(bound) or inside <= 0 else low + (bound - low) * (rank - under) / inside
        low, under = bound, by_bound[bound]
    return low


def _key(page: str, index: int, labels: Mapping[str, str]) -> str:
    """The bound of a bucket stands last, where it is found again."""
    told = [f"{name}={labels[name]}" for name in sorted(labels) if name != "le"]
    return _AND.join([page, str(index), *told, *([f"le={labels['le']}"] if "le" in labels else [])])


def _index(key: str) -> int:
    return int(key.split(_AND)[1])


def _selector(text: str, whole: str) -> Selector:
    found = _SELECTOR.fullmatch(text)
    if found is None:
        msg = f'{whole!r} names no metric in {text!r}: write NAME or NAME{{label="value"}}'
        raise ValueError(msg)
    labels, at, inside = [], 0, found.group(2) or ""
    while at < len(inside):
        label = _LABEL.match(inside, at)
        if label is None:
            msg = f'{whole!r} has labels that cannot be read in {inside!r}: write label="value" or label=~"a|b"'
            raise ValueError(msg)
        labels.append((label.group(1), label.group(3) if label.group(2) == "=~" else re.escape(label.group(3))))
        at = label.end()
    return Selector(name=found.group(1), labels=tuple(labels))
