"""The study of changing links in the terminal, each table within 80 columns."""

import textwrap

from mutirao.base.tables import BEST, text_table
from mutirao.measure.circumstances import busy_remarks
from mutirao_studies.paper_000.paper_000 import COLUMNS

HEADS = ("seconds", *COLUMNS)
COMPARED = ("the broadcasts, and what adapting takes", "paper", "here")
# First and second; how many times shorter the first's broadcasts are.
_FASTER = (("MagPIe-like", "magpie-like", "AGM-adap", "mst-each"),
           ("AGM", "mst", "AGM-adap", "mst-each"),
           ("AGM", "mst", None, "default"), ("MagPIe-like", "magpie-like", None, "default"))


def print_tables(result: dict) -> None:
    for figure in result["figures"]:
        print(_figure(result, figure) + "\n")
        rows = comparisons(result, figure)
        if rows:
            print(text_table(COMPARED, rows, f"Figure {figure['number']}: what can be compared")
                  + "\n")
        for line in [*tree_lines(figure), *taken_up_lines(figure)]:
            print(textwrap.fill(line, 80))
        print()
    for row in result["left_out"]:
        print(f"left out: {row['title']}: {row['reason']}")
    for difference in result["paper"]["differences"]:
        print(textwrap.fill(f"* {difference}", 80, subsequent_indent="  "))
    for line in remarks(result):
        print(textwrap.fill(line, 80))


def figure_title(figure: dict) -> str:
    return (f"Figure {figure['number']}: {figure['broadcasts']} broadcasts, threshold"
            f" {figure['threshold_percent']:g}%")


def change_lines(figure: dict) -> list[str]:
    return [f"before broadcast {change['call']}: link {change['link']} from"
            f" {change['before_ms']:g} to {change['after_ms']:g} ms"
            for change in figure["changes"]]


def figure_rows(result: dict, figure: dict) -> list[list[str]]:
    """The paper's rows, each followed by what was measured of the same algorithm."""
    paper = result["paper"]["figures_s"][str(figure["number"])]
    arms = {arm["in_paper"]: arm for arm in figure["arms"]}
    rows = []
    for name, columns in paper.items():
        rows.append([f"paper: {name}", *seconds_of(columns)])
        if name in arms:
            rows.append([arms[name]["title"], *seconds_of(arms[name]["columns_s"])])
    if None in arms:
        rows.append([arms[None]["title"], *seconds_of(arms[None]["columns_s"])])
    return rows


def seconds_of(columns: dict) -> list[str]:
    return ["-" if columns[name] is None else f"{columns[name]:.2f}" for name in COLUMNS]


def _figure(result: dict, figure: dict) -> str:
    rows = figure_rows(result, figure)
    styles = {number: BEST for number, row in enumerate(rows) if row[0] == "mutirao's default"}
    title = "\n".join([figure_title(figure), *change_lines(figure)])
    return text_table(HEADS, rows, title, styles)


def comparisons(result: dict, figure: dict) -> list[tuple[str, str, str]]:
    paper = result["paper"]["figures_s"][str(figure["number"])]
    here = {arm["key"]: arm for arm in figure["arms"]}
    rows = []
    for paper_slow, slow, paper_fast, fast in _FASTER:
        if slow in here and fast in here:
            theirs = (_times(paper[paper_slow]["broadcasts"], paper[paper_fast]["broadcasts"])
                      if paper_fast else "")
            rows.append((f"{here[fast]['title']}: faster than {here[slow]['title']}", theirs,
                         _times(here[slow]["columns_s"]["broadcasts"],
                                here[fast]["columns_s"]["broadcasts"])))
    for arm in figure["arms"]:
        if arm["columns_s"]["adapting"] and arm["settings"]["adaptation"] != "off":
            theirs = _share(paper[arm["in_paper"]]) if arm["in_paper"] else ""
            rows.append((f"{arm['title']}: adapting in the program", theirs,
                         _share(arm["columns_s"])))
    return rows


def _times(slower: float, faster: float) -> str:
    return f"{slower / faster:.1f} x"


def _share(columns: dict) -> str:
    return f"{columns['adapting'] / columns['whole']:.1%}"


def tree_lines(figure: dict) -> list[str]:
    """Messages of the algorithm of Gallager, Humblet and Spira, where the library tells them."""
    lines = []
    for arm in figure["arms"]:
        told = [run["ghs"] for run in arm["runs"] if run["ghs"]]
        if told:
            worst = max(told, key=lambda each: each["messages"])
            lines.append(f"{arm['title']}: first tree with {worst['messages']} messages at most, of"
                         f" {worst['at_most']} allowed")
    return lines


def taken_up(figure: dict, arm: dict) -> dict[int, bool]:
    """By the broadcasts from which on the arm's first run used a changed network, those ahead of the
    counted ones as 0 and below: whether with a new spanning tree."""
    found: dict[int, bool] = {}
    for each in (arm["runs"][0]["adaptation"] or {}).get("taken_up", ()):
        # The library counts its calls from 0, those ahead of the counted ones included.
        broadcast = each["call"] - figure["ahead"] + 1
        found[broadcast] = found.get(broadcast, False) or each["new_tree"]
    return found


def taken_up_lines(figure: dict) -> list[str]:
    lines = []
    for arm in figure["arms"]:
        if counted := [str(number) for number in taken_up(figure, arm) if number >= 1]:
            lines.append(f"{arm['title']} took up changes at broadcast{'s' * (len(counted) > 1)}"
                         f" {', '.join(counted)}")
    return lines


def remarks(result: dict) -> list[str]:
    lines = busy_remarks(result)
    for figure in result["figures"]:
        for arm in figure["arms"]:
            overruns: int = sum(run["overruns"] for run in arm["runs"])
            if overruns:
                lines.append(f"During {arm['title']} of figure {figure['number']} the lab's router"
                             f" was too slow for {overruns} packets")
    return lines
