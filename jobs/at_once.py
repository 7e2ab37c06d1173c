"""Work that waits for others, done by several threads."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def at_once(work: Callable[[Item], Result], items: Iterable[Item], workers: int) -> tuple[Result, ...]:
    """The results in the order of the items, each of which is taken when a thread has time for it, and never by two of them.

    So no more items are in memory than are worked on, and what it takes to make one is not done by all threads in turns, which costs
    twice the time. Raises what the work or the taking raises; nothing more is taken then.
    """
    results: dict[int, Result] = {}
    numbered, lock, failed = iter(enumerate(items)), Lock(), Event()

    def take() -> None:
        while not failed.is_set():
            with lock:
                number, item = next(numbered, (None, None))
            if number is None or item is None:
                return
            results[number] = work(item)

    def taking() -> None:
        try:
            take()
        except BaseException:
            failed.set()
            raise

    with ThreadPoolExecutor(max_workers=workers) as pool:
        threads = [pool.submit(taking) for _ in range(workers)]
    for thread in threads:
        thread.result()
    return tuple(results[number] for number in sorted(results))
