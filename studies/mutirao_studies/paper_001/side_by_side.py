"""Works that go on side by side as there is room for them, each with a program of its own."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TypeVar

from mutirao.run.processes import kill_marked, new_mark, uninterrupted

Result = TypeVar("Result")


@contextmanager
def side_by_side(works: Sequence[Callable[[dict[str, str]], Result]], at_once: int, parts: Sequence[float] = (),
                 whole: float = 0) -> Iterator[Iterator[tuple[int, Future[Result]]]]:
    """The number and outcome of each work as it ends; each has a mark of its own for the program that it starts, and
    none lasts longer than this. At most `at_once` go on at a time. Each takes its part of a `whole`: the largest that
    fits is next, and what takes more than there is goes on alone."""
    parts = parts or [0.0] * len(works)
    waiting = sorted(range(len(works)), key=lambda number: -parts[number])
    going: dict[Future[Result], tuple[int, dict[str, str]]] = {}

    def fits(number: int) -> bool:
        taken = sum(parts[each] for each, _ in going.values())
        return not going or (len(going) < at_once and taken + parts[number] <= whole)

    def ended(pool: ThreadPoolExecutor) -> Iterator[tuple[int, Future[Result]]]:
        while waiting or going:
            for number in list(waiting):
                if fits(number):
                    mark = new_mark()
                    going[pool.submit(works[number], mark)] = number, mark
                    waiting.remove(number)
            for future in wait(going, return_when=FIRST_COMPLETED).done:
                yield going.pop(future)[0], future

    with ThreadPoolExecutor(at_once) as pool:
        try:
            yield ended(pool)
        finally:
            with uninterrupted():
                while running := [mark for future, (_, mark) in going.items() if not future.done()]:
                    for mark in running:
                        kill_marked(mark)
                    time.sleep(0.01)
