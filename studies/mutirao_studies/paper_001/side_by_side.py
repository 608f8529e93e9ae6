"""Works that go on side by side as there is room for them, each with a program of its own."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from mutirao.run.processes import kill_marked, new_mark, uninterrupted

Result = TypeVar("Result")


class NotBegun(Exception):
    """Of a work for which there was no more time."""


class Room:
    """So much of something, of which at most `at_once` works that go on side by side each take a part. The
    largest part that fits is next; what takes more than there is goes on alone."""

    def __init__(self, at_once: int, whole: float = 0):
        self._places, self._whole, self._free = at_once, whole, whole
        self._waiting: list[float] = []
        self._closed = False
        self._changed = threading.Condition()

    @contextmanager
    def taken(self, part: float = 0):
        part = min(part, self._whole)
        with self._changed:
            self._waiting.append(part)
            self._changed.wait_for(lambda: self._closed or self._is_next(part))
            self._waiting.remove(part)
            if self._closed:
                raise NotBegun
            self._take(1, part)
        try:
            yield
        finally:
            with self._changed:
                self._take(-1, -part)

    def close(self) -> None:
        """Nothing begins any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _is_next(self, part: float) -> bool:
        return self._places > 0 and part == max((each for each in self._waiting if each <= self._free),
                                                default=None)

    def _take(self, places: int, part: float) -> None:
        self._places -= places
        self._free -= part
        self._changed.notify_all()


@contextmanager
def side_by_side(works: Sequence[Callable[[dict[str, str]], Result]], room: Room,
                 parts: Sequence[float] | None = None) -> Iterator[list[Future[Result]]]:
    """Runs the works as there is room for their parts, each with a mark of its own for the program that it
    starts; none lasts longer than this."""
    marks = [new_mark() for _ in works]

    def run(work: Callable[[dict[str, str]], Result], mark: dict[str, str], part: float) -> Result:
        with room.taken(part):
            return work(mark)

    with ThreadPoolExecutor(max(len(works), 1)) as pool:
        futures = [pool.submit(run, *each) for each in zip(works, marks, parts or [0] * len(works), strict=True)]
        try:
            yield futures
        finally:
            with uninterrupted():
                room.close()
                while running := [mark for mark, future in zip(marks, futures, strict=True)
                                  if not future.done()]:
                    for mark in running:
                        kill_marked(mark)
                    time.sleep(0.01)
