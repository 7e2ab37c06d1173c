"""Who sent a body, and when: the signature of what we send to receivers of our users' own. The scheme stands in docs/targets/webhook.md."""

import hashlib
import hmac
from datetime import datetime

from forecaster.units import epoch_s

SIGNATURE, TIMESTAMP, KEY = "Forecaster-Signature", "Forecaster-Timestamp", "Idempotency-Key"


def signed(method: str, body: bytes, *, secret: str, at: datetime) -> dict[str, str]:
    """The headers that prove who sent a body, and when: HMAC-SHA256 over `TIMESTAMP.METHOD.BODY`, in hexadecimal digits."""
    stamp = str(epoch_s(at))
    digest = hmac.new(secret.encode(), f"{stamp}.{method}.".encode() + body, hashlib.sha256).hexdigest()
    return {TIMESTAMP: stamp, SIGNATURE: f"v1={digest}"}
