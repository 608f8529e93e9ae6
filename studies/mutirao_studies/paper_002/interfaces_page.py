"""The study of interfaces as one HTML page that needs nothing beside itself, and the image as PNG."""

import base64
from pathlib import Path

from mutirao.base.errors import Failure
from mutirao.base.units import counted
from mutirao.pages.html import Page, filled, listed, section, soft, table, wide_table
from mutirao_studies.chart import Bar, Group, bar_chart
from mutirao_studies.page_parts import beside_paper, how_made, write_files
from mutirao_studies.paper_002.interfaces_statements import verdicts
from mutirao_studies.paper_002.interfaces_tables import (
    KILLED_COLUMNS,
    TABLE_2_COLUMNS,
    cell_of,
    figure_rows,
    figures,
    killed_rows,
    launch_rows,
    median_of,
    message_bytes,
    overhead_lines,
    place,
    remarks,
    table_2_rows,
    traffic_rows,
)
from mutirao_studies.paper_002.paper_002 import TABLE_2_SIDE, TABLE_2_WORKERS

_FIGURE_7_WORKERS = 16


def write_page(result: dict, folder: Path) -> list[Path]:
    """The page, the raw values and the image beside it."""
    files = write_files(make_page(result), folder)
    image = folder / f"{result['study']}.png"
    try:
        image.write_bytes(base64.b64decode(result["image"]["png_base64"]))
    except OSError as error:
        raise Failure(f"cannot write {error.filename}: {error.strerror}") from None
    return [*files, image]


def make_page(result: dict) -> Page:
    plan, image = result["plan"], result["image"]
    lead = (f"A master hands out the squares of a Mandelbrot image of {plan['points']} × {plan['points']}"
            " points; workers ask, get, compute, return, and ask again until they are told to stop. The"
            " computation and the one structure that travels are the same everywhere. Only the transport"
            " differs.")
    made = how_made(result, place(result), f"medians of {counted(plan['repeat'], 'run')}",
                    f"at most {plan['iterations']} iterations a point")
    rows = table_2_rows(result)
    its_sections = filled(
        Path(__file__).with_name("interfaces_page.html"), points=plan["points"],
        figures="\n".join(_figure(result, number, side) for number, side in figures(result)),
        figure_7=_figure_7(result), verdicts=_verdicts(result),
        table_2_workers=TABLE_2_WORKERS, table_2_side=TABLE_2_SIDE,
        table_2=table(TABLE_2_COLUMNS, rows) if rows else "not measured",
        launching=table(*launch_rows(result)), killed=table(KILLED_COLUMNS, killed_rows(result)),
        traffic=table(*traffic_rows(result)), overhead=listed(overhead_lines(result)),
        sha256=image["sha256"], image=image["png_base64"],
        beside_paper=beside_paper(result["paper"]["citation"], result["paper"]["differences"]))
    return Page("One program over many interfaces", lead, made, its_sections, _commands(result),
                _raw(result), result, _tiles(result), remarks(result))


def _tiles(result: dict) -> list[tuple[str, str, str]]:
    checked = [verdict for verdict in verdicts(result) if verdict.holds != "not measured"]
    holding = sum(verdict.holds == "yes" for verdict in checked)
    shown = [("tile good", str(len(result["transports"])), "interfaces, one image"),
             ("tile", f"{holding} of {len(checked)}", "statements of the paper hold here")]
    for _, side in figures(result)[:1]:
        workers = result["plan"]["workers"][0]
        best = min(result["transports"],
                   key=lambda transport: median_of(transport, workers, side) or 0)
        shown.append(("tile", f"{median_of(best, workers, side):.3f} s",
                      f"{best['title']}, the fastest with {counted(workers, 'worker')} and messages"
                      f" of {message_bytes(result, side)} bytes"))
    return shown


def _bars(result: dict, workers: int, side: int) -> list[Bar]:
    bars = []
    for transport in result["transports"]:
        value = median_of(transport, workers, side) or 0.0
        style = "a5" if "mutirao" in transport["title"] else "a0"
        cell = cell_of(transport, workers, side)
        bars.append(Bar(transport["title"], [(style, value, f"{transport['title']}: {value:.3f} s")],
                        f"{value:.3f} s", cell["return_s"] if cell else ()))
    return bars


def _figure(result: dict, number: int, side: int) -> str:
    groups = [Group(counted(workers, "worker"), _bars(result, workers, side))
              for workers in result["plan"]["workers"]]
    return section(f"Figure {number}: messages of {message_bytes(result, side)} bytes",
                   soft("Return time: from when all workers have asked until the last task is done."),
                   bar_chart(groups), wide_table(*figure_rows(result, side)))


def _figure_7(result: dict) -> str:
    if _FIGURE_7_WORKERS not in result["plan"]["workers"]:
        return "<p>Not measured.</p>"
    return bar_chart([Group(f"{message_bytes(result, side)} bytes",
                            _bars(result, _FIGURE_7_WORKERS, side))
                      for side in result["plan"]["sides"]])


def _verdicts(result: dict) -> str:
    return table(["source", "statement", "holds here", "measured"],
                 [[verdict.source, verdict.statement, verdict.holds, verdict.here]
                  for verdict in verdicts(result)])


def _commands(result: dict) -> str:
    options = [f"--mpi {','.join(result['mpis'])}", *([f"--lab {result['network']}"] if result["network"] else []),
               *(["--quick"] if result["quick"] else [])]
    return "\n".join(["scripts/setup.sh --studies",
                      f"./mutirao study {result['study']} {' '.join(options)}",
                      f"./mutirao study {result['study']} --only sockets,pvm",
                      "build/bin/mandelbrot-sockets --workers 4 --side 25 --image image.pgm",
                      "build/bin/mandelbrot-socket-overhead --workers 4 --side 10"])


def _raw(result: dict) -> str:
    rows = []
    for transport in result["transports"]:
        for side in result["plan"]["sides"]:
            for workers in result["plan"]["workers"]:
                if cell := cell_of(transport, workers, side):
                    rows.append([transport["title"], workers, cell["message_bytes"], *(
                        ", ".join(f"{value:g}" for value in cell[key])
                        for key in ("return_s", "launch_s", "computed_s"))])
    return table(["interface", "workers", "bytes", "return, s", "launching, s", "computing, s"], rows)
