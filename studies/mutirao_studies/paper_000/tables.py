"""The six-site study in the terminal, each table within 80 columns."""

import textwrap
from collections.abc import Sequence

from mutirao.base.tables import BEST, BOUND, text_table
from mutirao.base.units import counted, duration
from mutirao.measure.circumstances import busy_remarks

_STYLES = {"physical bound": BOUND, "mutirao's choice": BEST}
COMPARISON = ("", "source", "broadcasts", "paper", "here")
START = ("start", "twin", "network", "in all", "ranks known", "first ruling", "sites")


def print_tables(result: dict) -> None:
    print(textwrap.fill(headline(result), 80) + "\n")
    _one_shot(result)
    _consecutive(result)
    _starts(result)
    _beside_figure_4(result)
    _what_else(result)


def print_demo(result: dict) -> None:
    print(textwrap.fill(headline(result), 80) + "\n")
    _one_shot(result)
    _what_else(result)


def _what_else(result: dict) -> None:
    for row in result["left_out"]:
        print(f"left out: {row['title']}: {row['reason']}")
    for line in remarks(result):
        print(textwrap.fill(line, 80))


def point_of(arm: dict, root: int, consecutive: int = 1) -> dict | None:
    return next((point for point in arm["points"]
                 if (point["root"], point["consecutive"]) == (root, consecutive)), None)


def median_ms(arm: dict, root: int, consecutive: int = 1) -> float | None:
    point = point_of(arm, root, consecutive)
    return point["median_ms"] if point else None


def worst_to_bound(arm: dict) -> float:
    """Of all single broadcasts."""
    return max(point["to_bound"] for point in arm["points"] if point["consecutive"] == 1)


def choice_line(result: dict) -> str:
    """What mutirao chose for single broadcasts; nothing where that was not measured."""
    points = next((arm["points"] for arm in result["arms"] if arm["key"] == "choice"), [])
    roots: dict[str, list[str]] = {}
    for point in points:
        if point["consecutive"] == 1:
            roots.setdefault(point["ran"] or "native", []).append(str(point["root"]))
    if len(roots) == 1:
        return f"mutirao chose {next(iter(roots))} for every root."
    parts = [f"{name} for root {', '.join(its)}" for name, its in roots.items()]
    return f"mutirao chose {'; '.join(parts)}." if parts else ""


def headline(result: dict) -> str:
    arms = {arm["key"]: arm for arm in result["arms"]}
    parts = [f"{arm['title'].removesuffix(', native')} takes up to {worst_to_bound(arm):.2f}"
             for arm in result["arms"] if arm["settings"] is None]
    text = (" and ".join(parts) + " times the physical bound." if parts else "")
    if "choice" in arms:
        text += f" With mutirao it is {worst_to_bound(arms['choice']):.2f}."
    return f"{text} {choice_line(result)}".strip()


def site_name(result: dict, root: int) -> str:
    network = result["network"]
    return network["sites"][network["site_of"][root]]


def remarks(result: dict) -> list[str]:
    """What a reader must know of these very numbers."""
    lines = busy_remarks(result)
    asked = len(result["network"]["sites"])
    for arm in result["arms"]:
        if arm["start"] and len(set(arm["start"]["sites"])) != asked:
            lines.append(f"{arm['title']} measured the links so unevenly that it saw"
                         f" {counted(len(set(arm['start']['sites'])), 'site')} instead of {asked}")
        if arm["overruns"]:
            lines.append(f"During {arm['title']} the lab's router was too slow for"
                         f" {arm['overruns']} packets")
    return lines


def _print(columns: Sequence[str], rows: Sequence[Sequence], title: str) -> None:
    styles = {number: _STYLES[row[0]] for number, row in enumerate(rows) if row[0] in _STYLES}
    print(text_table(columns, rows, title, styles) + "\n")


def _one_shot(result: dict) -> None:
    roots = result["roots"]
    columns = ["", *(f"{site_name(result, root)} ({root})" for root in roots), "worst"]
    bounds = [result["network"]["bound_ms"][str(root)] for root in roots]
    rows = [["physical bound", *(f"{bound:.1f}" for bound in bounds), ""]]
    for arm in result["arms"]:
        medians = [median_ms(arm, root) for root in roots]
        worst = max(median / bound for median, bound in zip(medians, bounds, strict=True))
        rows.append([arm["title"], *(f"{median:.1f}" for median in medians), f"{worst:.2f} x"])
    _print(columns, rows, "One broadcast of 24 bytes from one host of each site, in ms until the"
           " last host\nhas it; the worst of them as a multiple of its bound")


