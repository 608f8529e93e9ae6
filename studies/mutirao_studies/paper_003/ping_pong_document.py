"""What `study ping-pong` shows: times by size, ratios to C, the paper's claims, and where the time goes."""

from collections.abc import Sequence
from statistics import median

from mutirao.base.tables import Table
from mutirao.base.units import size
from mutirao.measure.intervals import Ratio
from mutirao.pages.html import legend, soft
from mutirao_studies.account import command_of
from mutirao_studies.document import Document, Lines, Section, beside_paper
from mutirao_studies.line_chart import Line, Point, line_chart, side_by_side
from mutirao_studies.paper_003.paper_003 import CITATION, CLAIMS, DIFFERENCES, FIRST, SET_UP, Claim
from mutirao_studies.paper_003.ping_pong import SITUATIONS
from mutirao_studies.paper_003.ping_pong_causes import CABLE
from mutirao_studies.paper_003.ping_pong_times import ratios
from mutirao_studies.paper_003.ping_pong_ways import BY_KEY, JAVA, MANNERS, C

# Classes of the style sheet.
_STYLES = {manner: f"l{number}" for number, manner in enumerate(MANNERS)}
# With one round, and with more.
_BANDS = ("the interval in which the median lies with 95%", "where the medians of the rounds lie")
# One chart for each library; MPJ Express, which has no C, beside that of the paper's C.
_CHARTS = {"MPICH 5": "mpich-5", "Open MPI 5": "openmpi-5", "Intel MPI": "intel", "Open MPI 4": "openmpi-4",
           "MPJ Express, beside C on MPICH 5": ""}
_SHOWN_BYTES = (1, 1 << 10, 1 << 14, 1 << 16, 1 << 20)
_SMALL_BYTES = 1 << 13  # below the 16 KiB from which on the paper sees both converge


def document(result: dict) -> Document:
    lead = (f"Two ranks send a message to and fro, in C, Java and Python. Times are {_how_many(result)},"
            f" halved; the band around a line is {_BANDS[result['rounds'] > 1]}.")
    first = result["situations"][0]
    return Document("Is it the language?", lead, result, [
        *(_situation(result, each) for each in result["situations"]),
        Section("What the paper says, and what is seen", [Lines(claim_lines(result))]),
        Section("The first round trip", [Lines([f"The paper: {FIRST}. Here, on {first['title']}:"]), _first(first)]),
        Section("Where the time goes", [
            "<p>The same job by itself and with one thing changed, one right after the other; medians of half the"
            " round trip.</p>", *_cause_tables(result)]),
        beside_paper(CITATION, DIFFERENCES, soft(f"Measured there on {SET_UP}."))],
        _tiles(result), [", ".join(result["versions"])],
        "\n".join(["scripts/setup.sh --studies", "make build",
                   command_of(result, f"--trips {result['trips'] * result['rounds']}")]))


def _how_many(result: dict) -> str:
    trips = f"medians of {result['trips'] - 1} round trips"
    return trips if result["rounds"] == 1 else f"medians of {result['rounds']} {trips}"


def _microseconds(value: float) -> str:
    return f"{value:.{2 if value < 10 else 1 if value < 1000 else 0}f}"


def _tiles(result: dict) -> list[tuple[str, str, str]]:
    """The paper's two statements, over the paper's cable."""
    return [("tile", f"{min(found.values()):.2f} to {max(found.values()):.2f} ×",
             f"C's time is what Java takes, {_range(claim)} over 100 Mbit/s; the paper: {claim.ratio:g} ×")
            for situation in result["situations"] if situation["key"] == CABLE
            for claim in CLAIMS if (found := _of_java(claim, situation))]


def _range(claim: Claim) -> str:
    least = "" if claim.least_bytes == claim.most_bytes else f"{size(claim.least_bytes)} to "
    return least + size(claim.most_bytes)


def _situation(result: dict, situation: dict) -> Section:
    charts = {title: chart for title, mpi in _CHARTS.items() if (chart := _chart(situation, mpi))}
    sizes = [length for length in result["sizes_bytes"] if length in _SHOWN_BYTES]
    rows = [[way["title"], *(_microseconds(row["median_us"]) for row in way["times"] if row["length_bytes"] in sizes)]
            for way in situation["ways"]]
    return Section(situation["title"][0].upper() + situation["title"][1:], [
        side_by_side("pair", charts), legend(_STYLES),
        Table(f"{situation['title']}: {_how_many(result)}, halved", ["us, one way", *map(size, sizes)], rows),
        *_ratio_tables(situation)])


