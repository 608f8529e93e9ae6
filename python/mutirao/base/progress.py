"""Says how far a measurement has come: line by line, on a terminal each over the one before."""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from mutirao.base.output import note, show_for_now
from mutirao.base.units import spoken

_SHORT_S = 20  # is not worth saying


class Steps:
    """Counts the steps of long work; what is begun is named, with how long the rest takes if it goes on so.
    `expected_s`: about how long each step takes, in their order; none: all the same."""

    def __init__(self, total: int, expected_s: Sequence[float] = (), on_a_terminal: bool = False):
        self.total = total
        self.done = 0
        self._expected_s = expected_s or [1.0] * total
        self._on_a_terminal = on_a_terminal
        self._began_s = time.monotonic()

    def begin(self, what: str) -> None:
        rest = self._rest()
        line = f"{what} ({self.done} of {self.total} done{', ' if rest else ''}{rest})"
        (show_for_now if self._on_a_terminal else note)(line)

    def _rest(self) -> str:
        """Empty where it is short, or nobody knows."""
        done_s, left_s = sum(self._expected_s[:self.done]), sum(self._expected_s[self.done:])
        left_s *= (time.monotonic() - self._began_s) / done_s if done_s else 0
        return f"about {spoken(left_s)} to go" if left_s > _SHORT_S else ""

    def advance(self, steps: int = 1) -> None:
        self.done += steps


@contextmanager
def steps(total: int) -> Iterator[Steps]:
    try:
        yield Steps(total, on_a_terminal=sys.stderr.isatty())
    finally:
        show_for_now("")
