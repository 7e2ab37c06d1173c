"""What a store holds, in values that compare."""

from dataclasses import dataclass
from datetime import timedelta

from connectors.stores.opening import open_store
from forecaster.decision import Decision, Ruling
from forecaster.series import Signal, Window
from tests.end_to_end.service import DAYS, START

ALL = Window(start=START, end=START + timedelta(days=DAYS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Everything of the workload `chat`. history: bytes of mean and peak by signal. forecasts: signal, instant, bytes of the values."""

    history: dict[str, tuple[bytes, bytes]]
    forecasts: tuple[tuple[str, str, bytes], ...]
    plans: tuple[tuple[str, bool, tuple[int, ...]], ...]
    rulings: tuple[Ruling, ...]
    decisions: tuple[Decision, ...]


def kept(url: str) -> Kept:
    """What the store at an address holds. Raises StoreError when it cannot be read."""
    store = open_store(url)
    try:
        histories = {s.value: store.history("chat", s, ALL, 300) for s in (Signal.RPM, Signal.CONCURRENCY)}
        forecasts = [(s.value, f) for s in (Signal.RPM, Signal.CONCURRENCY) for f in store.forecasts("chat", s, ALL)]
        return Kept(
            history={name: (series.mean.tobytes(), series.peak.tobytes()) for name, series in histories.items()},
            forecasts=tuple((name, f.issued_at.isoformat(), f.values.tobytes()) for name, f in forecasts),
            plans=tuple((p.id, p.held, tuple(floor.replicas for floor in p.floors)) for p in store.plans("chat", "gpu", ALL)),
            rulings=store.rulings("chat", ALL),
            decisions=tuple(record.decision for record in store.records("chat", ALL)),
        )
    finally:
        store.close()


def written(url: str) -> list[bool]:
    """Which records of `chat` say that something was written, oldest first."""
    store = open_store(url)
    try:
        return [record.applied is not None and record.applied.written for record in store.records("chat", ALL)]
    finally:
        store.close()
