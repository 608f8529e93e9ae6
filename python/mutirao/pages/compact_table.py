"""Tables of many numbers in few columns: first column left, the others right, nothing ever cut.

On a terminal the title is bold and single rows stand out; elsewhere it is plain text.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

BOUND, BEST = "31", "1;32"  # red, and bold green
_BOLD, _FAINT = "1", "2"


class Table(NamedTuple):
    """For the terminal and for a page alike."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]

    def __str__(self) -> str:
        return compact_table(self.columns, self.rows, self.title)


def compact_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str = "",
                  styles: Mapping[int, str] = {}) -> str:
    """`styles` by the number of the row."""
    cells = [["" if cell is None else str(cell) for cell in row] for row in [columns, *rows]]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for number, row in enumerate(cells, start=-1):
        line = "  ".join(cell.rjust(width) if column else cell.ljust(width)
                         for column, (cell, width) in enumerate(zip(row, widths, strict=True)))
        lines.append(_styled(line.rstrip(), _FAINT if number < 0 else styles.get(number, "")))
    return "\n".join([*(_styled(line, _BOLD) for line in title.splitlines()), *lines])


def _styled(line: str, style: str) -> str:
    if not style or not sys.stdout.isatty() or "NO_COLOR" in os.environ:
        return line
    return f"\033[{style}m{line}\033[0m"
