"""What the study of changing links shows: of each figure what changes when, the trees, each broadcast, and the paper's
columns beside ours."""

import statistics
from collections.abc import Iterator

from mutirao.base.tables import Table
from mutirao.pages.html import listed, soft
from mutirao_studies.account import command_of
from mutirao_studies.document import Document, Drawn, Lines, Section, beside_paper
from mutirao_studies.line_chart import NUMBERS, Line, Point, line_chart, side_by_side
from mutirao_studies.paper_000.paper_000 import CITATION, COLUMNS, DYNAMIC_DIFFERENCES, FIGURES

# First and second; how many times shorter the first's broadcasts are.
_FASTER = (("MagPIe-like", "magpie-like", "AGM-adap", "mst-each"),
           ("AGM", "mst", "AGM-adap", "mst-each"),
           ("AGM", "mst", None, "default"), ("MagPIe-like", "magpie-like", None, "default"))


def document(result: dict) -> Document:
    network = result["network"]
    lead = (f"A program on 24 hosts in six sites broadcasts {result['length_bytes']} bytes from host"
            f" {result['root']}, again and again. Between two of its broadcasts some links get far worse or"
            " far better. A fixed tree suffers to the end; a tree that follows the network does not, if"
            " following costs less than it saves.")
    changes = Table("", ("link", "paper: before, ms", "after", "here: before, ms", "after"), [
        (change["link"], *(f"{change[key]:g}" for key in (
            "paper_before_ms", "paper_after_ms", "before_ms", "after_ms"))) for change in network["changes"]])
    return Document("Links change while a program broadcasts", lead, result, [
        Section("What changes", [
            "<p>Round trips of single links between two hosts. The paper’s own numbers are beside those of the lab,"
            " where two of them had to be scaled.</p>", changes,
            soft(f"The first host of each site is its gateway: another host of the site is {network['inside_ms']:g} ms"
                 f" from it, and a link between sites is {network['behind_ms']:g} ms longer for each end that is no"
                 " gateway. So there is one spanning tree, that of the paper’s Figure 3, and links 4-6, 12-20 and 12-16"
                 " are in it while they are good.")]),
        *(_figure(result, figure) for figure in result["figures"]),
        beside_paper(CITATION, DYNAMIC_DIFFERENCES)],
        _tiles(result), [f"{network['tcp']} TCP", f"medians of {result['repeat']}", result["mpi_title"]],
        "\n".join([command_of(result), *(f"./mutirao study {study} --mpi {result['mpis'][0]}"
                                         for study in ("reaction", "overhead"))]))


def _tiles(result: dict) -> list[tuple[str, str, str]]:
    """Of the first figure in which it was measured: the default beside a tree that stays."""
    for figure in result["figures"]:
        columns = {arm["key"]: arm["columns_s"] for arm in figure["arms"]}
        if {"mst", "default"} <= columns.keys():
            stays, default = columns["mst"], columns["default"]
            return [("tile good", f"{stays['broadcasts'] / default['broadcasts']:.1f} ×",
                     f"faster broadcasts than by a spanning tree that stays: figure {figure['number']}"),
                    *([("tile", _share(default), "of the program went into adapting (the paper: 19% to 30%)")]
                      if default["adapting"] is not None else []),
                    ("tile", f"{default['whole']:.0f} s",
                     f"the whole program; with the tree that stays {stays['whole']:.0f} s")]
    return []


def _figure(result: dict, figure: dict) -> Section:
    compared = comparisons(figure)
    title = f"Figure {figure['number']}: {figure['broadcasts']} broadcasts, threshold {figure['threshold_percent']:g}%"
    changes = [f"before broadcast {change['call']}: link {change['link']} from"
               f" {change['before_ms']:g} to {change['after_ms']:g} ms" for change in figure["changes"]]
    return Section(title, [
        "<h3>What changes when</h3>", listed(changes), Lines(taken_up_lines(figure)),
        "<h3>Each broadcast</h3>",
        soft("Until the last host had it, adapting inside the call included; logarithmic. The dashed line is"
             " the physical bound at that moment; upright lines are changes. Where a link gets slow all at"
             " once TCP takes the silence for loss, so that a second message may have to wait for the"
             " acknowledgement of the first."),
        by_broadcast(figure), "<h3>The whole program</h3>",
        soft("Seconds, as the paper splits them."),
        Drawn(Table(title, ("seconds", *COLUMNS), figure_rows(figure)), range(1, len(COLUMNS) + 1)),
        *([Table(f"Figure {figure['number']}: what can be compared",
                 ("the broadcasts, and what adapting takes", "paper", "here"), compared)] if compared else [])])