def _chart(situation: dict, mpi: str) -> str:
    own = [way for way in situation["ways"] if way["mpi"] == mpi]
    if not own:
        return ""
    bases = [way for way in situation["ways"] if way["key"] in {each["base"] for each in own}
             and way not in own]
    every_us = [row[end] for way in situation["ways"] for row in way["times"] for end in ("low_us", "high_us")]
    lines = [Line(way["title"], _STYLES[BY_KEY[way["key"]].manner],
                  [Point(row["length_bytes"], row["median_us"], (row["low_us"], row["high_us"]))
                   for row in way["times"]]) for way in [*bases, *own]]
    return line_chart(lines, beside_us=every_us)


# --- beside C -------------------------------------------------------------------------------------------


def ratios_to_c(situation: dict, way: dict) -> dict[int, Ratio]:
    """By size; nothing where C did not run."""
    base = next((each for each in situation["ways"] if each["key"] == way["base"]), None)
    return ratios(way["rounds"], base["rounds"]) if base else {}


def over(by_size: dict[int, Ratio], least_bytes: int, most_bytes: int) -> Ratio | None:
    """The medians of value, lower and upper end over some sizes."""
    some = [value for length, value in by_size.items() if least_bytes <= length <= most_bytes]
    return some and Ratio(*(median(getattr(value, name) for value in some)
                            for name in ("low", "value", "high"))) or None


def _ratio_tables(situation: dict) -> list[Table]:
    """Of each way in another language to C on its library."""
    def cells(value: Ratio | None) -> list[str]:
        return ["", ""] if value is None else [f"{value.value:.2f}", f"{value.low:.2f}..{value.high:.2f}"]

    rows = [[way["title"], *cells(over(by_size, 1, _SMALL_BYTES)), *cells(by_size.get(1 << 20))]
            for way in situation["ways"] if way["language"] != C and (by_size := ratios_to_c(situation, way))]
    return [Table(situation["title"], ("time as a multiple of C's", "1 B to 8 KiB", "between", "1 MiB", "between"),
                  rows)] if rows else []


def _of_java(claim: Claim, situation: dict) -> dict[str, float]:
    return {way["key"]: value.value for way in situation["ways"] if way["language"] == JAVA
            if (value := over(ratios_to_c(situation, way), claim.least_bytes, claim.most_bytes))}


def claim_lines(result: dict) -> list[str]:
    lines = []
    for claim in CLAIMS:
        lines.append(f"The paper: {claim.statement} (a ratio of {claim.ratio:g}).")
        lines += [f"{situation['title']}: {_judged(claim, situation)}" for situation in result["situations"]]
    return lines


def _judged(claim: Claim, situation: dict) -> str:
    found = _of_java(claim, situation)
    if not found:
        return "no Java was measured beside C"
    hold = [value for value in found.values() if claim.ratio / claim.within <= value <= claim.ratio * claim.within]
    return (f"{min(found.values()):.2f} to {max(found.values()):.2f} in {len(found)} ways of Java;"
            f" within {claim.within - 1:.0%} of the paper's: {len(hold)}")


# --- the first round trip, causes -------------------------------------------------------------------------


def _first(situation: dict) -> Table:
    """Of the job and of each later size, as a multiple of that size's median."""
    rows = []
    for way in situation["ways"]:
        first, *later = way["times"]
        rows.append([way["title"], _microseconds(2 * first["first_us"]),
                     f"{first['first_us'] / first['median_us']:.1f}",
                     f"{median(row['first_us'] / row['median_us'] for row in later):.1f}"])
    return Table("", ("the first round trip", "job's, us", "x median", "sizes', x median"), rows)


def _cause_tables(result: dict) -> Sequence[Table]:
    """One for each question."""
    tables: dict[str, Table] = {}
    for cause in result["causes"]:
        where = SITUATIONS[cause["situation"]].title
        title = f"{cause['question']}, {where}: {cause['base']} -> {cause['changed']}, us"
        sizes = [size(row["base"]["length_bytes"]) for row in cause["rows"]]
        rows = tables.setdefault(title, Table(title, ["", *sizes], [])).rows
        rows.append([BY_KEY[cause["way"]].title, *(
            f"{_microseconds(row['base']['median_us'])} -> {_microseconds(row['changed']['median_us'])}"
            for row in cause["rows"])])
    return list(tables.values())
