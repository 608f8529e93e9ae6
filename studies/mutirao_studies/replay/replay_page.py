"""What `mutirao replay` found: every slice of one rule, or several rules beside each other, as tables, and as one HTML
page that needs nothing beside itself."""

from collections.abc import Iterator, Sequence
from html import escape

from mutirao.base.tables import Table
from mutirao.base.units import counted, size
from mutirao.pages.html import Page, legend, listed, section, soft
from mutirao_studies.line_chart import NUMBERS, Line, Point, line_chart
from mutirao_studies.page_parts import how_made, titled_table

_STYLES = {"first": "l0", "adapting": "l3", "always": "l2"}


def make_page(result: dict, command: str) -> Page:
    runs = result["runs"]
    first = runs[0]
    lead = (f"Recorded latencies of {first['hosts']} hosts, {counted(len(first['slices']), 'slice')}:"
            f" how long would a broadcast of {size(first['length_bytes'])} from host {first['root']} have taken"
            " over the first slice's best tree, over one that is adapted as the library does, and over the"
            " best tree of every slice?")
    compared = section("The rules beside each other", titled_table(comparison_table(result["trace"], runs)))
    return Page(f"Replay of {result['trace']}", lead, how_made(result), "".join(
        [compared if len(runs) > 1 else "", *(_of_rule(run) for run in runs)]), command,
        "\n".join(titled_table(slices_table(result["trace"], run)) for run in runs), result,
        [_tile(run) for run in runs])


def _tile(run: dict) -> tuple[str, str, str]:
    totals, counts = run["totals"], run["totals"]["fastest"]["adapting"]
    return ("tile", share(counts["near_bound"], totals["reachable_slices"]),
            f"of the slices within {totals['near_percent']:g}% of the bound, with"
            f" {counted(counts['switches'], 'exchanged tree')}: {rule(run)}")


def _of_rule(run: dict) -> str:
    return section(rule(run).capitalize(), legend(_STYLES, "the bound"),
                   f'<div class="pair">{"".join(_charts(run))}</div>',
                   titled_table(summary_table(run)), listed(list(remarks(run))))


def _charts(run: dict) -> Iterator[str]:
    """Slices that some hosts could not be reached in are left out."""
    bound = [(row["slice"], row["bound_us"]) for row in run["slices"] if row["bound_us"]]
    for family, title in FAMILIES.items():
        lines = [Line(use, _STYLES[use], points) for use in USES if (points := _points(run, family, use))]
        every_us = [us for _, us in bound] + [point.us for line in lines for point in line.points]
        chart = (line_chart(lines, max(every_us), min(every_us), NUMBERS, bound=bound) if lines
                 else soft("No slice in which all hosts could be reached."))
        yield f"<figure><h3>{escape(title.capitalize())}, by slice</h3>{chart}</figure>"


def _points(run: dict, family: str, use: str) -> Sequence[Point]:
    times = [(row["slice"], row[family][f"{use}_us"]) for row in run["slices"]]
    return [Point(number, us, us, us) for number, us in times if us]


FAMILIES = {"fastest": "best tree", "mst": "spanning tree"}
USES = ("first", "adapting", "always")


def print_run(trace: str, run: dict) -> None:
    print(slices_table(trace, run))
    print()
    print(summary_table(run))
    print()
    print("\n".join(remarks(run)))


def slices_table(trace: str, run: dict) -> Table:
    columns = ["slice", "moved", "news", "msgs", "bound",
               *(use for _ in FAMILIES for use in ("first", "adapt", "always"))]
    title = (f"{trace}: {rule(run)};\n"
             f"broadcasts of {size(run['length_bytes'])} from host {run['root']} of"
             f" {run['hosts']}, in ms: best tree, then spanning tree")
    return Table(title, columns, [_slice_row(row) for row in run["slices"]])


def print_comparison(trace: str, runs: list[dict]) -> None:
    print(comparison_table(trace, runs))


def comparison_table(trace: str, runs: list[dict]) -> Table:
    columns = ["threshold", "keep", "news", "msgs", "near", "trees", "links",
               "mst near", "trees", "links"]
    totals = runs[0]["totals"]
    title = (f"{trace}: {counted(totals['slices'], 'slice')} of {runs[0]['hosts']} hosts,"
             f" broadcasts of {size(runs[0]['length_bytes'])} from host {runs[0]['root']};\n"
             f"near: slices within {totals['near_percent']:g}% of the bound;"
             " trees, links: exchanged")
    rows = []
    for run in runs:
        rows.append([_threshold(run), f"{run['tolerance_percent']:g}%",
                     run["totals"]["announcements"], run["totals"]["messages"],
                     *_adapting(run, "fastest"), *_adapting(run, "mst")])
    rows.append(["always", None, None, None, *_adapting(runs[0], "fastest", "always"),
                 *_adapting(runs[0], "mst", "always")])
    return Table(title, columns, rows)


def _adapting(run: dict, family: str, use: str = "adapting") -> list:
    counts = run["totals"][family][use]
    return [share(counts["near_bound"], run["totals"]["reachable_slices"]), counts["switches"],
            counts["exchanged_links"]]


def _slice_row(row: dict) -> list:
    return [row["slice"], row["changed_links"], row["announcements"], row["messages"],
            _ms(row["bound_us"]),
            *(_ms(row[family][f"{use}_us"]) for family in FAMILIES for use in USES)]


def _ms(us: float | None) -> str:
    return "never" if us is None else f"{us / 1000:.{1 if us < 1e6 else 0}f}"


def _threshold(run: dict) -> str:
    percent = run["threshold_percent"]
    return "auto" if percent is None else f"{percent:g}%"


def rule(run: dict) -> str:
    change = ("judged by forecast error" if run["threshold_percent"] is None
              else f"beyond {_threshold(run)}")
    return f"changes {change}, trees kept within {run['tolerance_percent']:g}%"


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "-"


def summary_table(run: dict) -> Table:
    totals = run["totals"]
    rows = []
    for family, title in FAMILIES.items():
        for use in USES:
            counts = totals[family][use]
            rows.append([f"{title}, {use}", share(counts["near_bound"], totals["reachable_slices"]),
                         counts["switches"], counts["exchanged_links"]])
    return Table("", ["", f"within {totals['near_percent']:g}% of the bound", "switches",
                      "exchanged links"], rows)


def remarks(run: dict) -> Iterator[str]:
    totals = run["totals"]
    yield (f"{counted(totals['announcements'], 'announcement')},"
           f" {counted(totals['rounds'], 'round')} of maintenance with"
           f" {counted(totals['messages'], 'message')}")
    yield (f"with foresight, {counted(totals['trees_with_foresight'], 'tree')} would have been"
           f" within {totals['near_percent']:g}% of the bound all the time")
    wrong = totals["trees_unlike_kruskal"]
    yield ("the maintained tree equalled Kruskal's in every slice" if wrong == 0 else
           f"the maintained tree differed from Kruskal's in {counted(wrong, 'slice')}")
