"""Numbers as Kubernetes writes them."""

import re

_QUANTITY = re.compile(r"([+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|[+-]?\.\d+)(n|u|m|k|M|G|T|P|E|[KMGTPE]i)?")
_DECIMAL = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_BINARY = {f"{letter}i": 1024.0**power for power, letter in enumerate("KMGTPE", start=1)}


def quantity(text: str | float) -> float | None:
    """`500m` is 0.5, `2k` is 2000, `1Ki` is 1024; None for what is no quantity.

    https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
    """
    found = _QUANTITY.fullmatch(str(text).strip())
    if found is None:
        return None
    number, suffix = found.groups()
    return float(number) * ({**_DECIMAL, **_BINARY}[suffix] if suffix else 1.0)
