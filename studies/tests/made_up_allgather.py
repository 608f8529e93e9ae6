"""A result of the study of allgather made up for the tests of what is made of it."""

from made_up import circumstances
from mutirao_studies.paper_001.paper_001 import (
    ALGORITHMS,
    MODEL,
    OWN_RULE,
    PICKED_BY_PAPER,
    RULE,
    SIZES_BYTES,
    table_1_us,
)


def as_in_the_paper():
    """The simulator would give the paper's own times; the catalogue's best is sparbit, at half of the best."""
    cells = []
    for ranks, picked in PICKED_BY_PAPER.items():
        times = table_1_us(ranks)
        for length, name in zip(SIZES_BYTES, picked, strict=True):
            forced = {each: row[length] for each, row in times.items() if each != RULE}
            cells.append({"ranks": ranks, "length_bytes": length, "forced_us": forced,
                          "selector_us": forced[name], "chosen": "sparbit", "reason": "measured",
                          "catalogue_us": {"sparbit": min(forced.values()) / 2, "ring": 9e6}})
    return cells


def place(part, hosts):
    names = [each.name for each in ALGORITHMS] + [OWN_RULE, "auto"]
    times = {"low": 0.1, "median": 0.25, "high": 0.5, "confidence": 1.0, "ran": None}
    return {"part": part, "ranks": 8, "mpi_title": "Open MPI 5", "hosts": hosts, "preset": None,
            "repetitions": 50, "times_ms": {name: {"32": times, "2048": times} for name in names}}


def allgather_result(cells=None):
    cells = as_in_the_paper() if cells is None else cells
    return {**circumstances("allgather"), "only": [], "model": vars(MODEL), "simulator": "SimGrid version 0", "simulated": cells,
            "predicted": [{"ranks": cell["ranks"], "length_bytes": cell["length_bytes"],
                           "times_us": {"sparbit": 1.5 * cell["catalogue_us"]["sparbit"]}}
                          for cell in cells],
            "places": [place("host", 1), place("lab", 2)],
            "left_out": [{"title": "bruck", "reason": "did not end"}]}
