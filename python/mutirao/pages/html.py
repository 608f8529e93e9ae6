"""What all pages are made of."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path


@dataclass(frozen=True)
class Page:
    """A page whose head and end are those of all. All is text, where it is not said to be HTML."""

    heading: str
    lead: str  # HTML: what was asked
    made: str  # HTML: when, where and on what
    sections: str  # HTML
    commands: str
    values: dict  # everything, for those who go on with it
    tiles: Sequence[tuple[str, str, str]] = ()  # what came out: (style, number, what it is) each
    remarks: Sequence[str] = ()
    style: str = ""  # beyond that of all pages

    def __str__(self) -> str:
        tiles = "\n".join(f'<div class="{style}"><b>{escape(value)}</b>{escape(what)}</div>'
                          for style, value, what in self.tiles)
        return whole_page(self.heading, f"""<header>
<h1>{escape(self.heading)}</h1>
<p>{self.lead}</p>
<p class="soft">{self.made}</p>
</header>
{warnings(self.remarks)}<div class="tiles">
{tiles}
</div>

{self.sections}{section("See for yourself", f"<pre>{escape(self.commands)}</pre>",
                        details("Everything above as JSON", f'<pre class="values">{escape(json.dumps(self.values))}</pre>'))}""", self.style)


def whole_page(heading: str, body: str, style: str = "") -> str:
    """`body` is HTML."""
    style = Path(__file__).with_name("page.css").read_text(encoding="utf-8") + style
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>mutirao: {escape(heading)}</title>
<style>
{style}</style>
</head>
<body>
{body}</body>
</html>
"""


def section(heading: str, *parts: str) -> str:
    """`parts` are HTML."""
    return "\n".join([f"<section>\n<h2>{escape(heading)}</h2>", *filter(None, parts), "</section>\n"])


def listed(lines: Sequence[str]) -> str:
    items = "\n".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<ul>\n{items}\n</ul>" if items else ""


def soft(line: str) -> str:
    return f'<p class="soft">{escape(line)}</p>'


def details(summary: str, content: str, is_open: bool = False) -> str:
    """Shown to who asks for it; `content` is HTML."""
    opened = ' open=""' if is_open else ""
    return f"<details{opened}><summary>{escape(summary)}</summary>\n{content}\n</details>"


def judged(good: bool) -> str:
    """The style of a tile whose number has a target."""
    return f"tile {'good' if good else 'bad'}"


def warnings(lines: Sequence[str]) -> str:
    return "".join(f'<p class="warning">{escape(line)}</p>\n' for line in lines)


def legend(colours: Mapping[str, str], line: str = "") -> str:
    """By what they stand for; `line`: what the dashed line is."""
    items = [f'<li><i class="{style}"></i>{escape(title)}</li>' for title, style in colours.items()]
    if line:
        items.append(f'<li><i class="line"></i>{escape(line)}</li>')
    return f'<ul class="legend">{"".join(items)}</ul>'


def wide_table(columns: Sequence, rows: Sequence[Sequence], styles: Mapping[int, str] = {}) -> str:
    """One that is pushed to and fro where the page is narrow. `styles` by the number of the row; cells are text, or
    ready HTML in a one-tuple."""
    def cell(value: object) -> str:
        if isinstance(value, tuple):
            return value[0]
        return f"<td>{'' if value is None else escape(str(value))}</td>"

    head = "".join(f"<th>{escape(str(column))}</th>" for column in columns)
    body = "\n".join(f'<tr class="{styles.get(number, "")}">{"".join(map(cell, row))}</tr>'
                     for number, row in enumerate(rows))
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>'
