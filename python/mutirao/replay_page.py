"""What `mutirao replay` found as one HTML page that needs nothing beside itself."""

from collections.abc import Iterator, Sequence
from html import escape

from mutirao.replay_tables import (
    FAMILIES,
    USES,
    comparison_table,
    remarks,
    rule,
    share,
    slices_table,
    summary_table,
)
from mutirao.studies.html import Page, how_made, legend, listed, section, soft, titled_table
from mutirao.studies.line_chart import NUMBERS, Line, Point, line_chart
from mutirao.units import counted, size

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
