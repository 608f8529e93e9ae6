"""The study of changing links as one HTML page that needs nothing beside itself."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from mutirao.pages.html import (
    Page,
    beside_paper,
    details,
    how_made,
    left_out_lines,
    legend,
    listed,
    section,
    sections,
    soft,
    table,
    wide_table,
)
from mutirao.studies.chart import Bar, Group, dot_chart
from mutirao.studies.dynamic_charts import by_broadcast, last_trees, time_line, trees
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
from mutirao.studies.paper_000 import COLUMN_TITLES, COLUMNS


def make_page(result: dict) -> Page:
    network = result["network"]
    lead = (f"A program on 24 hosts in six sites broadcasts {result['length_bytes']} bytes from host"
            f" {result['root']}, again and again. Between two of its broadcasts some links get far worse or"
            " far better. A fixed tree suffers to the end; a tree that follows the network does not, if"
            " following costs less than it saves.")
    made = how_made(result, f"{network['tcp']} TCP", f"medians of {result['repeat']}", result["mpi_title"])
    its_sections = sections(
        Path(__file__).with_name("dynamic_page.html"), changes=_changes(network), inside=f"{network['inside_ms']:g}",
        behind=f"{network['behind_ms']:g}",
        figures="".join(_figure(result, figure) for figure in result["figures"]),
        beside_paper=beside_paper(result["paper"]["citation"], result["paper"]["differences"]))
    return Page("Links change while a program broadcasts", lead, made, its_sections, _commands(result),
                _raw(result), result, _tiles(result), [*remarks(result), *left_out_lines(result)])


def _tiles(result: dict) -> list[tuple[str, str, str]]:
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
    return shown


def _changes(network: dict) -> str:
    rows = [[change["link"], *(f"{change[key]:g}" for key in (
        "paper_before_ms", "paper_after_ms", "before_ms", "after_ms"))]
        for change in network["changes"]]
    return table(["link", "paper: before, ms", "after", "here: before, ms", "after"], rows)


def _figure(result: dict, figure: dict) -> str:
    compared = comparisons(result, figure)
    return section(
        figure_title(figure), "<h3>What changes when</h3>", time_line(figure),
        legend({"known to the ranks, or measured anew": "taken", "with a new spanning tree": "taken new"}),
        details("The same as a list", listed([*change_lines(figure), *tree_lines(figure),
                                              *taken_up_lines(figure)])),
        *_trees(result, figure), *_last_trees(result, figure), "<h3>Each broadcast</h3>",
        soft("Until the last host had it, adapting inside the call included; logarithmic. The dashed line is"
             " the physical bound at that moment; upright lines are changes. Where a link gets slow all at"
             " once TCP takes the silence for loss, so that a second message may have to wait for the"
             " acknowledgement of the first."),
        by_broadcast(figure), "<h3>The whole program</h3>",
        soft("Seconds, on a logarithmic scale, as the paper splits them."),
        dot_chart(_columns(result, figure)),
        '<div class="beside">', wide_table(HEADS, figure_rows(result, figure)),
        wide_table(COMPARED, compared) if compared else "", "</div>")


def _trees(result: dict, figure: dict) -> Sequence[str]:
    """Once for figures of the same changes."""
    if "trees" not in figure:
        return ()
    first = next(each for each in result["figures"] if each["changes"] == figure["changes"])
    if first is not figure:
        return (soft(f"The spanning tree before and after is that of Figure {first['number']}."),)
    return ("<h3>The minimum spanning tree, before and after</h3>",
            soft("Circles are hosts, in the colours of their sites; a coloured line goes to another site."),
            _sites(result["network"]), f'<div class="pair">{trees(result, figure)}</div>')


def _last_trees(result: dict, figure: dict) -> Sequence[str]:
    drawn = last_trees(result, figure)
    return (details("Over which trees the last broadcasts of each went",
                    f'<div class="pair">{drawn}</div>'),) if drawn else ()


def _sites(network: dict) -> str:
    return legend({site: f"s{number}" for number, site in enumerate(network["sites"])})


def _columns(result: dict, figure: dict) -> list[Group]:
    """As the paper draws them: a group for each column, its own rows and ours."""
    paper: Mapping[str, dict] = result["paper"]["figures_s"][str(figure["number"])]
    rows = [(f"paper: {name}", "a1", columns, ()) for name, columns in paper.items()]
    rows += [(arm["title"], "a5" if arm["key"] == "default" else "a0", arm["columns_s"],
              [run["columns_s"] for run in arm["runs"]]) for arm in figure["arms"]]
    return [Group(COLUMN_TITLES[name].capitalize(), [
        Bar(title, [(style, columns[name] or 0.0, f"{title}: {columns[name]} s")],
            "-" if columns[name] is None else f"{columns[name]:.1f} s",
            [run[name] for run in runs if run[name] is not None])
        for title, style, columns, runs in rows]) for name in COLUMNS]


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
