"""What commands print: tables and progress for people, JSON for programs.

Colours and boxes only on a terminal, so that what is piped or logged stays plain text.
"""

import json
import math
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
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
    """On a terminal that is too narrow, nothing is cut: see `fitted`."""
    cells = [["" if cell is None else str(cell) for cell in row] for row in rows]
    if not _fancy(sys.stdout):
        _print_plain(columns, cells, title)
        return
    console = Console()
    tables = fitted(columns, cells, console.width)
    if not tables:
        _print_records(console, columns, cells, title)
    for part, (names, part_cells) in enumerate(tables):
        table = Table(title=title if title and part == 0 else None, box=box.SIMPLE_HEAD, title_justify="left")
        for number, column in enumerate(names):
            table.add_column(column, no_wrap=number < len(names) - 1)
        for row in part_cells:
            table.add_row(*map(_escaped, row))
        console.print(table)


Cells = Sequence[Sequence[str]]
_GAP = 3  # what a column takes besides its text
_LEAST_PROSE = 20  # a last column that is wider may be wrapped to this


def fitted(columns: Sequence[str], cells: Cells, width: int) -> list[tuple[Sequence[str], Cells]]:
    """The table as tables that are not too wide: by itself, its last column wrapped if that holds sentences,
    or columns in groups that each begin with the first one. None: sentences for which no place is left."""
    widths = [_GAP + max(map(len, column)) for column in zip(columns, *cells)]
    last = min(widths[-1], _LEAST_PROSE + _GAP)
    if sum(widths[:-1]) + last <= width:
        return [(columns, cells)]
    if last < widths[-1]:
        return []
    groups: list[list[int]] = [[]]
    for number in range(1, len(columns)):
        if groups[-1] and widths[0] + sum(widths[each] for each in [*groups[-1], number]) > width:
            groups.append([])
        groups[-1].append(number)
    return [([columns[each] for each in [0, *group]], [[row[each] for each in [0, *group]] for row in cells])
            for group in groups]


def _print_records(console: "Console", columns: Sequence[str], cells: Cells, title: str) -> None:
    """Each row as a paragraph."""
    if title:
        print(title)
    indent = max(map(len, columns[1:])) + 4
    for row in cells:
        print(f"\n{row[0]}")
        for column, cell in zip(columns[1:], row[1:], strict=True):
            if cell:
                print(textwrap.fill(cell, console.width, initial_indent=f"  {column}".ljust(indent),
                                    subsequent_indent=" " * indent, break_on_hyphens=False))


def _print_plain(columns: Sequence[str], cells: Cells, title: str) -> None:
    if title:
        print(title)
    widths = [max(map(len, column)) for column in zip(columns, *cells)]
    for row in [columns, *cells]:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def _escaped(text: str) -> str:
    """Square brackets are markup to rich."""
    return text.replace("[", r"\[")


def print_lines(lines: Iterable[str], hanging: str = "  ") -> None:
    """On a terminal, lines that are too long are wrapped, below their own indentation."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else math.inf
    for line in lines:
        if len(line) > width:
            indentation = line[:len(line) - len(line.lstrip())]
            line = textwrap.fill(line, width, subsequent_indent=indentation + hanging, break_on_hyphens=False)
        print(line)


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
