"""Single messages between far hosts, against what the predictor says of them: the table that predictions of long
collectives stand on. All lengths are measured at once, each between two hosts of its own.
"""

import statistics
from collections.abc import Iterator, Sequence

from mutirao.base.progress import Steps, steps
from mutirao.base.tables import Table
from mutirao.base.units import counted, ms, size
from mutirao.catalogue import core_tool
from mutirao.lab.lab import Lab
from mutirao.lab.network import HostNetwork
from mutirao.measure.circumstances import Circumstances
from mutirao.run.launch import launch
from mutirao.run.mpis import Mpi, find_mpi
from mutirao_studies.account import LeftOut, told
from mutirao_studies.document import Document, Lines, Section
from mutirao_studies.long_messages import CONTROLS, controls

STUDY = "messages"
PROGRAM = "messages"
LENGTHS_BYTES = tuple(kib << 10 for kib in (8, 14, 15, 23, 30, 60, 64, 66, 128))
WAYS_MS = (5, 175)
PAUSES_MS = (0, 1500, 10_000)
REPEAT, QUICK_REPEAT = 3, 1
FIRST, ALONE, TWO, BOTH = "first", "alone", "two in a row", "both ways"
NEAR = 0.1  # a prediction is right within
_INITIAL_WINDOW_BYTES = 10 * 1460  # RFC 6928
_EAGER_LIMITS_BYTES = {"openmpi": 65536 - 128}  # as the library assumes
_MOST_SECONDS_OF_A_JOB = 900.0


def run_study(mpi_names: Sequence[str], quick: bool = False) -> dict:
    mpis = [find_mpi(name) for name in mpi_names]
    circumstances = Circumstances(STUDY, quick, mpi_names)
    left_out, rows = LeftOut(), []
    with steps(len(WAYS_MS) * len(CONTROLS) * len(mpis)) as progress:
        for tcp, control in controls(left_out):
            for way_ms in WAYS_MS:
                with Lab.up(two_sites(way_ms, len(LENGTHS_BYTES)), tcp) as lab:
                    for mpi in mpis:
                        title = f"{mpi.title}, {control}, {way_ms} ms"
                        with left_out.tried(title):
                            rows += [{"tcp": control, "way_ms": way_ms, **row}
                                     for row in _rows(title, mpi, lab, tcp, quick, progress)]
    return {**circumstances.to_dict(), "rows": rows, "left_out": left_out.rows}


def two_sites(way_ms: float, hosts_per_site: int) -> HostNetwork:
    far_ms = 2.0 * way_ms
    return HostNetwork.from_sites(["A", "B"], [[0.2, far_ms], [far_ms, 0.2]], hosts_per_site, name=f"{way_ms:g} ms")


def _rows(title: str, mpi: Mpi, lab: Lab, tcp: str, quick: bool, progress: Steps) -> Iterator[dict]:
    """One for each length and form."""
    progress.begin(title)
    words = ["--bytes", ",".join(map(str, LENGTHS_BYTES)),
             "--pause-ms", ",".join(map(str, PAUSES_MS)),
             "--repeat", str(QUICK_REPEAT if quick else REPEAT)]
    finished = launch(mpi, [str(mpi.program(PROGRAM)), *words], lab.network.host_count, lab=lab, native=True,
                      capture=True, timeout_s=_MOST_SECONDS_OF_A_JOB)
    points = told(finished, title, '{"points":')["points"]
    progress.advance()
    network = two_sites(lab.network.latency_us[0][-1] / 1000, 1)
    for form in (FIRST, ALONE, TWO, BOTH):
        for length in LENGTHS_BYTES:
            of_row = [point for point in points if (point["form"], point["bytes"]) == (form, length)]
            yield {"mpi": mpi.title, "form": form, "length_bytes": length,
                   "predicted_ms": predicted_ms(mpi, network, form, length, tcp),
                   "ms": {str(point["pause_ms"]): point["times_ms"] for point in of_row}}


def predicted_ms(mpi: Mpi, network: HostNetwork, form: str, length_bytes: int, tcp: str) -> float | None:
    """By collectives of two ranks that are such messages, over a connection that has lain idle for long."""
    asked = {ALONE: ("broadcast", "flat", length_bytes),
             TWO: ("broadcast", f"chain:segment_bytes={length_bytes}", 2 * length_bytes),
             BOTH: ("allgather", "two_proc", length_bytes)}
    if form not in asked:
        return None
    collective, candidate, whole_bytes = asked[form]
    answer = core_tool.predict(collective, network, 0, whole_bytes, [candidate],
                               eager_limit_bytes=_EAGER_LIMITS_BYTES.get(mpi.name.split("-")[0]),
                               **({"bbr": ""} if tcp == "bbr" else {"initial_window_bytes": _INITIAL_WINDOW_BYTES}))
    [row] = answer["candidates"]
    return row["predicted_us"] / 1000


def deviations(result: dict, control: str) -> list[float]:
    """Predicted / measured - 1, after the longest pause: until then windows are half open. BBR remembers what a connection
    has carried: only those that cross have nothing longer behind them."""
    forms = (BOTH,) if control == CONTROLS["bbr"] else (ALONE, TWO, BOTH)
    return [row["predicted_ms"] / statistics.median(times) - 1
            for row in result["rows"] if row["form"] in forms and row["tcp"] == control
            for pause, times in row["ms"].items() if int(pause) == PAUSES_MS[-1]]


def tables(result: dict) -> list[Table]:
    groups = dict.fromkeys((row["mpi"], row["tcp"], row["way_ms"]) for row in result["rows"])
    shown = []
    for mpi, tcp, way_ms in groups:
        rows = [row for row in result["rows"] if (row["mpi"], row["tcp"], row["way_ms"]) == (mpi, tcp, way_ms)]
        pauses = list(rows[-1]["ms"])
        cells = [[row["form"], size(row["length_bytes"]), ms(row["predicted_ms"]),
                  *(ms(statistics.median(row["ms"][pause])) if pause in row["ms"] else "" for pause in pauses)]
                 for row in rows]
        columns = ["message", "length", "predicted", *(f"after {int(pause) / 1000:g} s" for pause in pauses)]
        shown.append(Table(f"{mpi}, {tcp}, {way_ms} ms one way: in ms", columns, cells))
    return shown


def document(result: dict) -> Document:
    lead = ("Single messages between far hosts, natively: the first, over a connection that is not there yet, then"
            " after pauses, in which TCP's windows close. What is predicted is of a connection that has lain idle.")
    said = []
    for control in CONTROLS.values():
        if apart := deviations(result, control):
            right = sum(abs(each) <= NEAR for each in apart)
            said.append(f"After {PAUSES_MS[-1] / 1000:g} s, with {control}: {right} of"
                        f" {counted(len(apart), 'message')} within {NEAR:.0%} of what is predicted.")
    return Document("Messages", lead, result, [Section("Times", [*tables(result), Lines(said)])])
