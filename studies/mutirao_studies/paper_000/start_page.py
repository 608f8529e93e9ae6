"""`study start` as one HTML page that needs nothing beside itself."""

from mutirao.pages.html import Page, judged, section, table
from mutirao_studies.account import command_of, with_settings
from mutirao_studies.chart import Bar, Group, bar_chart
from mutirao_studies.page_parts import how_made, titled_table
from mutirao_studies.paper_000.start import NATIVE, NETWORK, OURS, remarks, summary, tables

_HEADINGS = ("The first broadcast", "The whole job", "Until broadcasts are good")


def make_page(result: dict) -> Page:
    lead = (f"A program broadcasts on {result['network']}, natively and with mutirao, in pairs one right after"
            " the other. Nothing waits for mutirao: until it has set up what pays a broadcast is the MPI"
            " library's own. The launcher and the ranks are behind the delays from the beginning.")
    charts = ("", _whole(result), "")
    its_sections = "".join(section(heading, chart, titled_table(shown)) for heading, chart, shown
                           in zip(_HEADINGS, charts, tables(result), strict=True))
    elsewhere = "" if result["network"] == NETWORK else f" --lab {result['network']}"
    return Page("What the start costs, and how soon broadcasts are good", lead,
                how_made(result, with_settings(result)), its_sections, command_of(result) + elsewhere,
                _raw(result), result, _tiles(result), remarks(result))


def _tiles(result: dict) -> list[tuple[str, str, str]]:
    shown = []
    for row in summary(result):
        if not row["every_ms"]:
            limit = row["whole_bar"]
            style = "tile" if limit is None else judged(row["whole_ms"]["ratio"] <= limit)
            shown.append((style, f"{row['whole_ms']['ratio']:.3f} ×",
                          f"the native time of the whole job: {row['title']}"
                          + (f"; at most {limit:g} wanted" if limit else "")))
        else:
            shown.append(("tile", "never" if row["settled_s"] is None else f"{row['settled_s']:.1f} s",
                          f"until all broadcasts are good: {row['title']}"))
    return shown


def _whole(result: dict) -> str:
    groups = []
    for row in summary(result):
        if not row["every_ms"]:
            bars = [(name, style, row["whole_ms"][name] / 1000, row["whole_ms"]["runs"][name])
                    for name, style in ((NATIVE, "a0"), (OURS, "a5"))]
            groups.append(Group(row["title"], [
                Bar(name, [(style, value, f"{name}: {value:.2f} s")], f"{value:.2f} s",
                    [run_ms / 1000 for run_ms in runs_ms]) for name, style, value, runs_ms in bars]))
    return bar_chart(groups)


def _raw(result: dict) -> str:
    return table(["situation", "pair", "", "each broadcast, ms", "whole, s"], [
        [situation["title"], number, name, ", ".join(f"{value:g}" for value in job["completion_ms"]),
         f"{job['seconds']:g}"]
        for situation in result["situations"] for number, pair in enumerate(situation["pairs"], start=1)
        for name, job in pair.items()])
