"""Shows how far a measurement has come: a bar on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from mutirao.base.output import note
from mutirao.base.units import spoken

try:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )
except ImportError:  # before set-up
    Progress = None

_SHORT_S = 20  # is not worth saying


class Steps:
    """Counts the steps of long work; what is begun is named, with how long the rest takes if it goes on so.
    `expected_s`: about how long each step takes, in their order; none: all the same."""

    def __init__(self, total: int, expected_s: Sequence[float] = ()):
        self.total = total
        self.done = 0
        self._expected_s = expected_s or [1.0] * total
        self._began_s = time.monotonic()

    def begin(self, what: str) -> None:
        rest = self._rest()
        note(f"{what} ({self.done} of {self.total} done{', ' if rest else ''}{rest})")

    def _rest(self) -> str:
        """Empty where it is short, or nobody knows."""
        done_s, left_s = sum(self._expected_s[:self.done]), sum(self._expected_s[self.done:])
        left_s *= (time.monotonic() - self._began_s) / done_s if done_s else 0
        return f"about {spoken(left_s)} to go" if left_s > _SHORT_S else ""

    def advance(self, steps: int = 1) -> None:
        self.done += steps

    def say(self, line: str) -> None:
        note(line)


class _Bar(Steps):
    def __init__(self, total: int, expected_s: Sequence[float], progress: "Progress"):
        super().__init__(total, expected_s)
        self._progress = progress
        self._task = progress.add_task("", total=total, rest="")

    def begin(self, what: str) -> None:
        self._progress.update(self._task, description=what, rest=self._rest())

    def advance(self, steps: int = 1) -> None:
        super().advance(steps)
        self._progress.advance(self._task, steps)

    def say(self, line: str) -> None:
        self._progress.console.print(f"mutirao: {line}", markup=False, highlight=False)


@contextmanager
def steps(total: int, expected_s: Sequence[float] = ()) -> Iterator[Steps]:
    if Progress is None or not sys.stderr.isatty():
        yield Steps(total, expected_s)
        return
    with Progress(SpinnerColumn(), BarColumn(bar_width=20), MofNCompleteColumn(),
                  TimeElapsedColumn(), TextColumn("{task.fields[rest]}"),
                  TextColumn("{task.description}", markup=False),
                  console=Console(stderr=True), transient=True) as progress:
        yield _Bar(total, expected_s, progress)
