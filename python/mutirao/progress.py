"""Shows how far a measurement has come: a bar on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from mutirao.output import note
from mutirao.units import spoken

try:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
except ImportError:  # before set-up
    Progress = None

_SHORT_S = 20  # is not worth saying


class Steps:
    """Counts the steps of long work; what is begun is named, with how long the rest takes if it goes on so."""

    def __init__(self, total: int):
        self.total = total
        self.done = 0
        self._began_s = time.monotonic()

    def begin(self, what: str) -> None:
        left_s = (time.monotonic() - self._began_s) * (self.total / self.done - 1) if self.done else 0
        rest = f", about {spoken(left_s)} to go" if left_s > _SHORT_S else ""
        note(f"{what} ({self.done} of {self.total} done{rest})")

    def advance(self, steps: int = 1) -> None:
        self.done += steps

    def say(self, line: str) -> None:
        note(line)


class _Bar(Steps):
    def __init__(self, total: int, progress: "Progress"):
        super().__init__(total)
        self._progress = progress
        self._task = progress.add_task("", total=total)

    def begin(self, what: str) -> None:
        self._progress.update(self._task, description=what)

    def advance(self, steps: int = 1) -> None:
        super().advance(steps)
        self._progress.advance(self._task, steps)

    def say(self, line: str) -> None:
        self._progress.console.print(f"mutirao: {line}", markup=False, highlight=False)


@contextmanager
def steps(total: int) -> Iterator[Steps]:
    if Progress is None or not sys.stderr.isatty():
        yield Steps(total)
        return
    with Progress(SpinnerColumn(), BarColumn(bar_width=20), MofNCompleteColumn(),
                  TimeElapsedColumn(),
                  TimeRemainingColumn(elapsed_when_finished=True), TextColumn("{task.description}", markup=False),
                  console=Console(stderr=True), transient=True) as progress:
        yield _Bar(total, progress)
