"""Our marks where keys and values are short of letters: labels of Google take a-z, 0-9, _ and -, tags of Azure no slash in a key.

| mark | label |
|---|---|
| `forecaster/original`: `2` | `forecaster-original`: `2` |
| `forecaster/floor`: `2/8` | `forecaster-floor`: `2_8` |
| `forecaster/valid-until`: `2024-05-06T12:00:00Z` | `forecaster-valid-until`: `2024-05-06t12-00-00z` |
"""

import re
from collections.abc import Mapping

from connectors.targets.marks import FLOOR, OURS, PAUSED, VALID_UNTIL

_INSTANT = re.compile(r"(\d{4}-\d\d-\d\d)t(\d\d)-(\d\d)-(\d\d)(?:_(\d{1,6}))?(z?)")
_LABELS = {key: key.replace("/", "-") for key in (*OURS, PAUSED)}

OUR_LABELS = tuple(_LABELS[key] for key in OURS)
"""The labels that we write and that a release removes."""


def labels_of(texts: Mapping[str, str]) -> dict[str, str]:
    """Marks as labels."""
    return {_LABELS[key]: _encoded(key, text) for key, text in texts.items()}


def texts_of(labels: Mapping[str, str]) -> dict[str, str]:
    """The marks among the labels of an object, as `read_marks` takes them; an instant that cannot be read stays as it is."""
    return {key: _decoded(key, labels[label]) for key, label in _LABELS.items() if label in labels}


def marked(labels: Mapping[str, str]) -> dict[str, str]:
    """The labels that are marks, the pause among them: what a write rests on."""
    return {label: labels[label] for label in sorted(_LABELS.values()) if label in labels}


def _encoded(key: str, text: str) -> str:
    if key == VALID_UNTIL:
        return text.lower().replace(":", "-").replace(".", "_")
    return text.replace("/", "_") if key == FLOOR else text


def _decoded(key: str, text: str) -> str:
    if key == VALID_UNTIL and (found := _INSTANT.fullmatch(text)) is not None:
        day, hour, minute, second, fraction, zone = found.groups()
        return f"{day}T{hour}:{minute}:{second}{f'.{fraction}' if fraction else ''}{zone.upper()}"
    return text.replace("_", "/") if key == FLOOR else text
