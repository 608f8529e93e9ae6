"""What commands print beside tables: lines and what is going on, for people, and JSON for programs."""

import json
import math
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

try:
    from rich.console import Console
except ImportError:  # before set-up; `mutirao doctor` must work even then
    Console = None


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
    print(f"mutirao: {line}", file=sys.stderr, flush=True)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Shows on a terminal that something takes its time."""
    if Console is None or not sys.stderr.isatty():
        yield
        return
    with Console(stderr=True).status(what.replace("[", r"\[")):  # square brackets are markup
        yield
