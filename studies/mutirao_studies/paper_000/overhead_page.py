"""`study overhead` as one HTML page that needs nothing beside itself."""

from mutirao.base.units import counted
from mutirao.measure.circumstances import busy_remarks
from mutirao.pages.html import Page, judged, section, table
from mutirao_studies.account import command_of, with_settings
from mutirao_studies.chart import Bar, Group, bar_chart
from mutirao_studies.page_parts import how_made, titled_table
from mutirao_studies.paper_000.overhead import MODES, pairs_table

_TITLES = {"auto": "adaptation on", "off": "adaptation off"}


def make_page(result: dict) -> Page:
    lead = (f"A program broadcasts every {result['every_ms']} ms on a network of six sites that does not"
            " change: once while mutirao follows the network, once while it does not, in pairs one right"
            " after the other.")
    tiles = [(judged(result["ratio"] <= result["bar"]), f"{result['ratio']:.4f} ×", "the time of a broadcast,"
              f" median of {counted(len(result['pairs']), 'pair')}; at most {result['bar']:g} wanted")]
    groups = [Group(f"Pair {number}", [_bar(mode, pair[mode]) for mode in MODES],
                    result["bound_ms"], f"bound {result['bound_ms']:.1f} ms")
              for number, pair in enumerate(result["pairs"], start=1)]
    its_sections = section("Broadcasts while nothing changes", bar_chart(groups),
                           titled_table(pairs_table(result)))
    return Page("What following the network costs", lead, how_made(result, with_settings(result)),
                its_sections, command_of(result), _raw(result), result, tiles, busy_remarks(result))


def _bar(mode: str, job: dict) -> Bar:
    title, median_ms = _TITLES[mode], job["median_ms"]
    return Bar(title, [("a5" if mode == "auto" else "a0", median_ms, f"{title}: {median_ms:.2f} ms")],
               f"{median_ms:.1f} ms", job["completion_ms"])


def _raw(result: dict) -> str:
    return table(["pair", "adaptation", "each broadcast, ms"], [
        [number, mode, ", ".join(f"{value:g}" for value in pair[mode]["completion_ms"])]
        for number, pair in enumerate(result["pairs"], start=1) for mode in MODES])
