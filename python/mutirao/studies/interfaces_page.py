"""The study of interfaces as one HTML page that needs nothing beside itself, and the image as PNG."""

import base64
import json
from collections.abc import Sequence
from html import escape
from pathlib import Path

from mutirao.errors import Failure
from mutirao.studies.chart import Bar, Group, bar_chart
from mutirao.studies.html import (
    legend,
    page_template,
    table,
    tiles,
    warnings,
    write_files,
)
from mutirao.studies.interfaces_statements import verdicts
from mutirao.studies.interfaces_tables import (
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
    remarks,
    table_2_rows,
    traffic_rows,
)
from mutirao.studies.paper_002 import TABLE_2_SIDE, TABLE_2_WORKERS
from mutirao.units import counted

# Colours of the style sheet, by the place in the table; more transports begin again.
_COLOURS = ("a3", "a5", "a2", "a4", "a0", "a6", "a7", "a8", "a1")
_FIGURE_7_WORKERS = 16


def write_page(result: dict, folder: Path) -> list[Path]:
    """The page, the raw values and the image beside it."""
    files = write_files(result, make_page(result), folder)
    image = folder / f"{result['study']}.png"
    try:
        image.write_bytes(base64.b64decode(result["image"]["png_base64"]))
    except OSError as error:
        raise Failure(f"cannot write {error.filename}: {error.strerror}") from None
    return [*files, image]


def make_page(result: dict) -> str:
    template = page_template("interfaces_page.html", "one program over many interfaces")
    return template.substitute(
        points=result["plan"]["points"], made=escape(_how_made(result)),
        warnings=warnings(remarks(result)), tiles=_tiles(result),
        figures="\n".join(_figure(result, number, side) for number, side in figures(result)),
        figure_7=_figure_7(result), verdicts=_verdicts(result),
        table_2_workers=TABLE_2_WORKERS, table_2_side=TABLE_2_SIDE,
        table_2=table(TABLE_2_COLUMNS, table_2_rows(result)) if table_2_rows(result)
        else "not measured",
        launching=table(*launch_rows(result)), killed=table(KILLED_COLUMNS, killed_rows(result)),
        traffic=table(*traffic_rows(result)), overhead=_items(overhead_lines(result)),
        sha256=result["image"]["sha256"], image=result["image"]["png_base64"],
        citation=escape(result["paper"]["citation"]),
        differences=_items(result["paper"]["differences"]), commands=escape(_commands(result)),
        raw=_raw(result), json=escape(json.dumps(result)))


def _how_made(result: dict) -> str:
    machine, plan = result["machine"], result["plan"]
    return (f"mutirao {result['mutirao']}, {result['made']}, {machine['processors']} processors,"
            f" {machine['system']}; medians of {counted(plan['repeat'], 'run')}; at most"
            f" {plan['iterations']} iterations a point; the study took {result['seconds']} s")


def _items(lines: Sequence[str]) -> str:
    return "\n".join(f"<li>{escape(line)}</li>" for line in lines)


def _tiles(result: dict) -> str:
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
    return tiles(shown)


def _colour(number: int) -> str:
    return _COLOURS[number % len(_COLOURS)]


def _legend(result: dict) -> str:
    return legend({transport["title"]: _colour(number)
                   for number, transport in enumerate(result["transports"])})


def _bars(result: dict, workers: int, side: int) -> list[Bar]:
    bars = []
    for number, transport in enumerate(result["transports"]):
        value = median_of(transport, workers, side) or 0.0
        bars.append(Bar([(_colour(number), value, f"{transport['title']}: {value:.3f} s")]))
    return bars


def _figure(result: dict, number: int, side: int) -> str:
    groups = [Group(counted(workers, "worker"), _bars(result, workers, side))
              for workers in result["plan"]["workers"]]
    return f"""<section>
<h2>Figure {number}: messages of {message_bytes(result, side)} bytes</h2>
<p class="soft">Return time: from when all workers have asked until the last task is done.</p>
<figure class="scroll">{bar_chart(groups, "s")}</figure>
{_legend(result)}
<div class="scroll">{table(*figure_rows(result, side))}</div>
</section>"""


def _figure_7(result: dict) -> str:
    if _FIGURE_7_WORKERS not in result["plan"]["workers"]:
        return "<p>Not measured.</p>"
    groups = [Group(f"{message_bytes(result, side)} bytes", _bars(result, _FIGURE_7_WORKERS, side))
              for side in result["plan"]["sides"]]
    return f'<figure class="scroll">{bar_chart(groups, "s")}</figure>\n{_legend(result)}'


def _verdicts(result: dict) -> str:
    return table(["source", "statement", "holds here", "measured"],
                 [[verdict.source, verdict.statement, verdict.holds, verdict.here]
                  for verdict in verdicts(result)])


def _commands(result: dict) -> str:
    quick = " --quick" if result["quick"] else ""
    return "\n".join(["scripts/setup.sh --studies",
                      f"./mutirao study {result['study']} --mpi {','.join(result['mpis'])}{quick}",
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
