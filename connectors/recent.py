"""What many ask for at about the same time, asked once: the loops of a namespace, the groups of an account."""

import threading
import time
from collections.abc import Callable, Hashable, Mapping
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


@dataclass(slots=True)
class _Chunk(Generic[Answer]):
    """Names that one request may ask for. told: who has had this answer. The lock is held while somebody asks."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    names: list[str] = field(default_factory=list)
    asked: frozenset[str] = frozenset()
    told: set[str] = field(default_factory=set)
    at_s: float = float("-inf")
    answers: Mapping[str, Answer] = field(default_factory=dict)
    failed: Exception | None = None


class Roll(Generic[Answer]):
    """Things of one kind that an API tells of together, so many a request: of all that are on it, whoever asks first asks for all.

    Answers are at most two seconds old, and nobody gets the same one twice: who looks again, as after a write, looks anew.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._chunks: list[_Chunk[Answer]] = []
        self._chunk_of: dict[str, _Chunk[Answer]] = {}

    def enrol(self, name: str) -> None:
        """Ask for it from now on whenever the others are asked for."""
        self._enrolled(name)

    def of(self, name: str, ask: Callable[[tuple[str, ...]], Mapping[str, Answer]]) -> Answer | None:
        """What there is under a name, None where there is nothing; or what `ask` raised when it was last asked for all of them."""
        chunk = self._enrolled(name)
        with chunk.lock:
            if name not in chunk.asked or name in chunk.told or time.monotonic() - chunk.at_s > _FRESH_S:
                names = tuple(chunk.names)
                chunk.asked, chunk.told, chunk.answers, chunk.failed = frozenset(names), set(), {}, None
                try:
                    chunk.answers = ask(names)
                except Exception as failed:  # noqa: BLE001  # whatever it is, those who wait get it too
                    chunk.failed = failed
                chunk.at_s = time.monotonic()
            chunk.told.add(name)
            if chunk.failed is not None:
                raise chunk.failed
            return chunk.answers.get(name)

    def _enrolled(self, name: str) -> _Chunk[Answer]:
        with self._lock:
            if name not in self._chunk_of:
                if not self._chunks or len(self._chunks[-1].names) >= self._most:
                    self._chunks.append(_Chunk())
                self._chunks[-1].names.append(name)
                self._chunk_of[name] = self._chunks[-1]
            return self._chunk_of[name]
