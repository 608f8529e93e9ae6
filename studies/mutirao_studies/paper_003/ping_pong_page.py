"""`study ping-pong` as one HTML page that needs nothing beside itself."""

from collections.abc import Sequence
from html import escape

from mutirao.base.units import size
from mutirao.pages.html import Page, legend, listed, section, soft, table, wide_table
from mutirao_studies.line_chart import Line, Point, line_chart
from mutirao_studies.page_parts import beside_paper, how_made, left_out_lines
from mutirao_studies.paper_003.paper_003 import CITATION, CLAIMS, DIFFERENCES, SET_UP
from mutirao_studies.paper_003.ping_pong_causes import CABLE
from mutirao_studies.paper_003.ping_pong_tables import (
    COUNT_HEADS,
    FIRST_HEADS,
    RATIO_HEADS,
    cause_tables,
    claim_lines,
    copy_lines,
    count_rows,
    first_remark,
    first_rows,
    how_many,
    over,
    ratio_rows,
    ratios_to_c,
    remarks,
    time_heads,
    time_rows,
)
from mutirao_studies.paper_003.ping_pong_ways import BY_KEY, JAVA, MANNERS

# Classes of the style sheet.
_STYLES = {manner: f"l{number}" for number, manner in enumerate(MANNERS)}
# With one round, and with more.
_BANDS = ("the interval in which the median lies with 95%", "where the medians of the rounds lie")
# One chart for each library; MPJ Express, which has no C, beside that of the paper's C.
_CHARTS = (("MPICH 5", ("mpich-5",)), ("Open MPI 5", ("openmpi-5",)), ("Intel MPI", ("intel",)),
           ("Open MPI 4", ("openmpi-4",)), ("MPJ Express, beside C on MPICH 5", ("",)))


def make_page(result: dict) -> Page:
    lead = (f"Two ranks send a message to and fro, in C, Java and Python. Times are {how_many(result)},"
            f" halved; the band around a line is {_BANDS[result['rounds'] > 1]}.")
    alone = ("<p>The same job by itself and with one thing changed, one right after the other; medians of half the"
             " round trip.</p>")
    its_sections = "\n".join([
        *(_situation(result, each) for each in result["situations"]),
        section("What the paper says, and what is seen", listed(claim_lines(result))),
        section("The first round trip", _first(result)),
        section("Where the time goes", alone, _causes(result), listed(copy_lines(result))),
        beside_paper(CITATION, DIFFERENCES, soft(f"Measured there on {SET_UP}."))])
    return Page("Is it the language?", lead, how_made(result, ", ".join(result["versions"])),
                its_sections, _commands(result), _raw(result), result, _tiles(result),
                [*remarks(result), *left_out_lines(result)])


def _tiles(result: dict) -> list[tuple[str, str, str]]:
    """The paper's two statements, over the paper's cable."""
    situation = next((each for each in result["situations"] if each["key"] == CABLE), None)
    if situation is None:
        return []
    tiles = []
    for claim in CLAIMS:
        found = [value.value for way in situation["ways"] if way["language"] == JAVA
                 if (value := over(ratios_to_c(situation, way), claim.least_bytes,
                                   claim.most_bytes))]
        if found:
            tiles.append(("tile", f"{min(found):.2f} to {max(found):.2f} ×",
                          f"C's time is what Java takes, {_range(claim.least_bytes, claim.most_bytes)}"
                          f" over 100 Mbit/s; the paper: {claim.ratio:g} ×"))
    return tiles


def _range(least_bytes: int, most_bytes: int) -> str:
    return size(most_bytes) if least_bytes == most_bytes else (
        f"{size(least_bytes)} to {size(most_bytes)}")


def _situation(result: dict, situation: dict) -> str:
    charts = "\n".join(f"<figure><h3>{escape(title)}</h3>{chart}</figure>"
                       for title, mpis in _CHARTS if (chart := _chart(situation, mpis)))
    rows = ratio_rows(situation)
    return section(
        situation["title"][0].upper() + situation["title"][1:], f'<div class="pair">{charts}</div>',
        legend(_STYLES), '<div class="beside">',
        wide_table(time_heads(result), time_rows(result, situation)),
        wide_table(RATIO_HEADS, rows) if rows else "no C to compare with", "</div>")


def _chart(situation: dict, mpis: Sequence[str]) -> str:
    own = [way for way in situation["ways"] if way["mpi"] in mpis]
    if not own:
        return ""
    bases = [way for way in situation["ways"] if way["key"] in {each["base"] for each in own}
             and way not in own]
    every = [row for way in situation["ways"] for row in way["times"]]
    lines = [Line(way["title"], _STYLES[BY_KEY[way["key"]].manner],
                  [Point(row["length_bytes"], row["median_us"], row["low_us"], row["high_us"])
                   for row in way["times"]]) for way in [*bases, *own]]
    return line_chart(lines, max(row["high_us"] for row in every),
                      min(row["low_us"] for row in every))


def _first(result: dict) -> str:
    situation = result["situations"][0]
    return (f"<p>{escape(first_remark())} Here, on {escape(situation['title'])}:</p>"
            + wide_table(FIRST_HEADS, first_rows(situation)))


def _causes(result: dict) -> str:
    parts = [f"<h3>{escape(title)}</h3>{wide_table(heads, rows)}"
             for title, heads, rows in cause_tables(result)]
    if result["counts"]:
        parts.append("<h3>System calls of both ranks and packets, two hosts, no limit</h3>"
                     + wide_table(COUNT_HEADS, count_rows(result)))
    return "\n".join(parts)


def _commands(result: dict) -> str:
    options = [f"--mpi {','.join(result['mpis'])}"] if result["mpis"] else []
    options += ["--quick"] if result["quick"] else []
    options += [f"--only {','.join(result['only'])}"] if result["only"] else []
    options += [f"--trips {result['trips'] * result['rounds']}"]
    return "\n".join(["scripts/setup.sh --studies", "make build",
                      f"./mutirao study {result['study']} {' '.join(options)}"])


def _raw(result: dict) -> str:
    rows = [[situation["title"], way["title"], size(row["length_bytes"]), row["count"],
             *(f"{row[name]:g}" for name in ("first_us", "median_us", "low_us", "high_us",
                                             "fast_us", "slow_us"))]
            for situation in result["situations"] for way in situation["ways"]
            for row in way["times"]]
    return table(["situation", "way", "size", "round trips", "first, us", "median", "from", "to",
                  "5% below", "95% below"], rows)
