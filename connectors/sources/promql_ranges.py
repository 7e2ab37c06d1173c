"""The counters whose rate() an expression takes, and the same expression over a single second.

| expression                                        | counters            | over a second                      |
|---------------------------------------------------|---------------------|------------------------------------|
| sum(rate(x_total{a="b"}[2m]))                     | x_total{a="b"}      | sum(rate(x_total{a="b"}[1999ms]))  |
| rate(x_total[5m]) * 60                            | x_total             | rate(x_total[1999ms]) * 60         |
| increase(x_total[1m]), llm:rpm, a[1h:1m], "[1m]"  | none: its number depends on the range, or it says no range |   |

A rate rests on the first and the last sample of its range. A range of one second more than lies between two scrapes, less one millisecond,
holds samples that are one second apart, whether its left end belongs to it (Prometheus 2) or not (Prometheus 3).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|`[^`]*`|\{|\}|\[[^\]]*\]')
_NAME = re.compile(r"[A-Za-z_:][\w:]*\s*\Z")
_RATED = re.compile(r"\b(?:rate|irate)\s*\(\s*\Z")
_DURATION = re.compile(r"\[\s*(?:\d+(?:ms|[smhdwy]))+\s*\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Range:
    """A range in brackets: where it stands, and the selector before it, None = not one whose rate is taken."""

    start: int
    end: int
    selector: str | None


def rated(expression: str) -> tuple[str, ...]:
    """The selectors, each once; none where any range of the expression is not that of a rate()."""
    found = tuple(_ranges(expression))
    selectors = [each.selector for each in found if each.selector is not None]
    return tuple(dict.fromkeys(selectors)) if len(selectors) == len(found) else ()


def over_a_second(expression: str, spacing_s: float) -> str:
    """The expression with every range cut to a second and the time between two scrapes. Only where `rated` found counters."""
    range_ms = round(1_000 * (1 + spacing_s)) - 1
    parts, at = [], 0
    for each in _ranges(expression):
        parts += [expression[at : each.start], f"[{range_ms}ms]"]
        at = each.end
    return "".join((*parts, expression[at:]))


def _ranges(expression: str) -> Iterator[_Range]:
    opened = closed = -1
    for token in _TOKEN.finditer(expression):
        match token.group()[0]:
            case "{":
                opened = token.start()
            case "}":
                closed = token.end()
            case "[":
                yield _Range(start=token.start(), end=token.end(), selector=_selector(expression, token, opened, closed))


def _selector(expression: str, bracket: "re.Match[str]", opened: int, closed: int) -> str | None:
    before = expression[: bracket.start()].rstrip()
    named_to = opened if closed == len(before) else len(before)
    name = _NAME.search(expression[:named_to])
    start = named_to if name is None else name.start()
    if start == len(before) or not _DURATION.fullmatch(bracket.group()) or not _RATED.search(expression[:start]):
        return None
    return before[start:]
