"""`study loops` as one HTML page that needs nothing beside itself."""

from mutirao.pages.html import Page, judged, listed, section
from mutirao.pages.html import table as html_table
from mutirao_studies.account import command_of
from mutirao_studies.chart import Bar, Group, bar_chart
from mutirao_studies.loops.loops import BAR, DEFAULT, KNOWN, NATIVE, WARM, drawn_lines, remarks, table
from mutirao_studies.page_parts import how_made, titled_table

_STYLES = {NATIVE: "a0", DEFAULT: "a5", WARM: "a4", KNOWN: "a3"}


def make_page(result: dict) -> Page:
    lead = ("Programs that compute and communicate in turn, natively, with mutirao as it comes, and with a network"
            " that is known from the start, in turns.")
    told = result["summary"]
    tiles = [(judged(not told["harmed"]), f"{told['mean_ratio']:.3f} ×", "the native seconds of a loop, geometric"
              f" mean; none clearly above {BAR:g} wanted")]
    groups = [Group(f"{row['loop']}, {row['mpi']}", [_bar(arm, row) for arm in row["seconds"]])
              for row in result["loops"]]
    return Page("Loops, natively and with mutirao", lead, how_made(result),
                section("Seconds of a loop", bar_chart(groups), titled_table(table(result)),
                        listed(drawn_lines(result))),
                command_of(result), _raw(result), result, tiles, remarks(result))


def _bar(arm: str, row: dict) -> Bar:
    seconds = row["seconds"][arm]
    return Bar(arm, [(_STYLES[arm], seconds, f"{arm}: {seconds:.2f} s")], f"{seconds:.2f} s",
               [pair[arm]["seconds"] for pair in row["pairs"]])


def _raw(result: dict) -> str:
    return html_table(["loop", "MPI", "steps", "pair", "", "s", "each quarter, s", "what ran in the end"], [
        [row["loop"], row["mpi"], row["steps"], number, arm, f"{run['seconds']:.3f}",
         ", ".join(f"{value:.3f}" for value in run["quarter_seconds"]), "; ".join(run["ran"])]
        for row in result["loops"] for number, pair in enumerate(row["pairs"], start=1)
        for arm, run in pair.items()])