def _consecutive(result: dict) -> None:
    table_2 = result["paper"]["table_2_s"]
    counts = result["consecutive"]
    in_paper = list(next(iter(table_2.values())))
    columns = ["broadcasts in a row", *map(str, counts), *(f"paper {k}" for k in in_paper)]
    bound = result["network"]["bound_ms"][str(result["root"])]
    rows = [["physical bound", *[f"{bound:.1f}"] * len(counts), *[""] * len(in_paper)]]
    for arm in result["arms"]:
        paper = table_2.get(arm["in_paper"], {})
        rows.append([arm["title"],
                     *(f"{median_ms(arm, result['root'], count):.1f}" for count in counts),
                     *(f"{paper[k]:.2f} s" if k in paper else "" for k in in_paper)])
    _print(columns, rows, f"24 bytes from host {result['root']}, in ms until the last host has the"
           " last of them;\nbeside it the paper's Table 2: whole applications, in seconds")


def start_rows(result: dict) -> list[list[str]]:
    """What the start of each arm cost, which waits for the network (start=wait)."""
    rows = []
    for arm in result["arms"]:
        if start := arm["start"]:
            rows.append([arm["title"], *(duration(value * 1000) for value in (
                start["twin_ms"], start["waited_ms"], start_ms(arm))), ranks_known(start),
                first_ruling(start), str(len(set(start["sites"])))])
    return rows


def start_ms(arm: dict) -> float:
    return arm["start"]["twin_ms"] + arm["start"]["waited_ms"]


def ranks_known(start: dict) -> str:
    """After MPI_Init; a program that waits for the network waits for that there."""
    if start["introduced_ms"]:
        return duration(start["introduced_ms"] * 1000)
    return "in MPI_Init" if start["waited_ms"] else "never"


def first_ruling(start: dict) -> str:
    call = start["first_ruled_call"]
    return "none" if call is None else f"call {call + 1}"


def _starts(result: dict) -> None:
    if rows := start_rows(result):
        _print(START, rows, "What MPI_Init took longer, once per run: to duplicate MPI_COMM_WORLD"
               " (twin),\nand to learn the network, for which these runs wait; sites found")


def figure_4_rows(result: dict) -> list[tuple]:
    """(who, broadcasts, building the tree, both, broadcasting), all in seconds."""
    rows = []
    for name, by_count in result["paper"]["figure_4_s"].items():
        rows += [(f"paper: {name}", int(count), *times) for count, times in by_count.items()]
    for arm in result["arms"]:
        if arm["in_paper"] not in result["paper"]["figure_4_s"] or not arm["start"]:
            continue
        building = start_ms(arm) / 1000
        for count in result["consecutive"][1:]:
            spent = median_ms(arm, result["root"], count) / 1000
            rows.append((f"here: {arm['title']}", count, building, building + spent, spent))
    return sorted(rows, key=lambda row: row[1])


def _beside_figure_4(result: dict) -> None:
    _print(["", "broadcasts", "building", "both", "broadcasting"],
           [[who, count, *(f"{seconds:.2f}" for seconds in times)]
            for who, count, *times in figure_4_rows(result)],
           "The paper's Figure 4, in seconds. Both: there the whole application, here what\n"
           "the start takes longer, and broadcasts. AGM: the minimum spanning tree")
    _print(COMPARISON, comparisons(result), "What can be compared: the time of the first beside"
           " that of the second")
    for difference in result["paper"]["differences"]:
        print(textwrap.fill(f"* {difference}", 80, subsequent_indent="  "))
    print()


def comparisons(result: dict) -> list[tuple]:
    """The paper's own comparisons, beside the same with what was measured."""
    arms = {arm["in_paper"]: arm for arm in result["arms"] if arm["in_paper"]}
    broadcasting = {name: {count: times[2] for count, times in by_count.items()}
                    for name, by_count in result["paper"]["figure_4_s"].items()}
    rows = []
    for source, seconds, first, second in (
            ("Table 2", result["paper"]["table_2_s"], "MagPIe-like", "MPICH-like"),
            ("Figure 4", broadcasting, "AGM", "MagPIe-like")):
        for count, slower in seconds[second].items():
            here = ""
            if first in arms and second in arms:
                here = _change(*(median_ms(arms[name], result["root"], int(count))
                               for name in (first, second)))
            rows.append((f"{first} beside {second}", source, count,
                         _change(seconds[first][count], slower), here))
    return rows


def _change(first: float, second: float) -> str:
    percent = round(100 * (1 - first / second))
    return f"{abs(percent)}% {'more' if percent < 0 else 'less'}"
