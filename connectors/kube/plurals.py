"""What a kind is called in addresses of the API."""

import re


def regular_plural(kind: str) -> str:
    """The plural that a kind has unless its author chose another, as Kubernetes' own tools guess it."""
    lower = kind.lower()
    if lower.endswith(("s", "x", "ch", "sh")):
        return f"{lower}es"
    return f"{lower[:-1]}ies" if re.search(r"[^aeiou]y$", lower) else f"{lower}s"
