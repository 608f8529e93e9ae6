"""The study of changing links as one HTML page that needs nothing beside itself."""

import json
import statistics
from collections.abc import Sequence
from html import escape
from pathlib import Path

from mutirao.studies.chart import Bar, Group, bar_chart
from mutirao.studies.dynamic_tables import (
    COMPARED,
    HEADS,
    change_lines,
    comparisons,
    figure_rows,
    figure_title,
    remarks,
    taken_up_lines,
    tree_lines,
)
from mutirao.studies.html import (
    how_made,
    left_out_lines,
    legend,
    page_template,
    table,
    tiles,
    warnings,
    write_files,
)
from mutirao.studies.paper_000 import COLUMN_TITLES, COLUMNS

# Colours of the style sheet.
_COLOURS = {"magpie-like": "a3", "mst": "a4", "mst-each": "a2", "mst-fourth": "a1",
            "default": "a5"}
_PAPER_COLOURS = {"MagPIe-like": "a3", "AGM": "a4", "AGM-adap": "a2", "AGM-adapII": "a1"}


def write_page(result: dict, folder: Path) -> list[Path]:
    """The page and the raw values beside it."""
    return write_files(result, make_page(result), folder)


def make_page(result: dict) -> str:
    template = page_template("dynamic_page.html", "links change while a program broadcasts")
    network = result["network"]
    return template.substitute(
        length=result["length_bytes"], root=result["root"],
        made=escape(f"{how_made(result)}; {result['mpi_title']}"),
        warnings=warnings([*remarks(result), *left_out_lines(result)]), tiles=_tiles(result),
        changes=_changes(network), inside=f"{network['inside_ms']:g}",
        behind=f"{network['behind_ms']:g}",
        figures="\n".join(_figure(result, figure) for figure in result["figures"]),
        citation=escape(result["paper"]["citation"]),
        differences="\n".join(f"<li>{escape(line)}</li>"
                              for line in result["paper"]["differences"]),
        commands=escape(_commands(result)), raw=_raw(result), json=escape(json.dumps(result)))


def _tiles(result: dict) -> str:
    """Of the first figure in which it was measured: the default beside a tree that stays."""
    shown = []
    for figure in result["figures"]:
        arms = {arm["key"]: arm["columns_s"] for arm in figure["arms"]}
        if shown or not {"mst", "default"} <= arms.keys():
            continue
        ratio = arms["mst"]["broadcasts"] / arms["default"]["broadcasts"]
        shown.append(("tile good", f"{ratio:.1f} ×", "faster broadcasts than by a spanning tree"
                      f" that stays: figure {figure['number']}"))
        if arms["default"]["adapting"] is not None:
            share = arms["default"]["adapting"] / arms["default"]["whole"]
            shown.append(("tile", f"{share:.1%}", "of the program went into adapting (the paper:"
                          " 19% to 30%)"))
        shown.append(("tile", f"{arms['default']['whole']:.0f} s", "the whole program; with the"
                      f" tree that stays {arms['mst']['whole']:.0f} s"))
    return tiles(shown)


def _changes(network: dict) -> str:
    rows = [[change["link"], *(f"{change[key]:g}" for key in (
        "paper_before_ms", "paper_after_ms", "before_ms", "after_ms"))]
        for change in network["changes"]]
    return table(["link", "paper: before, ms", "after", "here: before, ms", "after"], rows)


def _figure(result: dict, figure: dict) -> str:
    paper = result["paper"]["figures_s"][str(figure["number"])]
    here = {arm["title"]: (_COLOURS[arm["key"]], arm["columns_s"]) for arm in figure["arms"]}
    theirs = {name: (_PAPER_COLOURS[name], columns) for name, columns in paper.items()}
    compared = comparisons(result, figure)
    changes = "".join(f"<li>{escape(line)}</li>" for line in change_lines(figure))
    told = "".join(f"<p class='soft'>{escape(line)}</p>"
                   for line in [*tree_lines(figure), *taken_up_lines(figure)])
    return f"""<section>
<h2>{escape(figure_title(figure))}</h2>
<ul>{changes}</ul>
<div class="pair">
<figure><h3>The paper</h3>{_columns(theirs)}
{legend({name: style for name, (style, _) in theirs.items()})}</figure>
<figure><h3>Here</h3>{_columns(here)}
{legend({title: style for title, (style, _) in here.items()})}</figure>
</div>
<div class="beside">
<div class="scroll">{table(HEADS, figure_rows(result, figure))}</div>
<div class="scroll">{table(COMPARED, compared) if compared else ""}</div>
</div>
<h3>Each broadcast</h3>
<p class="soft">Until the last host had it, adapting inside the call included; the dashed line is
the physical bound at that moment. Where a link gets slow all at once TCP takes the silence for loss,
so that a second message may have to wait for the acknowledgement of the first.</p>
<figure class="scroll">{_each_call(figure)}</figure>
{told}
</section>"""


def _columns(rows: dict) -> str:
    """As the paper draws them: a group for each column."""
    groups = []
    for name in COLUMNS:
        bars = [Bar([(style, columns[name] or 0.0, f"{title}: {columns[name]} s")],
                    "-" if columns[name] is None else f"{columns[name]:.0f}")
                for title, (style, columns) in rows.items()]
        groups.append(Group(COLUMN_TITLES[name].split()[0], bars))
    return bar_chart(groups, "s", width=520, height=240) if rows else "not measured"


def _each_call(figure: dict) -> str:
    groups = []
    for call, bound in enumerate(figure["bound_ms"]):
        bars = []
        for arm in figure["arms"]:
            median = statistics.median(run["completion_ms"][call] for run in arm["runs"])
            bars.append(Bar([(_COLOURS[arm["key"]], median / 1000,
                              f"{arm['title']}, broadcast {call + 1}: {median:.1f} ms")]))
        groups.append(Group(str(call + 1), bars, bound / 1000))
    return bar_chart(groups, "s") if figure["arms"] else "not measured"


def _commands(result: dict) -> str:
    quick = " --quick" if result["quick"] else ""
    return "\n".join([f"./mutirao study {result['study']} --mpi {result['mpis'][0]}{quick}",
                      f"./mutirao study reaction --mpi {result['mpis'][0]}",
                      f"./mutirao study overhead --mpi {result['mpis'][0]}"])


def _raw(result: dict) -> str:
    rows: list[Sequence[str]] = []
    for figure in result["figures"]:
        for arm in figure["arms"]:
            settings = " ".join(f"{name}={value}" for name, value in arm["settings"].items())
            rows += [[str(figure["number"]), arm["title"], settings, run["ran"] or "",
                      ", ".join(f"{value:g}" for value in run["completion_ms"])]
                     for run in arm["runs"]]
    return table(["figure", "arm", "settings", "ran", "each broadcast, ms"], rows)
