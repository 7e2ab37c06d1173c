"""What a text must look like or how much of something there must be, in words for people who read no regular expressions."""

from pydantic_core import ErrorDetails

_ADDRESS = "be an address that begins with http:// or https://"
SHAPES = {
    r"^https?://": _ADDRESS,
    r"^https?://[^/]+$": f"{_ADDRESS} and ends with host or port",
    r"^https?://[^\s?#]+$": f"{_ADDRESS}, without blanks, ? and #",
    r"^https?://[^\s?#]+[^\s?#/]$": f"{_ADDRESS}, without blanks, ? and #, and with no / at its end",
    r"^[0-9a-fA-F-]{36}$": "be 36 hexadecimal digits and dashes, such as 01234567-89ab-cdef-0123-456789abcdef",
    r"^[\w.()-]+$": "hold only letters, digits, dots, brackets, dashes and underscores",
    r"^[A-Za-z0-9-]+$": "hold only letters, digits and dashes",
    r"^[A-Za-z0-9_.-]+$": "hold only letters, digits, dots, dashes and underscores",
    r"^[\w-]+$": "hold only letters, digits, dashes and underscores",
    r"^[a-z0-9]+$": "hold only lower-case letters and digits",
    r"^[a-z0-9-]+$": "hold only lower-case letters, digits and dashes",
    r"^[a-z0-9.:-]+$": "hold only lower-case letters, digits, dots, colons and dashes",
    r"^[a-z0-9.-]+/[a-z0-9]+$": "be an API group and version, such as apps/v1",
    r"^([a-z0-9.-]+/[a-z0-9]+|v1)$": "be an API group and version, such as apps/v1, or v1 for a ConfigMap",
    r"^[A-Z][A-Za-z0-9]*$": "begin with a capital letter and hold only letters and digits, such as ScaledObject",
    r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$": "hold only lower-case letters, digits and dashes, and begin and end with no dash",
}
"""What a text that a pattern refuses must do, by the pattern."""


def form(fault: ErrorDetails) -> str | None:
    """What a text or list must do that has another shape or size; None for faults of another kind."""
    context = fault.get("ctx", {})
    match fault["type"]:
        case "string_pattern_mismatch":
            return SHAPES.get(context["pattern"], f"match {context['pattern']}")
        case "too_long" | "string_too_long":
            return f"have at most {context['max_length']} {_things(fault)}"
        case "too_short" | "string_too_short":
            least = context["min_length"]
            return "not be empty" if least == 1 else f"have at least {least} {_things(fault)}"
        case _:
            return None


def _things(fault: ErrorDetails) -> str:
    return "characters" if isinstance(fault["input"], str) else "entries"
