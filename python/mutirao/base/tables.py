"""The tables that commands print: words to the left, numbers to the right, and nothing ever cut. On a terminal that is
too narrow the last column is wrapped, or each row is a paragraph.

On a terminal heads are faint, the title is bold and single rows stand out; elsewhere it is plain text.
"""

import math
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import starmap
from typing import Any, NamedTuple

BOUND, BEST = "31", "1;32"  # red, and bold green
BOLD, FAINT = "1", "2"
_GAP = 2
_LEAST_PROSE = 20  # a last column that is wider may be wrapped to this
_NUMBER = re.compile(r"[-+]?\d|-$")

Cells = Sequence[Sequence[str]]


class Table(NamedTuple):
    """For the terminal and for a page alike."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]

    def __str__(self) -> str:
        return text_table(self.columns, self.rows, self.title)


def text_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str = "",
               styles: Mapping[int, str] = {}) -> str:
    """`styles` by the number of the row."""
    cells = [["" if cell is None else str(cell) for cell in row] for row in rows]
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else math.inf
    body = starmap(styled, table_lines(columns, cells, styles, width)) if fits(columns, cells, width) else \
        _paragraphs(columns, cells, width)
    return "\n".join([*(styled(line, BOLD) for line in title.splitlines()), *body])


def fits(columns: Sequence[str], cells: Cells, width: float) -> bool:
    """Perhaps with its last column wrapped."""
    widths = [_GAP + max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    return sum(widths[:-1]) + min(widths[-1], _LEAST_PROSE + _GAP) <= width + _GAP


def table_lines(columns: Sequence[str], cells: Cells, styles: Mapping[int, str],
                width: float = math.inf) -> Iterator[tuple[str, str]]:
    """Each with its style."""
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    aligned = [str.rjust if number and _holds_numbers([row[number] for row in cells]) else str.ljust
               for number in range(len(columns))]
    before = sum(widths[:-1]) + _GAP * (len(widths) - 1)
    widths[-1] = min(widths[-1], width - before)
    for number, row in enumerate([columns, *cells], start=-1):
        last = (textwrap.wrap(row[-1], widths[-1], break_long_words=False, break_on_hyphens=False)
                if len(row[-1]) > widths[-1] else [row[-1]])
        line = (" " * _GAP).join(align(cell, size) for align, cell, size in
                                 zip(aligned, [*row[:-1], last[0]], widths, strict=True))
        for text in (line, *(" " * before + more for more in last[1:])):
            yield text.rstrip(), FAINT if number < 0 else styles.get(number, "")


def _holds_numbers(cells: Sequence[str]) -> bool:
    told = [cell for cell in cells if cell]
    return sum(bool(_NUMBER.match(cell)) for cell in told) * 2 >= len(told)


def _paragraphs(columns: Sequence[str], cells: Cells, width: float) -> Iterator[str]:
    indent = max(map(len, columns[1:])) + 4
    for row in cells:
        yield f"\n{row[0]}"
        for column, cell in zip(columns[1:], row[1:], strict=True):
            if cell:
                yield textwrap.fill(cell, width, initial_indent=f"  {column}".ljust(indent),
                                    subsequent_indent=" " * indent, break_on_hyphens=False)


def styled(line: str, style: str) -> str:
    if not style or not sys.stdout.isatty() or "NO_COLOR" in os.environ:
        return line
    return f"\033[{style}m{line}\033[0m"
