"""`study allgather` as one HTML page that needs nothing beside itself."""

from collections.abc import Mapping, Sequence

from mutirao.base.units import size
from mutirao.pages.html import Page, judged, legend, listed, section, soft, table, wide_table
from mutirao_studies.line_chart import Line, Point, line_chart
from mutirao_studies.page_parts import beside_paper, how_made
from mutirao_studies.paper_001.allgather_cells import Cell, bars, cells_of, verdicts
from mutirao_studies.paper_001.allgather_tables import (
    CELL_HEADS,
    CHOICE,
    PREDICTION_HEADS,
    by_ranks,
    cell_rows,
    extremes,
    heads,
    milliseconds,
    paper_rows,
    place_rows,
    place_title,
    predicted_rows,
    prediction_rows,
    remarks,
    simulated_rows,
)
from mutirao_studies.paper_001.paper_001 import ALGORITHMS, CITATION, DIFFERENCES, MODEL_SOURCES

_STYLES = {name: f"l{number}"
           for number, name in enumerate([CHOICE, *(each.name for each in ALGORITHMS)])}
_Rows = Sequence[tuple[str, Mapping[int, float]]]


def make_page(result: dict) -> Page:
    cells = cells_of(result)
    lead = ("Paper 001 timed Open MPI's algorithms for MPI_Allgather one by one, and saw which of them its"
            " fixed rule picks. The same here, with mutirao's catalogue and its choice beside them.")
    statements = table(["statement", "the paper's table", "here, simulated"],
                       [[each.statement, each.paper, each.here] for each in verdicts(cells)])
    its_sections = "\n".join([
        *(_simulated(ranks, own) for ranks, own in by_ranks(cells).items()),
        section("What the paper says, and what is seen", f'<div class="scroll prose">{statements}</div>'), _predicted(result),
        *map(_place, result["places"]),
        beside_paper(CITATION, DIFFERENCES, "<h3>The model, and where its figures come from</h3>",
                     listed(MODEL_SOURCES))])
    reached = [(judged(bar.holds), bar.reached, bar.what)
               for bar in bars(cells)] if cells else []
    return Page("Does the MPI library pick a good allgather?", lead,
                how_made(result, result["simulator"]), its_sections, _commands(result), _raw(result),
                result, reached, remarks(result))


def _simulated(ranks: int, cells: Sequence[Cell]) -> str:
    lengths = [cell.length_bytes for cell in cells]
    rows = simulated_rows(cells)
    return section(
        f"{ranks} processes, placed cyclically on two hosts",
        '<p>Time of one call by block, in ms. Of the paper\'s algorithms the <b class="best">best</b> and the'
        ' <b class="worst">worst</b> are marked.</p>', '<div class="beside">',
        f"<figure><h3>Table 1, the paper</h3>{_marked(paper_rows(ranks), lengths)}</figure>",
        f"<figure><h3>Here, simulated</h3>{_marked(rows, lengths)}</figure></div>",
        f"<figure>{_chart(rows)}</figure>",
        legend({name: style for name, style in _STYLES.items() if name in dict(rows)}),
        "<h3>Cell by cell</h3>",
        soft("Rules: right where what they pick is within 5% of the best of the paper's algorithms,"
             " otherwise its time as a multiple. mutirao's choice is judged by the best of all. The last two"
             " columns: how many times as fast as the best of the paper's algorithms the catalogue's best"
             " is, and any algorithm could be in this model."),
        wide_table(CELL_HEADS, cell_rows(cells)))


def _marked(rows: _Rows, lengths: Sequence[int]) -> str:
    marks = extremes([(name, {length: row[length] for length in lengths}) for name, row in rows])
    return wide_table(heads(lengths), [
        [name, *((f'<td class="{marks.get((name, length), "")}">{milliseconds(row[length])}</td>',)
                 for length in lengths)] for name, row in rows])


def _chart(rows: _Rows) -> str:
    lines = [Line(name, _STYLES[name], [Point(length, us, us, us) for length, us in row.items()])
             for name, row in rows if name in _STYLES]
    every = [point.us for line in lines for point in line.points]
    return line_chart(lines, max(every), min(every))


def _predicted(result: dict) -> str:
    if not result["predicted"]:
        return ""
    tables = []
    for ranks in dict.fromkeys(cell["ranks"] for cell in result["predicted"]):
        rows = predicted_rows(result, ranks)
        cells = [[name, *map(milliseconds, row.values())] for name, row in rows]
        tables.append(f"<h3>{ranks} processes, predicted</h3>{wide_table(heads(list(rows[0][1])), cells)}")
    ratios = prediction_rows(result)
    check = ("<h3>Beside the simulator, over all cells</h3>" + wide_table(PREDICTION_HEADS, ratios)
             if ratios else "")
    return section("The same by mutirao's predictor",
                   "<p>The same schedules on the same model, without the simulator: each checks the"
                   " other.</p>", check, *tables)


def _place(place: dict) -> str:
    return section(place_title(place),
                   "<p>Real time in ms, by block. Open MPI's algorithms are forced by"
                   " coll_tuned_allgather_algorithm; ranks are placed in blocks.</p>",
                   wide_table(*place_rows(place)))


def _commands(result: dict) -> str:
    options = [*(["--quick"] if result["quick"] else []),
               *([f"--only {','.join(result['only'])}"] if result["only"] else [])]
    return "\n".join(["scripts/setup.sh --studies", "make build",
                      " ".join([f"./mutirao study {result['study']}", *options])])


def _raw(result: dict) -> str:
    rows = [[row["ranks"], size(row["length_bytes"]), name, f"{us:.2f}"]
            for row in result["simulated"]
            for name, us in {**row["forced_us"], "SMPI's selector": row["selector_us"], **row["catalogue_us"]}.items()]
    real = [[f"{place['part']}, {place['ranks']}", size(int(length)), name,
             f"{1000 * times['median']:.2f} ({1000 * times['low']:.2f} to {1000 * times['high']:.2f})"]
            for place in result["places"] for name, row in place["times_ms"].items()
            for length, times in row.items()]
    return table(["ranks", "block", "algorithm", "us"], [*rows, *real])
