"""What `study ping-pong` says, for the terminal and for its page: tables of text within 80 columns."""

import textwrap
from collections.abc import Sequence
from statistics import median

from mutirao.base.tables import text_table
from mutirao.base.units import rate, size
from mutirao.measure.circumstances import busy_remarks
from mutirao_studies.page_parts import left_out_lines
from mutirao_studies.paper_003.paper_003 import CLAIMS, FIRST, Claim
from mutirao_studies.paper_003.ping_pong_causes import ONE_HOST
from mutirao_studies.paper_003.ping_pong_times import Ratio, ratios
from mutirao_studies.paper_003.ping_pong_ways import BY_KEY, JAVA, C

_SHOWN_BYTES = (1, 1 << 10, 1 << 14, 1 << 16, 1 << 20)
_SMALL_BYTES = 1 << 13  # below the 16 KiB from which on the paper sees both converge
# The same message as arrays (or pickled) and as memory that the library reads itself.
_COPYING = (("arrays-intel", "direct-intel"), ("arrays-openmpi-4", "direct-openmpi-4"),
            ("pickled-mpich-5", "buffers-mpich-5"))


def microseconds(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 1000 else f"{value:.0f}"


def how_many(result: dict) -> str:
    trips = f"medians of {result['trips'] - 1} round trips"
    return trips if result["rounds"] == 1 else f"medians of {result['rounds']} {trips}"


def time_heads(result: dict) -> list[str]:
    return ["us, one way", *(size(length) for length in _shown(result))]


def _shown(result: dict) -> list[int]:
    return [length for length in _SHOWN_BYTES if length in result["sizes_bytes"]]


def time_rows(result: dict, situation: dict) -> list[list[str]]:
    rows = []
    for way in situation["ways"]:
        by_size = {row["length_bytes"]: row["median_us"] for row in way["times"]}
        rows.append([way["title"], *(microseconds(by_size[length]) for length in _shown(result))])
    return rows


RATIO_HEADS = ("time as a multiple of C's", "1 B to 8 KiB", "between", "1 MiB", "between")


def ratio_rows(situation: dict) -> list[list[str]]:
    """Of each way in another language to C on its library."""
    rows = []
    for way in situation["ways"]:
        by_size = ratios_to_c(situation, way)
        if way["language"] != C and by_size:
            rows.append([way["title"], *_ratio_cells(over(by_size, 1, _SMALL_BYTES)),
                         *_ratio_cells(by_size.get(1 << 20))])
    return rows


def _ratio_cells(value: Ratio | None) -> list[str]:
    return ["", ""] if value is None else [f"{value.value:.2f}",
                                           f"{value.low:.2f}..{value.high:.2f}"]


def ratios_to_c(situation: dict, way: dict) -> dict[int, Ratio]:
    """By size; nothing where C did not run."""
    base = next((each for each in situation["ways"] if each["key"] == way["base"]), None)
    return ratios(way["rounds"], base["rounds"]) if base else {}


def over(by_size: dict[int, Ratio], least_bytes: int, most_bytes: int) -> Ratio | None:
    """The medians of value, lower and upper end over some sizes."""
    some = [value for length, value in by_size.items() if least_bytes <= length <= most_bytes]
    return some and Ratio(*(median(getattr(value, name) for value in some)
                            for name in ("value", "low", "high"))) or None


def claim_lines(result: dict) -> list[str]:
    lines = []
    for claim in CLAIMS:
        lines.append(f"The paper: {claim.statement} (a ratio of {claim.ratio:g}).")
        lines += [f"{situation['title']}: {_judged(claim, situation)}"
                  for situation in result["situations"]]
    return lines


def _judged(claim: Claim, situation: dict) -> str:
    found = {way["key"]: value.value for way in situation["ways"] if way["language"] == JAVA
             if (value := over(ratios_to_c(situation, way), claim.least_bytes, claim.most_bytes))}
    if not found:
        return "no Java was measured beside C"
    hold = [value for value in found.values()
            if claim.ratio / claim.within <= value <= claim.ratio * claim.within]
    return (f"{min(found.values()):.2f} to {max(found.values()):.2f} in {len(found)} ways of Java;"
            f" within {claim.within - 1:.0%} of the paper's: {len(hold)}")


FIRST_HEADS = ("the first round trip", "job's, us", "x median", "sizes', x median")


def first_rows(situation: dict) -> list[list[str]]:
    """Of the job and of each later size, as a multiple of that size's median."""
    rows = []
    for way in situation["ways"]:
        first, *later = way["times"]
        rows.append([way["title"], microseconds(2 * first["first_us"]),
                     f"{first['first_us'] / first['median_us']:.1f}",
                     f"{median(row['first_us'] / row['median_us'] for row in later):.1f}"
                     if later else ""])
    return rows


def first_remark() -> str:
    return f"The paper: {FIRST}."


def cause_tables(result: dict) -> list[tuple[str, list[str], list[list[str]]]]:
    """Title, heads and rows, for each question."""
    tables: dict[str, tuple[str, list[str], list[list[str]]]] = {}
    titles = {situation["key"]: situation["title"] for situation in result["situations"]}
    for cause in result["causes"]:
        where = titles.get(cause["situation"], "two hosts, no limit")
        title = f"{cause['question']}, {where}: {cause['base']} -> {cause['changed']}, us"
        sizes = [size(row["base"]["length_bytes"]) for row in cause["rows"]]
        _, _, rows = tables.setdefault(title, (title, ["", *sizes], []))
        rows.append([BY_KEY[cause["way"]].title, *(
            f"{microseconds(row['base']['median_us'])} -> {microseconds(row['changed']['median_us'])}"
            for row in cause["rows"])])
    return list(tables.values())


COUNT_HEADS = ("in one round trip", "size", "send", "receive", "wait", "futex", "packets")


def count_rows(result: dict) -> list[list[str]]:
    return [[BY_KEY[row["way"]].title, size(row["length_bytes"]),
             *(f"{row[name]:.1f}" for name in COUNT_HEADS[2:])] for row in result["counts"]]


def copy_lines(result: dict) -> list[str]:
    """What handing over by copies costs beside handing over memory, on one host."""
    lines = []
    for situation in result["situations"]:
        times = {way["key"]: way["times"][-1] for way in situation["ways"]}
        for copying, direct in _COPYING if situation["key"] == ONE_HOST else ():
            if copying in times and direct in times:
                length = times[copying]["length_bytes"]
                more_us = times[copying]["median_us"] - times[direct]["median_us"]
                by = f"than by {BY_KEY[direct].title.split(', ')[-1]}"
                lines.append(f"{BY_KEY[copying].title}: {size(length)} takes " + (
                    f"{microseconds(more_us)} us longer {by}, as copying it once at"
                    f" {rate(length / more_us)}" if more_us > 0 else f"no longer {by}"))
    return lines


def print_tables(result: dict) -> None:
    for situation in result["situations"]:
        print(text_table(time_heads(result), time_rows(result, situation),
                            f"{situation['title']}: {how_many(result)}, halved") + "\n")
        if rows := ratio_rows(situation):
            print(text_table(RATIO_HEADS, rows, situation["title"]) + "\n")
    _print_lines(claim_lines(result))
    for situation in result["situations"][:1]:
        print(text_table(FIRST_HEADS, first_rows(situation), situation["title"]))
    _print_lines([first_remark()])
    for title, heads, rows in cause_tables(result):
        print(text_table(heads, rows, textwrap.fill(title, 80)) + "\n")
    if result["counts"]:
        print(text_table(COUNT_HEADS, count_rows(result),
                            "System calls of both ranks and packets, two hosts, no limit") + "\n")
    _print_lines(copy_lines(result))
    _print_lines([*left_out_lines(result), *remarks(result)])


def _print_lines(lines: Sequence[str]) -> None:
    for line in lines:
        print(textwrap.fill(line, 80, subsequent_indent="  "))
    if lines:
        print()


def remarks(result: dict) -> list[str]:
    overruns = {situation["title"]: sum(way["overruns"] for way in situation["ways"])
                for situation in result["situations"]}
    return [*busy_remarks(result),
            *(f"{title}: the lab's router was too slow for {count} packets"
              for title, count in overruns.items() if count)]
