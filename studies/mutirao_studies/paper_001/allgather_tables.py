"""Paper 001's study in the terminal, and the rows of its page: tables within 80 columns."""

import textwrap
from collections.abc import Mapping, Sequence

from mutirao.base.tables import text_table
from mutirao.base.units import ratio, size
from mutirao.catalogue.predicted import OWN_CHOICE
from mutirao.measure.circumstances import busy_remarks
from mutirao_studies.page_parts import left_out_lines
from mutirao_studies.paper_001.allgather_cells import NEAR_BEST, Cell, bars, cells_of, verdicts
from mutirao_studies.paper_001.paper_001 import ALGORITHMS, RULE, table_1_us

CHOICE = "mutirao's choice"
SELECTOR = "SMPI's selector"
BEST_OF_CATALOGUE = "best of catalogue"
_SHORT = {"neighbor exchange": "neighbor exch.", "recursive doubling": "recursive doubl.",
          OWN_CHOICE: CHOICE}


def milliseconds(us: float | None) -> str:
    """Three digits that count."""
    if us is None:
        return ""
    value = us / 1000
    return f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 10 else (
        f"{value:.1f}" if value < 100 else f"{value:.0f}")


def short(name: str) -> str:
    return _SHORT.get(name, name)


def heads(lengths: Sequence[int]) -> list[str]:
    return ["ms", *(size(length).replace(" ", "").replace("iB", "") for length in lengths)]


def paper_rows(ranks: int) -> list[tuple[str, dict[int, float]]]:
    return list(table_1_us(ranks).items())


def simulated_rows(cells: Sequence[Cell]) -> list[tuple[str, dict[int, float]]]:
    """Those of the paper's table, and below them what mutirao adds; cells of one number of ranks."""
    def row(value) -> dict[int, float]:
        return {cell.length_bytes: value(cell) for cell in cells}

    names = [each.name for each in ALGORITHMS if all(each.name in cell.forced_us for cell in cells)]
    return [(RULE, row(lambda cell: cell.rule_us)), (SELECTOR, row(lambda cell: cell.selector_us)),
            *((name, row(lambda cell, name=name: cell.forced_us[name])) for name in names),
            (BEST_OF_CATALOGUE, row(lambda cell: cell.catalogue_us[cell.best_of_catalogue])),
            (CHOICE, row(lambda cell: cell.choice_us))]


def extremes(rows: Sequence[tuple[str, Mapping[int, float]]]) -> dict[tuple[str, int], str]:
    """Which of the paper's algorithms is best and which is worst, by name and length."""
    marks = {}
    own = {each.name for each in ALGORITHMS}
    compared = [(name, row) for name, row in rows if name in own]
    for length in compared[0][1] if compared else ():
        for mark, extreme in (("best", min), ("worst", max)):
            name, _ = extreme(compared, key=lambda each, length=length: each[1][length])
            marks[name, length] = mark
    return marks


CELL_HEADS = ("ranks, block", "paper's best", "4.0's rule", "SMPI's", "mutirao takes", "× best",
              "catalogue's best", "gain", "possible")


def cell_rows(cells: Sequence[Cell]) -> list[list[str]]:
    return [[f"{cell.ranks}, {size(cell.length_bytes)}", cell.best_forced, _judged(cell.rule_to_best),
             _judged(cell.selector_to_best), cell.chosen, ratio(cell.choice_to_best),
             cell.best_of_catalogue, ratio(cell.gain), ratio(cell.most_gain)]
            for cell in cells]


def _judged(to_best: float) -> str:
    return "right" if to_best <= NEAR_BEST else f"× {ratio(to_best)}"


def by_ranks(cells: Sequence[Cell]) -> dict[int, list[Cell]]:
    return {ranks: [cell for cell in cells if cell.ranks == ranks]
            for ranks in dict.fromkeys(cell.ranks for cell in cells)}


def checked_predictions(result: dict) -> list[tuple[str, float]]:
    """The predictor's time as a multiple of the simulator's, of every algorithm of the catalogue in every cell."""
    predicted = {(row["ranks"], row["length_bytes"]): row["times_us"] for row in result["predicted"]}
    return [(name, times[name] / us) for row in result["simulated"]
            if (times := predicted.get((row["ranks"], row["length_bytes"])))
            for name, us in row["catalogue_us"].items() if name in times]


