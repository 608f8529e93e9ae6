"""What the pages of all studies are made of, and how they reach the disk."""

import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from string import Template

from mutirao.errors import Failure

_HERE = Path(__file__).parent


def write_files(result: dict, page: str, folder: Path) -> list[Path]:
    """The page and the raw values, named after the study."""
    path = folder / f"{result['study']}.html"
    return [written(path, page), write_values(result, folder)]


def write_values(result: dict, folder: Path) -> Path:
    return written(folder / f"{result['study']}.json", json.dumps(result, indent=2) + "\n")


def written(path: Path, text: str) -> Path:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Failure(f"cannot write {error.filename}: {error.strerror}") from None
    return path


def page_template(name: str, title: str, folder: Path = _HERE) -> Template:
    """A page whose head and end are those of all; its end wants $commands, $raw and $json."""
    return Template(page_begin(title) + _text_of(folder / name) + _text_of(_HERE / "page_end.html"))


def page_begin(title: str) -> str:
    return Template(_text_of(_HERE / "page_begin.html")).substitute(
        title=escape(title), style=_text_of(_HERE / "page.css"))


def _text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def how_made(result: dict) -> str:
    machine = result["machine"]
    return (f"mutirao {result['mutirao']}, {result['made']}, {machine['processors']} processors,"
            f" {machine['system']}, {result['network']['tcp']} TCP; medians of {result['repeat']};"
            f" the study took {result['seconds']} s")


def left_out_lines(result: dict) -> list[str]:
    return [f"{row['title']} left out: {row['reason']}" for row in result["left_out"]]


def tiles(rows: Sequence[tuple[str, str, str]]) -> str:
    """(style, number, what it is) each."""
    return "\n".join(f'<div class="{style}"><b>{escape(value)}</b>{escape(what)}</div>'
                     for style, value, what in rows)


def warnings(lines: Sequence[str]) -> str:
    return "".join(f'<p class="warning">{escape(line)}</p>\n' for line in lines)


def legend(colours: Mapping[str, str], bound: bool = False) -> str:
    items = [f'<li><i class="{style}"></i>{escape(title)}</li>' for title, style in colours.items()]
    if bound:
        items.append('<li><i class="line"></i>physical bound</li>')
    return f'<ul class="legend">{"".join(items)}</ul>'


def table(columns: Sequence, rows: Sequence[Sequence], styles: Mapping[int, str] = {}) -> str:
    """`styles` by the number of the row; cells are text, or ready HTML in a one-tuple."""
    def cell(value: object) -> str:
        if isinstance(value, tuple):
            return value[0]
        return f"<td>{'' if value is None else escape(str(value))}</td>"

    head = "".join(f"<th>{escape(str(column))}</th>" for column in columns)
    body = "\n".join(f'<tr class="{styles.get(number, "")}">{"".join(map(cell, row))}</tr>'
                     for number, row in enumerate(rows))
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"
