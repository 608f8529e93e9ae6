"""What `mutirao replay` found: every slice of one rule, or several rules beside each other."""

import math
from collections.abc import Iterator, Sequence

from mutirao.base.tables import Table
from mutirao.base.units import counted, size
from mutirao.pages.html import legend, listed, soft
from mutirao_studies.document import Document, Lines, Section, html_of_table
from mutirao_studies.line_chart import NUMBERS, Line, Point, line_chart, side_by_side

FAMILIES = {"fastest": "best tree", "mst": "spanning tree"}
USES = ("first", "adapting", "always")
_NEAR_PERCENT = 10  # a time is near the bound that is at most so much longer
_STYLES = {"first": "l0", "adapting": "l3", "always": "l2"}


def document(result: dict, command: str) -> Document:
    runs = result["runs"]
    first = runs[0]
    lead = (f"Recorded latencies of {first['hosts']} hosts, {counted(len(first['slices']), 'slice')}:"
            f" how long would a broadcast of {size(first['length_bytes'])} from host {first['root']} have taken"
            " over the first slice's best tree, over one that is adapted as the library does, and over the"
            " best tree of every slice?")
    compared = [Section("The rules beside each other", [_comparison(result["trace"], runs)])] if len(runs) > 1 else []
    return Document(f"Replay of {result['trace']}", lead, result,
                    [*compared, *(_of_rule(run, alone=not compared) for run in runs)],
                    [_tile(run) for run in runs], (), command)


def _tile(run: dict) -> tuple[str, str, str]:
    near, switches, _ = _counts(run, "fastest", "adapting")
    return ("tile", near, f"of the slices within {_NEAR_PERCENT}% of the bound, with"
            f" {counted(switches, 'exchanged tree')}: {_rule(run)}")


def _of_rule(run: dict, alone: bool) -> Section:
    """Of several rules the terminal shows only how they compare."""
    lines = list(_lines(run))
    summary = Table("", ["", f"within {_NEAR_PERCENT}% of the bound", "switches", "exchanged links"],
                    [[f"{title}, {use}", *_counts(run, family, use)]
                     for family, title in FAMILIES.items() for use in USES])
    return Section(_rule(run).capitalize(), [
        legend(_STYLES, "the bound"),
        side_by_side("pair", {f"{title.capitalize()}, by slice": _chart(run, family)
                              for family, title in FAMILIES.items()}),
        *([summary, Lines(lines)] if alone else [html_of_table(summary), listed(lines)])])


def _chart(run: dict, family: str) -> str:
    """Slices that some hosts could not be reached in are left out."""
    bound = [(row["slice"], row["bound_us"]) for row in run["slices"] if row["bound_us"]]
    lines = [Line(use, _STYLES[use], points) for use in USES if (points := [
        Point(row["slice"], us) for row in run["slices"] if (us := row[family][f"{use}_us"])])]
    return (line_chart(lines, NUMBERS, bound=bound) if lines else
            soft("No slice in which all hosts could be reached."))


def slices_table(trace: str, run: dict) -> Table:
    def ms(us: float | None) -> str:
        return "never" if us is None else f"{us / 1000:.{1 if us < 1e6 else 0}f}"

    return Table(f"{trace}: {_rule(run)};\nbroadcasts of {size(run['length_bytes'])} from host {run['root']} of"
                 f" {run['hosts']}, in ms: best tree, then spanning tree",
                 ["slice", "moved", "news", "msgs", "bound", *("first", "adapt", "always") * len(FAMILIES)],
                 [[row["slice"], row["changed_links"], row["announcements"], row["messages"], ms(row["bound_us"]),
                   *(ms(row[family][f"{use}_us"]) for family in FAMILIES for use in USES)] for row in run["slices"]])


def _comparison(trace: str, runs: Sequence[dict]) -> Table:
    def adapting(run: dict, use: str = "adapting") -> list:
        return [each for family in FAMILIES for each in _counts(run, family, use)]

    rows = [[_threshold(run), f"{run['tolerance_percent']:g}%", _sum(run, "announcements"), _sum(run, "messages"),
             *adapting(run)] for run in runs]
    rows.append(["always", None, None, None, *adapting(runs[0], "always")])
    return Table(f"{trace}: {counted(len(runs[0]['slices']), 'slice')} of {runs[0]['hosts']} hosts, broadcasts of"
                 f" {size(runs[0]['length_bytes'])} from host {runs[0]['root']}; near: slices within"
                 f" {_NEAR_PERCENT}% of the bound; trees, links: exchanged",
                 ["threshold", "keep", "news", "msgs", "near", "trees", "links", "mst near", "trees", "links"], rows)


def _counts(run: dict, family: str, use: str) -> tuple[str, int, int]:
    """Slices near the bound, of those in which all hosts could be reached; slices in which the tree became another
    one; and links that were exchanged for that."""
    reachable = [row for row in run["slices"] if row["bound_us"]]
    near = sum((row[family][f"{use}_us"] or math.inf) <= (1 + _NEAR_PERCENT / 100) * row["bound_us"]
               for row in reachable)
    exchanged = [row[family][f"{use}_exchanged"] for row in run["slices"]]
    return (f"{100 * near / len(reachable):.1f}%" if reachable else "-", sum(each > 0 for each in exchanged),
            sum(exchanged))


def _sum(run: dict, name: str) -> int:
    return sum(row[name] for row in run["slices"])


def _threshold(run: dict) -> str:
    percent = run["threshold_percent"]
    return "auto" if percent is None else f"{percent:g}%"


def _rule(run: dict) -> str:
    change = "judged by forecast error" if run["threshold_percent"] is None else f"beyond {_threshold(run)}"
    return f"changes {change}, trees kept within {run['tolerance_percent']:g}%"


def _lines(run: dict) -> Iterator[str]:
    rounds = sum(row["messages"] > 0 for row in run["slices"])
    yield (f"{counted(_sum(run, 'announcements'), 'announcement')}, {counted(rounds, 'round')} of maintenance"
           f" with {counted(_sum(run, 'messages'), 'message')}")
    wrong = sum(not row["tree_is_kruskals"] for row in run["slices"])
    yield ("the maintained tree equalled Kruskal's in every slice" if wrong == 0 else
           f"the maintained tree differed from Kruskal's in {counted(wrong, 'slice')}")