def prediction_rows(result: dict) -> list[list[str]]:
    found: dict[str, list[float]] = {}
    for name, value in checked_predictions(result):
        found.setdefault(name, []).append(value)
    return [[name, ratio(sorted(values)[len(values) // 2]), ratio(min(values)), ratio(max(values))]
            for name, values in found.items()]


def predicted_rows(result: dict, ranks: int) -> list[tuple[str, dict[int, float]]]:
    """What the predictor says of each algorithm of the catalogue."""
    rows: dict[str, dict[int, float]] = {}
    for cell in result["predicted"]:
        if cell["ranks"] == ranks:
            for name, us in cell["times_us"].items():
                rows.setdefault(name, {})[cell["length_bytes"]] = us
    return list(rows.items())


PREDICTION_HEADS = ("predicted / simulated", "median", "least", "most")


def place_rows(place: dict) -> tuple[list[str], list[list[str]]]:
    rows = place["times_ms"]
    lengths = sorted({int(length) for row in rows.values() for length in row})
    return heads(lengths), [[short(name), *(
        milliseconds(1000 * row[str(length)]["median"]) for length in lengths)]
        for name, row in rows.items()]


def place_title(place: dict) -> str:
    where = "two hosts of the lab" if place["hosts"] > 1 else "this machine"
    return (f"{place['ranks']} ranks on {where}, {place['mpi_title']}, medians of"
            f" {place['repetitions']}")


def bar_lines(result: dict) -> list[str]:
    return [f"{bar.what}: {bar.reached}" for bar in bars(cells_of(result))] if result["simulated"] else []


def remarks(result: dict) -> list[str]:
    return [*busy_remarks(result), *left_out_lines(result)]


def print_tables(result: dict) -> None:
    cells = cells_of(result)
    for ranks, own in by_ranks(cells).items():
        lengths = [cell.length_bytes for cell in own]
        _print(f"{ranks} processes, the paper", lengths, paper_rows(ranks))
        _print(f"{ranks} processes, simulated (+ best, - worst of the paper's)", lengths,
               simulated_rows(own))
    if cells:
        for cell in cells:
            _say(f"{cell.ranks} ranks, {size(cell.length_bytes)}: the rule picks {cell.ruled}"
                 f" ({_judged(cell.rule_to_best)}), SMPI's selector {_judged(cell.selector_to_best)};"
                 f" mutirao takes {cell.chosen}, {cell.choice_to_best:.2f} × the best of all;"
                 f" {cell.best_of_catalogue} is {cell.gain:.2f} times as fast as {cell.best_forced},"
                 f" and at most {cell.most_gain:.2f} are possible")
        print()
    if not cells:
        for ranks in dict.fromkeys(cell["ranks"] for cell in result["predicted"]):
            rows = predicted_rows(result, ranks)
            print(text_table(heads(list(rows[0][1])), [
                [name, *map(milliseconds, row.values())] for name, row in rows],
                f"{ranks} processes, predicted") + "\n")
    if rows := prediction_rows(result):
        print(text_table(PREDICTION_HEADS, rows, "mutirao's predictor beside the simulator") + "\n")
    for place in result["places"]:
        columns, rows = place_rows(place)
        print(text_table(columns, rows, place_title(place)) + "\n")
    for verdict in verdicts(cells):
        _say(f"{verdict.statement} The paper's table: {verdict.paper}. Here: {verdict.here}.")
    for line in [*bar_lines(result), *remarks(result)]:
        _say(line)


def _print(title: str, lengths: Sequence[int], rows: Sequence[tuple[str, Mapping[int, float]]]) -> None:
    marks = {"best": "+", "worst": "-"}
    found = extremes(rows)
    text = [[short(name), *(milliseconds(row[length]) + marks.get(found.get((name, length), ""), "")
                            for length in lengths)] for name, row in rows]
    print(text_table(heads(lengths), text, title) + "\n")


def _say(line: str) -> None:
    print(textwrap.fill(f"* {line}", 80, subsequent_indent="  "))


