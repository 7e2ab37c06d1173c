"""A preset's PromQL for one workload: matchers escaped, older names joined with `or`, copies counted once, one series out."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from connectors.sources.presets.preset import Preset, Renamed, Role
from connectors.sources.presets.quantity import Quantity

_LEAF = re.compile(r"(?P<rate>rate\()?(?P<name>[a-zA-Z_:][\w:]*)\{(?P<where>[^{}]*)\}(?P<window>\[2m\]\))?")
_SPARED = re.compile(r"\)* or 0 \*")
"""What stands behind a metric that may be absent: 0 is taken in its place, where what follows was measured."""
_OR = " or on (namespace, pod, instance) "
"""Of two names in one process the newer one counts; processes of two versions beside each other are added, since a rollout has both."""
_COPIES = ("prometheus_replica",)
"""What a pair of Prometheus servers puts onto the same series."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A preset with the labels that it is asked for. A value that begins with ~ is a regular expression, any other stands for itself.

    Raises ValueError for a label that the preset does not have, and for none at all: a query that matches everything adds up what
    belongs to others.
    """

    preset: Preset
    match: Mapping[str, str] = field(hash=False)

    def __post_init__(self) -> None:
        known = ", ".join(self.preset.known_labels)
        if not self.match:
            msg = f"preset {self.preset.name} needs at least one label to match, or it adds up everybody's load; it knows {known}"
            raise ValueError(msg)
        for label in self.match:
            if label not in self.preset.known_labels:
                msg = f"preset {self.preset.name} has no label {label!r}; it knows {known}"
                raise ValueError(msg)
            if not self.match[label].removeprefix("~"):
                msg = f"preset {self.preset.name} cannot match an empty {label}; give it a value, or leave it out"
                raise ValueError(msg)
            if self.preset.source == "cloudwatch" and self.match[label].startswith("~"):
                msg = f"preset {self.preset.name} matches {label} word for word, since CloudWatch knows no regular expressions"
                raise ValueError(msg)

    def supplies(self, quantity: Quantity) -> bool:
        """Whether the preset has it, under these labels."""
        template = self.preset.metrics.get(quantity)
        return template is not None and all(_is_told(self, name) for name in _metrics_in(template))

    @property
    def shown(self) -> str:
        """The labels as PromQL writes them."""
        return ", ".join(_matcher(label, value) for label, value in self.match.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """A metric without which a quantity has no number: its names, what else is fixed of it, and selectors with and without that."""

    names: tuple[str, ...]
    fixed: str
    selectors: tuple[str, ...]
    matched: tuple[str, ...]


def expression(use: Use, quantity: Quantity, beside: Sequence[Use] = ()) -> str:
    """The query that answers with one series, or with none where nothing matches: never with a 0 that was not measured.

    beside: the other presets of the workload; what hardware says is narrowed to the pods of the engines among them. Raises KeyError
    for a quantity that the preset does not supply.
    """
    if use.preset.source == "cloudwatch":
        return use.preset.metrics[quantity].replace("{}", " ".join(f"{name}={shlex.quote(value)}" for name, value in use.match.items()))
    engines = [other for other in beside if other.preset.role is Role.ENGINE] if use.preset.role is Role.HARDWARE else []
    return _LEAF.sub(lambda found: _leaf(use, found, engines), use.preset.metrics[quantity])


def presence(use: Use) -> str:
    """The series that tell that the preset's system is there, one each."""
    return _LEAF.sub(lambda found: _leaf(use, found, ()), use.preset.presence)


def selectors(use: Use, quantity: Quantity) -> tuple[str, ...]:
    """What to look for in a server's index: series of every name that is tried, with the labels that are matched."""
    found: dict[str, None] = {}
    for leaf in _LEAF.finditer(use.preset.metrics[quantity]):
        names = "|".join(name for name, _ in _names(use.preset, leaf["name"]))
        for matchers, _ in _matchers(use, leaf["name"]):
            found["{" + _both(f'__name__=~"{names}"', leaf["where"], *matchers) + "}"] = None
    return tuple(found)


def sought(use: Use, quantity: Quantity) -> tuple[Sought, ...]:
    """The metrics that must all be there; one in whose place 0 may stand is none of them."""
    template = use.preset.metrics[quantity]
    found: dict[tuple[str, str], Sought] = {}
    for leaf in _LEAF.finditer(template):
        if not _SPARED.match(template, leaf.end()):
            names = tuple(name for name, _ in _names(use.preset, leaf["name"]))
            any_name = f'__name__=~"{"|".join(names)}"'
            matchers = [one for one, _ in _matchers(use, leaf["name"])]
            found[leaf["name"], leaf["where"]] = Sought(
                names=names,
                fixed=leaf["where"],
                selectors=tuple("{" + _both(any_name, leaf["where"], *one) + "}" for one in matchers),
                matched=tuple("{" + _both(any_name, *one) + "}" for one in matchers),
            )
    return tuple(found.values())


