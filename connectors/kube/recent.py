"""What many ask for at about the same time, asked once: the loops of a namespace, which each of its targets has to know of."""

import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Answer = TypeVar("Answer")

_FRESH_S = 2.0
"""Two targets of one pass share an answer, two passes never: these are 5 s apart at least."""


@dataclass(slots=True)
class _Asked(Generic[Answer]):
    """One question: when its answer came, and the answer or why there is none. The lock is held while somebody asks."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    at_s: float = float("-inf")
    answer: Answer | None = None
    failed: Exception | None = None


class Recent(Generic[Answer]):
    """Answers of the last two seconds, shared by threads: whoever comes while one asks waits for its answer."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked: dict[Hashable, _Asked[Answer]] = {}

    def of(self, question: Hashable, ask: Callable[[], Answer]) -> Answer:
        """The answer to a question, or what `ask` raised when it was last asked."""
        asked = self._of(question)
        with asked.lock:
            if time.monotonic() - asked.at_s > _FRESH_S:
                asked.answer, asked.failed = None, None
                try:
                    asked.answer = ask()
                except Exception as failed:  # noqa: BLE001  # whatever it is, those who wait get it too
                    asked.failed = failed
                asked.at_s = time.monotonic()
            if asked.failed is not None:
                raise asked.failed
            answer: Answer = asked.answer  # type: ignore[assignment]  # there is one where nothing failed
            return answer

    def _of(self, question: Hashable) -> _Asked[Answer]:
        with self._lock:
            if question not in self._asked:
                old_s = time.monotonic() - _FRESH_S
                self._asked = {q: one for q, one in self._asked.items() if one.lock.locked() or one.at_s > old_s}
            return self._asked.setdefault(question, _Asked())