def by_broadcast(figure: dict) -> str:
    """A picture for each arm, all with the same logarithmic axis."""
    every_us = [1000 * value for arm in figure["arms"] for run in arm["runs"] for value in run["completion_ms"]]
    bounds = [(call, bound * 1000) for call, bound in enumerate(figure["bound_ms"], start=1)]
    return side_by_side("groups", {
        arm["title"]: line_chart([_times(arm)], NUMBERS, 170, bounds, list(_marks(figure)), every_us)
        for arm in figure["arms"]}) if figure["arms"] else "not measured"


def _times(arm: dict) -> Line:
    """Medians of the runs, and the band in which all are."""
    by_call = zip(*(run["completion_ms"] for run in arm["runs"]), strict=True)
    style = "l3" if arm["key"] == "default" else "l0"
    return Line(arm["title"], style, [
        Point(call, 1000 * statistics.median(values), (1000 * min(values), 1000 * max(values)))
        for call, values in enumerate(by_call, start=1)])


def _marks(figure: dict) -> Iterator[tuple[int, str]]:
    """At each broadcast before which something changes."""
    links: dict[int, list[str]] = {}
    for change in figure["changes"]:
        links.setdefault(change["call"], []).append(change["link"])
    for call, names in links.items():
        yield call, names[0] if len(names) == 1 else f"{len(names)} links"


def figure_rows(figure: dict) -> list[list[str]]:
    """The paper's rows, each followed by what was measured of the same algorithm."""
    paper = FIGURES[figure["number"]].columns_s
    arms = {arm["in_paper"]: arm for arm in figure["arms"]}
    rows = []
    for name in (*paper, None):
        if name:
            rows.append([f"paper: {name}", *_seconds(paper[name])])
        if name in arms:
            rows.append([arms[name]["title"], *_seconds(arms[name]["columns_s"])])
    return rows


def _seconds(columns: dict) -> list[str]:
    return ["-" if columns[name] is None else f"{columns[name]:.2f}" for name in COLUMNS]


def comparisons(figure: dict) -> list[tuple[str, str, str]]:
    paper = FIGURES[figure["number"]].columns_s
    here = {arm["key"]: arm for arm in figure["arms"]}
    rows = []
    for paper_slow, slow, paper_fast, fast in _FASTER:
        if slow in here and fast in here:
            rows.append((f"{here[fast]['title']}: faster than {here[slow]['title']}",
                         _ratio(paper[paper_slow], paper[paper_fast]) if paper_fast else "",
                         _ratio(here[slow]["columns_s"], here[fast]["columns_s"])))
    for arm in figure["arms"]:
        if arm["columns_s"]["adapting"] and arm["settings"]["adaptation"] != "off":
            rows.append((f"{arm['title']}: adapting in the program",
                         _share(paper[arm["in_paper"]]) if arm["in_paper"] else "", _share(arm["columns_s"])))
    return rows


def _ratio(slower: dict, faster: dict) -> str:
    return f"{slower['broadcasts'] / faster['broadcasts']:.1f} x"


def _share(columns: dict) -> str:
    return f"{columns['adapting'] / columns['whole']:.1%}"


def taken_up_lines(figure: dict) -> list[str]:
    """By the broadcasts from which on each arm's first run used a changed network."""
    lines = []
    for arm in figure["arms"]:
        told = (arm["runs"][0]["adaptation"] or {}).get("taken_up", ())
        # The library counts its calls from 0, those ahead of the counted ones included.
        numbers = dict.fromkeys(each["call"] - figure["ahead"] + 1 for each in told)
        if counted := [str(number) for number in numbers if number >= 1]:
            lines.append(f"{arm['title']} took up changes at broadcast{'s' * (len(counted) > 1)}"
                         f" {', '.join(counted)}")
    return lines
