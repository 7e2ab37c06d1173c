"""Starts for the store's contract and for lead times: one replica that came up as it should, and how others differ from it."""

from datetime import datetime, timedelta

from forecaster.starts import Start


def start(replica: str, requested: datetime, *, took_s: float | None = 300, seen_s: float = 600, cold: bool | None = False) -> Start:
    """A replica requested at an instant, a minute each to node and image, ready after `took_s`; None = still on its way after `seen_s`."""
    minute = timedelta(minutes=1)
    return Start(
        target="hpa:prod/chat",
        replica=replica,
        requested=requested,
        seen_at=requested + timedelta(seconds=seen_s),
        scheduled=None if took_s is None else requested + minute,
        pulled=None if took_s is None else requested + 2 * minute,
        ready=None if took_s is None else requested + timedelta(seconds=took_s),
        cold=cold,
    )
