"""What `study allgather` shows: the paper's table and the simulated one, cell by cell, statement by statement; then
predictions, and what was measured on this machine and in the lab."""

from collections.abc import Mapping, Sequence

from mutirao.base.tables import Table
from mutirao.base.units import ratio, size
from mutirao.catalogue.predicted import OWN_CHOICE
from mutirao.pages.html import judged, legend, listed, soft
from mutirao_studies.account import command_of
from mutirao_studies.document import Document, Lines, Section, beside_paper, html_of_table
from mutirao_studies.line_chart import Line, Point, line_chart
from mutirao_studies.paper_001.allgather_cells import NEAR_BEST, Cell, cells_of, findings, verdicts
from mutirao_studies.paper_001.paper_001 import ALGORITHMS, CITATION, DIFFERENCES, MODEL_SOURCES, RULE, table_1_us

CHOICE, SELECTOR = "mutirao's choice", "SMPI's selector"
_OWN = [each.name for each in ALGORITHMS]
_STYLES = {name: f"l{number}" for number, name in enumerate([CHOICE, *_OWN])}
_SHORT = {"neighbor exchange": "neighbor exch.", "recursive doubling": "recursive doubl.", OWN_CHOICE: CHOICE}
Rows = Sequence[tuple[str, Mapping[int, float]]]  # by name and length, in us


def document(result: dict) -> Document:
    cells = cells_of(result)
    lead = ("Paper 001 timed Open MPI's algorithms for MPI_Allgather one by one, and saw which of them its"
            " fixed rule picks. The same here, with mutirao's catalogue and its choice beside them.")
    return Document("Does the MPI library pick a good allgather?", lead, result, [
        *(_simulated(ranks, [cell for cell in cells if cell.ranks == ranks])
          for ranks in dict.fromkeys(cell.ranks for cell in cells)),
        Section("What the paper says, and what is seen", [Lines(
            [f"{each.statement} The paper's table: {each.paper}. Here, simulated: {each.here}."
             for each in verdicts(cells)])]),
        *_predicted(result), *map(_place, result["places"]),
        beside_paper(CITATION, DIFFERENCES, "<h3>The model, and where its figures come from</h3>",
                     listed(MODEL_SOURCES))],
        [(judged(found.met), found.measured, found.asked) for found in findings(cells)] if cells else [],
        [result["simulator"]],
        "\n".join(["scripts/setup.sh --studies", "make build", command_of(result)]))


def _table(title: str, rows: Rows) -> Table:
    lengths = sorted({length for _, row in rows for length in row})
    return Table(title, ["ms", *(size(length).replace(" ", "").replace("iB", "") for length in lengths)],
                 [[_SHORT.get(name, name), *(_milliseconds(row.get(length)) for length in lengths)]
                  for name, row in rows])


def _milliseconds(us: float | None) -> str:
    """Three digits that count."""
    if us is None:
        return ""
    value = us / 1000
    return f"{value:.{3 if value < 1 else 2 if value < 10 else 1 if value < 100 else 0}f}"


def _simulated_rows(cells: Sequence[Cell]) -> Rows:
    """Those of the paper's table, and below them what mutirao adds; cells of one number of ranks."""
    def row(value) -> dict[int, float]:
        return {cell.length_bytes: value(cell) for cell in cells}

    names = [name for name in _OWN if all(name in cell.forced_us for cell in cells)]
    return [(RULE, row(lambda cell: cell.rule_us)), (SELECTOR, row(lambda cell: cell.selector_us)),
            *((name, row(lambda cell, name=name: cell.forced_us[name])) for name in names),
            ("best of catalogue", row(lambda cell: cell.catalogue_us[cell.best_of_catalogue])),
            (CHOICE, row(lambda cell: cell.choice_us))]