def metric_names(preset: Preset, quantity: Quantity | None = None) -> tuple[str, ...]:
    """Every name that is tried, today's and older ones; None = of the series that tell that it is there."""
    template = preset.presence if quantity is None else preset.metrics[quantity]
    names = [found["name"] for found in _LEAF.finditer(template)]
    return tuple(dict.fromkeys(spelled for name in names for spelled, _ in _names(preset, name)))


def label_as_scraped(preset: Preset, label: str, metric: str) -> str:
    """What a label is called on that metric, where it has another name there."""
    return next((s.instead or label for s in preset.spellings if s.label == label and metric.startswith(s.metric)), label)


@cache
def _metrics_in(template: str) -> tuple[str, ...]:
    """The names in a template; there are a few hundred of those, and thousands of workloads ask."""
    return tuple(dict.fromkeys(found["name"] for found in _LEAF.finditer(template)))


def _is_told(use: Use, name: str) -> bool:
    """Whether the metric has every label that is matched, and one of them is left to tell services apart."""
    lacking = {label for lack in use.preset.lacking if name.startswith(lack.metric) for label in lack.labels}
    free = {s.label for s in use.preset.spellings if not s.instead and name.startswith(s.metric)}
    return not lacking & set(use.match) and bool(set(use.match) - free)


def _names(preset: Preset, name: str) -> Iterator[tuple[str, str]]:
    """The name and those it had before, each with the matcher that it needs."""
    found: dict[str, str] = {name: ""}
    for renamed in preset.renamed:
        for spelled, where in tuple(found.items()):
            older = _older(spelled, renamed)
            if older is not None:
                found.setdefault(older, _both(where, renamed.where))
    yield from found.items()


def _older(name: str, renamed: Renamed) -> str | None:
    if renamed.new.startswith("*"):  # a suffix
        suffix = renamed.new.removeprefix("*")
        return name.removesuffix(suffix) + renamed.old.removeprefix("*") if name.endswith(suffix) else None
    return renamed.old + name.removeprefix(renamed.new) if name.startswith(renamed.new) else None


def _leaf(use: Use, found: re.Match[str], engines: Sequence[Use]) -> str:
    """One metric of a template, as the union of its spellings."""
    preset = use.preset
    spelled = []
    for name, where in _names(preset, found["name"]):
        for matchers, moved in _matchers(use, found["name"]):
            inside = _both(found["where"], where, *matchers)
            series = f"{found['rate'] or ''}{name}{{{inside}}}{found['window'] or ''}"
            spelled.append(_with_pods_of_workload(series) if moved and preset.role is Role.HARDWARE else series)
    union = _OR.join(spelled)
    if engines:
        pods = " or ".join(f"max by (namespace, pod) ({presence(engine)})" for engine in engines)
        union = f"({union}) and on (namespace, pod) ({pods})"
    return f"max without ({', '.join((*_COPIES, *preset.copies))}) ({union})"


def _matchers(use: Use, name: str) -> Iterator[tuple[list[str], bool]]:
    """The matchers on a metric, and those where scraping has moved the metric's own labels to `exported_...`."""
    preset = use.preset
    named = [(label_as_scraped(preset, label, name), value) for label, value in use.match.items() if not _is_free(preset, label, name)]
    moved = preset.clashing if preset.role is Role.HARDWARE else tuple(label for label, _ in named if label in preset.clashing)
    yield [_matcher(label, value) for label, value in named] + [f'exported_{label}=""' for label in moved], False
    if moved:
        exported = [_matcher(f"exported_{label}" if label in moved else label, value) for label, value in named]
        said = {f"exported_{label}" for label, _ in named if label in moved}
        yield exported + [f'exported_{label}!=""' for label in moved if f"exported_{label}" not in said], True


def _is_free(preset: Preset, label: str, name: str) -> bool:
    return any(s.label == label and not s.instead and name.startswith(s.metric) for s in preset.spellings)


def _with_pods_of_workload(series: str) -> str:
    """The series under the pod that uses the hardware, not the one that reports it."""
    for label in ("namespace", "pod"):
        series = f'label_replace({series}, "{label}", "$1", "exported_{label}", "(.*)")'
    return series


def _matcher(label: str, value: str) -> str:
    operator, text = ("=~", value[1:]) if value.startswith("~") else ("=", value)
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'{label}{operator}"{escaped}"'


def _both(*parts: str) -> str:
    return ", ".join(part for part in parts if part)
