"""`mutirao tune`: measures the catalogue beside the MPI library's own, for the jobs to come."""

import random
import time
from collections.abc import Sequence

from mutirao.base.errors import Failure, UsageError, check_range, unknown
from mutirao.base.output import note, print_json
from mutirao.base.progress import steps
from mutirao.base.tables import print_table
from mutirao.base.units import counted, duration, ratio
from mutirao.base.user_files import check_writable
from mutirao.catalogue.collectives import COLLECTIVES
from mutirao.measure import profile
from mutirao.measure.circumstances import Circumstances, busy_remarks
from mutirao.measure.tuning import Cell, Survey, Tuning, Wanted, fastest, gain, survey
from mutirao.measure.words import Place, add_place, parse_roots, parse_sizes, place_of
from mutirao.run.user_settings import add_settings, gather_settings

_COLLECTIVES = "barrier,broadcast,reduce,allreduce,allgather,alltoall,reduce_scatter_block"
_BYTES = "8,256,4KiB,64KiB,1MiB"
_JOBS = 5
_DAY_S = 24 * 3600


def register(subparsers, common) -> None:
    parser = subparsers.add_parser("tune", parents=[common], help="measure algorithms by force, and"
                                   " keep in the profile which is the best")
    parser.add_argument("--collective", default=_COLLECTIVES, metavar="NAME,...",
                        help=f"default: {_COLLECTIVES}")
    parser.add_argument("--bytes", default=_BYTES, metavar="B,...",
                        help="of the message, or of one block where there is one for every rank;"
                        f" default: {_BYTES}")
    parser.add_argument("--roots", default="0", metavar="R,...|sites|all", help="default: 0")
    parser.add_argument("--buffers", choices=("warm", "cold", "both"), default="warm",
                        help="whether buffers are in the processor's cache; default: warm")
    add_place(parser)
    parser.add_argument("--budget", type=float, default=300, metavar="SECONDS",
                        help="begin no job that would end later; default: 300")
    parser.add_argument("--jobs", type=int, default=_JOBS, metavar="K",
                        help=f"of each candidate, so that no single one decides; default: {_JOBS}")
    parser.add_argument("--factor", type=float, default=2, metavar="X", help="leave out what is"
                        " predicted to take more than so many times the best; default: 2")
    parser.add_argument("--again", action="store_true",
                        help="do not go on from what was measured within the last day")
    add_settings(parser)
    parser.set_defaults(run=run)


def run(arguments) -> int:
    begin_s, began_s = time.monotonic(), time.time()
    settings = gather_settings(arguments.assignments)
    path = profile.profile_file(settings)
    if path is None:
        raise UsageError("the setting profile is off: there is nowhere to keep what is measured")
    check_writable("profile", path)
    _check(arguments, settings)
    place = place_of(arguments)
    if len(place.mpis) > 1:
        raise UsageError(f"--mpi {arguments.mpi}: tune one after the other")
    [mpi] = place.mpis
    cells = _cells(arguments, place)
    buffers = ("warm", "cold") if arguments.buffers == "both" else (arguments.buffers,)
    for line in busy_remarks(Circumstances("tune", False, [mpi.name]).to_dict()):
        note(line)
    with place.up() as lab:
        wanted = Wanted(mpi, place.ranks, lab, settings, cells, buffers, arguments.jobs, arguments.factor)
        with steps(1 + len(cells)) as progress:
            surveyed = survey(wanted, progress)
        since_s = began_s if arguments.again else began_s - _DAY_S
        tuning = Tuning(wanted, surveyed, path, since_s)
        if already := arguments.jobs * len(tuning.jobs) - tuning.jobs_left:
            note(f"{counted(already, 'job')} of an earlier start need not run again")
        with steps(tuning.jobs_left) as progress:
            tuning.run(begin_s + arguments.budget, progress, random.Random())
    return _tell(arguments, tuning, wanted, surveyed)


def _check(arguments, settings: dict[str, str]) -> None:
    for name, least in (("jobs", 1), ("factor", 1), ("budget", 0)):
        check_range(f"--{name}", getattr(arguments, name), least)
    for name in arguments.collective.split(","):
        if name not in COLLECTIVES:
            raise unknown("collective", name, COLLECTIVES)
        if settings.get(name, "auto") != "auto":
            raise UsageError(f"the setting {name} forces an algorithm: there is nothing to tune")


def _cells(arguments, place: Place) -> list[Cell]:
    lengths = parse_sizes(arguments.bytes)
    roots = parse_roots(arguments.roots, place.ranks, place.network)
    rows = [COLLECTIVES[name] for name in dict.fromkeys(arguments.collective.split(","))]
    return [Cell(row.name, length, root) for row in rows
            for length in (lengths if row.has_length else [0])
            for root in (roots if row.rooted else [0])]


def _tell(arguments, tuning: Tuning, wanted: Wanted, surveyed: Survey) -> int:
    number = profile.find_fabric(tuning.path, surveyed.network)
    if not number:
        raise Failure("nothing could be measured within the budget")
    rows = fastest(profile.read(tuning.path), number, wanted, surveyed.mpi)
    left = tuning.jobs_left
    if arguments.json:
        print_json({"profile": str(tuning.path), "fabric": number, "mpi": surveyed.mpi,
                    "jobs_left": left, "gain": gain(rows), "refused": list(tuning.refused.values()),
                    "calls": [_as_dict(*row) for row in rows]})
        return 0
    _print(rows)
    if left:
        note(f"the budget is used up, and {counted(left, 'job')} of {wanted.jobs} each left: start"
             " it again to go on")
    print(f"In {tuning.path}, fabric {number}.")
    return 0


def _as_dict(call, name: str, time_us: float, native_us: float | None) -> dict:
    return {"collective": call.collective, "length_bytes": call.length_bytes, "root": call.root,
            "buffers": call.buffers, "candidate": name, "median_us": time_us,
            "native_us": native_us}


def _print(rows: Sequence[tuple]) -> None:
    print_table(("call", "buffers", "native", "best", "x native", "candidate"),
                [(COLLECTIVES[call.collective].calls(call.length_bytes, call.root), call.buffers,
                  duration(native_us), duration(time_us),
                  ratio(time_us / native_us) if native_us else "", name)
                 for call, name, time_us, native_us in rows])
    if mean := gain(rows):
        print(f"The best takes {ratio(mean)} x native (geometric mean).")
