"""Paper 002's study in the terminal, each table within 80 columns."""

import statistics
import textwrap
from collections.abc import Sequence

from mutirao.base.tables import BEST, text_table
from mutirao.measure.circumstances import busy_remarks
from mutirao_studies.paper_002.interfaces_statements import verdicts
from mutirao_studies.paper_002.paper_002 import FIGURES, TABLE_2_SIDE, TABLE_2_WORKERS

TABLE_2_COLUMNS = ("s", "paper", "here")
KILLED_COLUMNS = ("", "noticed after, ms", "then")


def print_tables(result: dict) -> None:
    print(f"Measured {place(result)}.\n")
    for number, side in figures(result):
        columns, rows = figure_rows(result, side)
        best = min((row for row in rows), key=lambda row: sum(map(float, filter(None, row[1:]))))
        print(text_table(columns, rows, f"Figure {number}: return time in s, messages of"
                            f" {message_bytes(result, side)} bytes", {rows.index(best): BEST}) + "\n")
    if rows := table_2_rows(result):
        print(text_table(TABLE_2_COLUMNS, rows, "Table 2: what a worker of"
                            f" {TABLE_2_WORKERS} computed, on an average; sides of"
                            f" {TABLE_2_SIDE}") + "\n")
    columns, rows = launch_rows(result)
    print(text_table(columns, rows, "Launching and ending, s, by workers") + "\n")
    columns, rows = traffic_rows(result)
    print(text_table(columns, rows, "What crosses a transport, the same on all") + "\n")
    print(text_table(KILLED_COLUMNS, killed_rows(result), "When a worker is killed") + "\n")
    for verdict in verdicts(result):
        _print_wrapped(f"{verdict.source}: {verdict.statement} Here: {verdict.holds}."
                       + (f" {verdict.here}." if verdict.here else ""))
    print()
    for line in [*remarks(result), *overhead_lines(result)]:
        _print_wrapped(line)


def _print_wrapped(line: str) -> None:
    print(textwrap.fill(f"* {line}", 80, subsequent_indent="  "))


def figures(result: dict) -> list[tuple[int, int]]:
    """The number of each figure that was measured, and its side of tasks."""
    return [(number, side) for number, side in FIGURES.items() if side in result["plan"]["sides"]]


def cell_of(transport: dict, workers: int, side: int) -> dict | None:
    return next((cell for cell in transport["cells"]
                 if (cell["workers"], cell["side"]) == (workers, side)), None)


def median_of(transport: dict, workers: int, side: int, what: str = "return_s") -> float | None:
    cell = cell_of(transport, workers, side)
    return statistics.median(cell[what]) if cell else None


def message_bytes(result: dict, side: int) -> int:
    return next(cell["message_bytes"] for transport in result["transports"]
                for cell in transport["cells"] if cell["side"] == side)


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def figure_rows(result: dict, side: int) -> tuple[Sequence[str], list[list[str]]]:
    workers = result["plan"]["workers"]
    return (["workers", *map(str, workers)],
            [[transport["title"], *(_seconds(median_of(transport, count, side))
                                    for count in workers)] for transport in result["transports"]])


def launch_rows(result: dict) -> tuple[Sequence[str], list[list[str]]]:
    workers, side = result["plan"]["workers"], result["plan"]["sides"][0]
    return (["", *map(str, workers)],
            [[transport["title"], *(_seconds(median_of(transport, count, side, "launch_s"))
                                    for count in workers)] for transport in result["transports"]])


def table_2_rows(result: dict) -> list[list[str]]:
    rows = []
    for transport in result["transports"]:
        here = median_of(transport, TABLE_2_WORKERS, TABLE_2_SIDE, "computed_s")
        paper = result["paper"]["table_2_s"].get(transport["in_paper"])
        if here is not None:
            rows.append([transport["title"], _seconds(paper), _seconds(here)])
    return rows


def traffic_rows(result: dict) -> tuple[Sequence[str], list[list[str]]]:
    rows = []
    for side in result["plan"]["sides"]:
        for workers in result["plan"]["workers"]:
            cell = cell_of(result["transports"][0], workers, side)
            rows.append([str(side), str(workers),
                         *(str(cell[key]) for key in ("message_bytes", "messages", "bytes"))])
    return ["side", "workers", "bytes of a message", "messages", "bytes in all"], rows


def killed_rows(result: dict) -> list[list[str]]:
    rows = []
    for transport in result["transports"]:
        killed = transport["killed"]
        if not killed:
            rows.append([transport["title"], "", "not tried: it had failed before"])
        elif killed["goes_on"]:
            rows.append([transport["title"], f"{killed['noticed_ms']:.1f}",
                         "another took its task; same image"])
        else:
            rows.append([transport["title"], "", f"the job ended with {killed['exit_code']}"])
    return rows


def overhead_lines(result: dict) -> list[str]:
    """Of the study's own code on sockets."""
    return [f"Sockets: an exchange of {row['message_bytes']} bytes through the study's code takes"
            f" {row['ratio']:.3f} times as long as in a bare loop of read and write"
            f" ({row['workers']} at a time; medians"
            f" {statistics.median(row['transport_us']):.1f} and"
            f" {statistics.median(row['bare_us']):.1f} us)" for row in result["socket_overhead"]]


def place(result: dict) -> str:
    return (f"across the {result['hosts']} hosts of the lab's {result['network']}" if result["network"] else
            "on one host")


def remarks(result: dict) -> list[str]:
    """What a reader must know of these very numbers."""
    lines = [f"{row['title']} left out: {row['reason'].splitlines()[0]}"
             for row in result["left_out"]]
    processors = result["machine"]["processors"]
    if processors and max(result["plan"]["workers"]) + 1 > processors:
        lines.append(f"{processors} processors for up to {max(result['plan']['workers']) + 1}"
                     " processes: who waits by polling takes the processor from those who compute")
    return [*lines, *busy_remarks(result)]
