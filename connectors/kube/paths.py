"""Where a field of an API object stands: keys from its root.

spec.minReplicas
metadata.annotations['autoscaling.knative.dev/min-scale']
"""

import re

Path = tuple[str, ...]
"""The keys from the root of an object to a field."""

_KEY = re.compile(r"""\.?([^.\['"\]]+)|\[(?:'([^']+)'|"([^"]+)")\]""")
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")


def parse(text: str) -> Path:
    """The path of `spec.minReplicas` or `metadata.annotations['a.b/c']`. Raises ValueError where it is none."""
    keys: list[str] = []
    at = 0
    while at < len(text) or not keys:
        found = _KEY.match(text, at)
        if found is None or (at == 0 and text.startswith(".")):
            msg = f"{text!r} is no path of a field: write keys with dots between them, and ['KEY'] where a key itself has dots"
            raise ValueError(msg)
        keys.append(next(group for group in found.groups() if group is not None))
        at = found.end()
    return tuple(keys)


def spell(path: Path) -> str:
    """The path as `parse` reads it."""
    first, *rest = path
    return first + "".join(f".{key}" if _PLAIN.fullmatch(key) else f"['{key}']" for key in rest)


def pointer(path: Path) -> str:
    """The path as a JSON pointer (RFC 6901)."""
    return "".join("/" + key.replace("~", "~0").replace("/", "~1") for key in path)
