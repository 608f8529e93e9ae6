"""What commands print beside tables: lines and what is going on, for people, and JSON for programs."""

import json
import math
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=2))


def tell(as_json: bool, value: Any, text: str) -> None:
    """The same for programs or for people."""
    print(json.dumps(value, indent=2) if as_json else text)


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
    show_for_now("")
    print(f"mutirao: {line}", file=sys.stderr, flush=True)


def show_for_now(line: str) -> None:
    """On a terminal, until something else is said; as much of it as has a place in one line."""
    if sys.stderr.isatty():
        place = shutil.get_terminal_size().columns - 1
        print(f"\r\033[K{line[:place]}", end="", file=sys.stderr, flush=True)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Shows on a terminal that something takes its time."""
    show_for_now(f"{what} ...")
    try:
        yield
    finally:
        show_for_now("")
