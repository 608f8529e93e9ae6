"""What a study has to show: a document of tables, charts and text, which two renderers show, one on the terminal and
one as an HTML page that needs nothing beside itself."""

import json
import os
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from mutirao.base.errors import UsageError
from mutirao.base.tables import BEST, BOUND, Table, text_table
from mutirao.base.units import counted
from mutirao.base.user_files import why, write_file
from mutirao.measure.circumstances import busy_remarks
from mutirao.pages.html import Page, listed, section, soft, wide_table
from mutirao_studies.account import command_of, left_out_lines

STYLE = Path(__file__).with_name("studies.css").read_text(encoding="utf-8")
_WIDTH = 80
# Rows that stand out, by their first cell.
_ROW_STYLES = {"physical bound": BOUND, "mutirao's choice": BEST, "mutirao's default": BEST}


class Lines(NamedTuple):
    """Sentences, each by itself."""

    lines: Sequence[str]


class Drawn(NamedTuple):
    """A table with columns of numbers of one kind: on the page each has a bar behind it, all on one scale from 0 on."""

    table: Table
    columns: range


Html = str  # for the page alone: charts, and what is said of them
Part = Table | Lines | Drawn | Html


@dataclass(frozen=True)
class Section:
    heading: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class Document:
    heading: str
    lead: str  # what was asked
    result: dict
    sections: Sequence[Section]
    tiles: Sequence[tuple[str, str, str]] = ()  # what came out: (style, number, what it is) each
    made: Sequence[str | None] = ()  # what else there is to say of how it was measured
    commands: str = ""  # empty: that which repeats the study
    remarks: Sequence[str] = ()
    image: bytes = b""  # a PNG to be laid beside the page

    @property
    def all_remarks(self) -> list[str]:
        return [*self.remarks, *_overrun_remarks(self.result), *busy_remarks(self.result), *left_out_lines(self.result)]


def _overrun_remarks(result: dict) -> list[str]:
    count = _overruns(result)
    return [f"The lab's router was too slow for {counted(count, 'packet')}: measure again on a machine with less to"
            " do"] if count else []


def _overruns(value: Any) -> int:
    """Of all that was measured."""
    if isinstance(value, dict):
        return value.get("overruns", 0) + sum(map(_overruns, value.values()))
    return sum(map(_overruns, value)) if isinstance(value, list) else 0


def beside_paper(citation: str, differences: Sequence[str], *more: Part) -> Section:
    """What keeps a paper's numbers and ours apart."""
    return Section("What can be compared, and what cannot",
                   [f"<p>{escape(citation)}</p>", listed(differences), *more])


# --- on the terminal ------------------------------------------------------------------------------------


def text_of(document: Document) -> str:
    """What came out first, and last what must be known of it; tables have 80 columns at most."""
    said = _wrapped(f"{number} {what}" for _, number, what in document.tiles)
    shown = [text for section in document.sections for text in _texts(section.parts)]
    return "\n\n".join(filter(None, [said, *shown, _wrapped(document.all_remarks)]))


def _texts(parts: Sequence[Part]) -> Iterator[str]:
    for part in parts:
        part = part.table if isinstance(part, Drawn) else part
        if isinstance(part, Table):
            styles = {number: _ROW_STYLES[row[0]] for number, row in enumerate(part.rows) if row[0] in _ROW_STYLES}
            yield text_table(part.columns, part.rows, textwrap.fill(part.title, _WIDTH), styles)
        elif isinstance(part, Lines):
            yield _wrapped(part.lines)


def _wrapped(lines: Iterable[str]) -> str:
    return "\n".join(textwrap.fill(line, _WIDTH, subsequent_indent="  ") for line in lines)


# --- as a page ------------------------------------------------------------------------------------------


def page_of(document: Document) -> Page:
    result, machine = document.result, document.result["machine"]
    made = "; ".join([
        f"mutirao {result['mutirao']}, {result['made']}, {machine['processors']} processors, {machine['system']}",
        *filter(None, document.made), f"it took {result['seconds']} s"])
    return Page(document.heading, document.lead, escape(made),
                "".join(section(each.heading, *map(_html, each.parts)) for each in document.sections),
                document.commands or command_of(result), result, document.tiles,
                document.all_remarks, STYLE)


def _html(part: Part) -> Html:
    if isinstance(part, Table):
        return html_of_table(part)
    if isinstance(part, Drawn):
        return html_of_table(_with_bars(part))
    if isinstance(part, Lines):
        return listed(part.lines)
    return part


def html_of_table(shown: Table) -> Html:
    """Also for one that is too wide for the terminal."""
    styles = {number: "bound" for number, row in enumerate(shown.rows) if _ROW_STYLES.get(row[0]) == BOUND}
    return ((soft(shown.title) if shown.title else "")
            + wide_table(shown.columns, shown.rows, styles))


def _with_bars(drawn: Drawn) -> Table:
    def is_number(text: str) -> bool:
        return bool(re.fullmatch(r"\d+(\.\d*)?", text))

    numbers = [float(row[at]) for row in drawn.table.rows for at in drawn.columns if is_number(row[at])]
    most = max(numbers, default=0) or 1
    return drawn.table._replace(rows=[
        [(f'<td class="bar" style="--share: {float(cell) / most:.1%}">{escape(cell)}</td>',)
         if at in drawn.columns and is_number(cell) else cell for at, cell in enumerate(row)]
        for row in drawn.table.rows])


# --- on the disk ----------------------------------------------------------------------------------------


def write_files(document: Document, folder: Path) -> list[Path]:
    """The page and the raw values, named after the study, and its image."""
    make_folder(folder)
    page = page_of(document)
    path = folder / f"{document.result['study']}.html"
    files = [write_file(path, str(page)),
             write_file(path.with_suffix(".json"), json.dumps(page.values, indent=2) + "\n")]
    if document.image:
        files.append(write_file(path.with_suffix(".png"), document.image))
    return files


def check_folder(path: Path) -> None:
    """That it is one or can be made, before something runs for hours."""
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path} is no folder")
    there = next(each for each in (path.absolute(), *path.absolute().parents) if each.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise UsageError(f"{path} cannot be {'written' if path.exists() else 'made'}")


def make_folder(path: Path) -> None:
    check_folder(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{path} cannot be made: {why(error)}") from None
