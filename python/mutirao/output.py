"""What commands print: tables and progress for people, JSON for programs.

Colours and boxes only on a terminal, so that what is piped or logged stays plain text.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

try:
    from rich import box
    from rich.console import Console
    from rich.table import Table
except ImportError:  # before set-up; `mutirao doctor` must work even then
    Console = None


def _fancy(stream) -> bool:
    return Console is not None and stream.isatty()


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=2))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str = "") -> None:
    """The last column takes the remaining width; the others are never cut."""
    cells = [["" if cell is None else str(cell) for cell in row] for row in rows]
    if _fancy(sys.stdout):
        table = Table(title=title or None, box=box.SIMPLE_HEAD, title_justify="left")
        for number, column in enumerate(columns):
            table.add_column(column, no_wrap=number < len(columns) - 1)
        for row in cells:
            table.add_row(*(_escaped(cell) for cell in row))
        Console().print(table)
        return
    if title:
        print(title)
    widths = [max(len(row[i]) for row in [list(columns), *cells]) for i in range(len(columns))]
    for row in [list(columns), *cells]:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def _escaped(text: str) -> str:
    """Square brackets are markup to rich."""
    return text.replace("[", r"\[")


def note(line: str) -> None:
    """Says what is going on, beside the output of the program that runs."""
    print(f"mutirao: {line}", file=sys.stderr, flush=True)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Shows on a terminal that something takes its time."""
    if not _fancy(sys.stderr):
        yield
        return
    with Console(stderr=True).status(_escaped(what)):
        yield
