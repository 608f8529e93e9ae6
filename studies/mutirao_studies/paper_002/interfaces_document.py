"""What the study of interfaces shows: the paper's figures and tables, its statements, and the image."""

import base64
import statistics
from collections.abc import Sequence

from mutirao.base.tables import Table
from mutirao.base.units import counted
from mutirao.pages.html import soft
from mutirao_studies.account import command_of
from mutirao_studies.document import Document, Drawn, Lines, Section, beside_paper
from mutirao_studies.paper_002.interfaces_statements import verdicts
from mutirao_studies.paper_002.paper_002 import (
    ACROSS_A_LAB,
    CITATION,
    DIFFERENCES,
    FIGURES,
    MESSAGE_BYTES,
    ON_THIS_MACHINE,
    TABLE_2_S,
    TABLE_2_SIDE,
    TABLE_2_WORKERS,
)

_FIGURE_7_WORKERS = 16


def document(result: dict) -> Document:
    plan, image = result["plan"], result["image"]
    lead = (f"A master hands out the squares of a Mandelbrot image of {plan['points']} × {plan['points']}"
            " points; workers ask, get, compute, return, and ask again until they are told to stop. The"
            " computation and the one structure that travels are the same everywhere. Only the transport"
            " differs.")
    return Document("One program over many interfaces", lead, result, [
        *(_figure(result, number, side) for number, side in FIGURES.items() if side in plan["sides"]),
        _figure_7(result),
        Section("The paper’s statements", [
            "<p>Checked with medians of return times; MPI is LAM/MPI as in the paper, where it is there.</p>",
            Lines([f"{each.source}: {each.statement} Holds here: {each.holds}. {each.here}" for each in verdicts(result)])]),
        Section("Beside the return time", _tables(result)),
        Section("The image", [
            soft(f"The same bytes from every run; SHA-256 of the points: {image['sha256']}"),
            f'<img src="data:image/png;base64,{image["png_base64"]}" alt="The Mandelbrot set" width="{plan["points"]}"'
            f' height="{plan["points"]}" style="max-width: 100%; height: auto">']),
        beside_paper(CITATION, [ACROSS_A_LAB if result["network"] else ON_THIS_MACHINE, *DIFFERENCES])],
        _tiles(result),
        [_place(result), f"medians of {counted(plan['repeat'], 'run')}",
         f"at most {plan['iterations']} iterations a point"],
        "\n".join(["scripts/setup.sh --studies",
                   command_of(result, *([f"--lab {result['network']}"] if result["network"] else [])),
                   f"./mutirao study {result['study']} --only sockets,pvm",
                   "build/bin/mandelbrot-sockets --workers 4 --side 25 --image image.pgm"]),
        _remarks(result), base64.b64decode(image["png_base64"]))


def _place(result: dict) -> str:
    return (f"measured across the {result['hosts']} hosts of the lab's {result['network']}" if result["network"] else
            "measured on one host")


def _remarks(result: dict) -> list[str]:
    processors, processes = result["machine"]["processors"], max(result["plan"]["workers"]) + 1
    return [_place(result).capitalize(), *(
        [f"{processors} processors for up to {processes} processes: who waits by polling takes the processor from those"
         " who compute"] if processors and processes > processors else [])]


def _tiles(result: dict) -> list[tuple[str, str, str]]:
    checked = [verdict for verdict in verdicts(result) if verdict.holds != "not measured"]
    holding = sum(verdict.holds == "yes" for verdict in checked)
    workers, side = result["plan"]["workers"][0], result["plan"]["sides"][0]
    best = min(result["transports"], key=lambda transport: _median(transport, workers, side))
    return [("tile good", str(len(result["transports"])), "interfaces, one image"),
            ("tile", f"{holding} of {len(checked)}", "statements of the paper hold here"),
            ("tile", f"{_median(best, workers, side):.3f} s",
             f"{best['title']}, the fastest with {counted(workers, 'worker')} and messages"
             f" of {MESSAGE_BYTES[side]} bytes")]


# --- figures and tables ---------------------------------------------------------------------------------


def _cell(transport: dict, workers: int, side: int) -> dict:
    """Every transport that is shown has measured all of the plan."""
    return next(cell for cell in transport["cells"] if (cell["workers"], cell["side"]) == (workers, side))


def _median(transport: dict, workers: int, side: int, what: str = "return_s") -> float:
    return statistics.median(_cell(transport, workers, side)[what])


def _medians(result: dict, title: str, columns: Sequence, cells: Sequence[tuple[int, int]],
             what: str = "return_s") -> Table:
    return Table(title, list(map(str, columns)), [
        [transport["title"], *(f"{_median(transport, *cell, what):.3f}" for cell in cells)]
        for transport in result["transports"]])


def _drawn(table: Table) -> Drawn:
    return Drawn(table, range(1, len(table.columns)))


def _figure(result: dict, number: int, side: int) -> Section:
    title, workers = f"Figure {number}: messages of {MESSAGE_BYTES[side]} bytes", result["plan"]["workers"]
    return Section(title, [
        soft("Return time: from when all workers have asked until the last task is done."),
        _drawn(_medians(result, f"{title}: return time in s", ["workers", *workers],
                        [(count, side) for count in workers]))])


def _figure_7(result: dict) -> Section:
    sides = result["plan"]["sides"]
    return Section(f"Figure 7: {_FIGURE_7_WORKERS} workers, by the length of messages", [
        _drawn(_medians(result, "Return time in s", ["bytes", *(MESSAGE_BYTES[side] for side in sides)],
                        [(_FIGURE_7_WORKERS, side) for side in sides]))])


def _tables(result: dict) -> Sequence[Table]:
    transports, workers, sides = result["transports"], result["plan"]["workers"], result["plan"]["sides"]
    return [Table(f"Table 2: what a worker of {TABLE_2_WORKERS} computed, in s, from the whole message until the"
                  f" answer is filled in, on an average of the workers; sides of {TABLE_2_SIDE}",
                  ("s", "paper", "here"),
                  [(each["title"], f"{TABLE_2_S[each['in_paper']]:.3f}" if each["in_paper"] else "",
                    f"{_median(each, TABLE_2_WORKERS, TABLE_2_SIDE, 'computed_s'):.3f}") for each in transports]),
            _medians(result, "Launching and ending, in s, by workers: what the whole command takes beyond the return"
                     " time", ["workers", *workers], [(count, sides[0]) for count in workers], "launch_s"),
            Table("When a worker is killed: it kills itself when it gets its task, after a quarter of all",
                  ("", "noticed after, ms", "then"),
                  [(each["title"], *_killed(each["killed"])) for each in transports]),
            Table("What crosses a transport, the same on all: an ask and a stop for each worker, two for each task",
                  ("side", "workers", "bytes of a message", "messages", "bytes in all"),
                  [(side, count, *(_cell(transports[0], count, side)[key]
                                   for key in ("message_bytes", "messages", "bytes")))
                   for side in sides for count in workers])]


def _killed(killed: dict) -> tuple[str, str]:
    if not killed:
        return "", "not tried: it had failed before"
    if killed["goes_on"]:
        return f"{killed['noticed_ms']:.1f}", "another took its task; same image"
    return "", f"the job ended with {killed['exit_code']}"