def _simulated(ranks: int, cells: Sequence[Cell]) -> Section:
    lengths = [cell.length_bytes for cell in cells]
    rows = _simulated_rows(cells)
    lines = [Line(name, _STYLES[name], [Point(length, us) for length, us in row.items()])
             for name, row in rows if name in _STYLES]
    return Section(f"{ranks} processes, placed cyclically on two hosts", [
        "<p>Time of one call by block, in ms.</p>",
        _table(f"{ranks} processes: Table 1, the paper", [
            (name, {length: row[length] for length in lengths}) for name, row in table_1_us(ranks).items()]),
        _table(f"{ranks} processes, simulated", rows),
        f"<figure>{line_chart(lines)}</figure>",
        legend({name: style for name, style in _STYLES.items() if name in dict(rows)}),
        "<h3>Cell by cell</h3>",
        soft("Rules: right where what they pick is within 5% of the best of the paper's algorithms,"
             " otherwise its time as a multiple. mutirao's choice is judged by the best of all. The last two"
             " columns: how many times as fast as the best of the paper's algorithms the catalogue's best"
             " is, and any algorithm could be in this model."),
        html_of_table(_cells(cells))])


def _cells(cells: Sequence[Cell]) -> Table:
    def row(cell: Cell) -> tuple[str, ...]:
        best_us = cell.forced_us[cell.best_forced]
        rules = ("right" if us / best_us <= NEAR_BEST else f"× {ratio(us / best_us)}"
                 for us in (cell.rule_us, cell.selector_us))
        return (f"{cell.ranks}, {size(cell.length_bytes)}", cell.best_forced, *rules, cell.chosen,
                ratio(cell.choice_to_best), cell.best_of_catalogue, ratio(cell.gain), ratio(best_us / cell.least_us))

    return Table("", ("ranks, block", "paper's best", "4.0's rule", "SMPI's", "mutirao takes", "× best",
                      "catalogue's best", "gain", "possible"), list(map(row, cells)))


def _predicted(result: dict) -> list[Section]:
    if not result["predicted"]:
        return []
    of_ranks: dict[int, dict[str, dict[int, float]]] = {}
    for cell in result["predicted"]:
        for name, us in cell["times_us"].items():
            of_ranks.setdefault(cell["ranks"], {}).setdefault(name, {})[cell["length_bytes"]] = us
    tables = [_table(f"{ranks} processes, predicted", list(rows.items())) for ranks, rows in of_ranks.items()]
    ratios = _prediction_rows(result)
    beside = [Table("mutirao's predictor beside the simulator, over all cells",
                    ("predicted / simulated", "median", "least", "most"), ratios)] if ratios else []
    return [Section("The same by mutirao's predictor", [
        "<p>The same schedules on the same model, without the simulator: each checks the other.</p>", *beside,
        *(map(html_of_table, tables) if ratios else tables)])]


def _prediction_rows(result: dict) -> list[list[str]]:
    """The predictor's time as a multiple of the simulator's, of every algorithm of the catalogue in every cell."""
    predicted = {(row["ranks"], row["length_bytes"]): row["times_us"] for row in result["predicted"]}
    found: dict[str, list[float]] = {}
    for row in result["simulated"]:
        times = predicted.get((row["ranks"], row["length_bytes"]), {})
        for name, us in row["catalogue_us"].items():
            if name in times:
                found.setdefault(name, []).append(times[name] / us)
    return [[name, ratio(sorted(values)[len(values) // 2]), ratio(min(values)), ratio(max(values))]
            for name, values in found.items()]


def _place(place: dict) -> Section:
    where = "two hosts of the lab" if place["hosts"] > 1 else "this machine"
    title = f"{place['ranks']} ranks on {where}, {place['mpi_title']}, medians of {place['repetitions']}"
    rows = [(name, {int(length): 1000 * times["median"] for length, times in row.items()})
            for name, row in place["times_ms"].items()]
    return Section(title, ["<p>Real time in ms, by block. Open MPI's algorithms are forced by"
                           " coll_tuned_allgather_algorithm; ranks are placed in blocks.</p>", _table(title, rows)])
