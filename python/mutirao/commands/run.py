"""`mutirao run`: an MPI program with mutirao preloaded, here or in the lab."""

import argparse
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from mutirao.errors import UsageError
from mutirao.lab import TCP_PROFILES, Lab
from mutirao.launch import CompletedRun, launch
from mutirao.mpis import Mpi, find_mpi
from mutirao.network_argument import load_network
from mutirao.output import note, print_json, working
from mutirao.paths import CORE_TOOL, last_report
from mutirao.program_mpi import check_linked, mpi_of
from mutirao.report_file import announced
from mutirao.units import counted
from mutirao.user_settings import gather_settings


def register(subparsers, common) -> None:
    parser = subparsers.add_parser(
        "run", parents=[common], help="run an MPI program with mutirao",
        usage="mutirao run [-n N] [--mpi NAME] [--lab NETWORK] [--set NAME=VALUE ...]"
        " [--] PROGRAM [ARGUMENT ...]")
    parser.add_argument("-n", "--ranks", type=int, metavar="N",
                        help="default: one per processor, or one per host of the lab")
    parser.add_argument("--mpi", metavar="NAME",
                        help="default: the one that the program is linked to (mutirao doctor"
                        " lists them)")
    parser.add_argument("--lab", metavar="NETWORK",
                        help="run on emulated hosts: a preset (mutirao lab presets) or a CSV file")
    parser.add_argument("--tcp", choices=TCP_PROFILES,
                        help="the lab's TCP: as the system has it, or tuned for long distances")
    parser.add_argument("--native", action="store_true",
                        help="without mutirao, for comparison")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE",
                        dest="assignments", help="a setting (mutirao settings lists them)")
    parser.add_argument("--report", type=Path, metavar="FILE",
                        help="keep what mutirao explain reads")
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="PROGRAM [ARGUMENT ...]")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    argv = _program(arguments.program)
    if arguments.tcp and not arguments.lab:
        raise UsageError("--tcp is about the lab: it needs --lab")
    network = load_network(arguments.lab) if arguments.lab else None
    settings = gather_settings(arguments.assignments)
    if arguments.report:
        settings["report"] = str(arguments.report)
    if settings.get("report"):
        settings["report"] = os.path.abspath(settings["report"])  # ranks may start elsewhere
    mpi = find_mpi(arguments.mpi) if arguments.mpi else mpi_of(argv[0])
    if arguments.mpi:
        check_linked(argv[0], mpi)
    arguments.native |= _nothing_fits(mpi)
    ranks = arguments.ranks
    if ranks is None:
        ranks = network.host_count if network else os.cpu_count() or 1
    if ranks < 1:
        raise UsageError(f"-n {ranks}: at least one rank is needed")
    if network is None:
        finished = _launch(arguments, mpi, argv, ranks, settings, None)
    else:
        with working(f"bringing up {network.host_count} hosts"):
            lab = Lab.up(network, tcp=arguments.tcp or TCP_PROFILES[0], hold=mpi.labstart.is_file())
        with lab:
            note(f"{counted(ranks, 'rank')} of {mpi.title} on {network.host_count} emulated hosts"
                 f" ({arguments.lab}, {lab.tcp} TCP)")
            finished = _launch(arguments, mpi, argv, ranks, settings, lab)
    if not arguments.native:
        _keep_for_explain(finished.report)
    if arguments.json:
        print_json({"returncode": finished.returncode, "mpi": mpi.name, "ranks": ranks,
                    "seconds": round(finished.seconds, 3), "command": finished.command,
                    "lines": finished.lines, "report": finished.report})
    return finished.returncode


def _nothing_fits(mpi: Mpi) -> bool:
    if mpi.built or not CORE_TOOL.is_file():
        return False
    note(f"no library for {mpi.title} ({mpi.library}), so it takes all calls;"
         f" mutirao build --mpicc {mpi.wrapper or 'PATH'} builds one")
    return True


def _program(words: list[str]) -> list[str]:
    words = words[1:] if words[:1] == ["--"] else words
    if not words:
        raise UsageError("run: no program given")
    found = shutil.which(words[0])
    if found is None:
        raise UsageError(f"program '{words[0]}' not found"
                         + ("" if not Path(words[0]).exists() else ": it is not executable"))
    return [found, *words[1:]]


def _launch(arguments, mpi: Mpi, argv: list[str], ranks: int, settings: dict[str, str],
            lab: Lab | None) -> CompletedRun:
    with tempfile.TemporaryDirectory(prefix="mutirao-") as folder:
        settings = {"report": f"{folder}/report.json", **settings}
        with announced(Path(settings["report"]), argv):
            finished = launch(mpi, argv, ranks, lab=lab, settings=settings,
                              native=arguments.native, capture=arguments.json)
    sys.stderr.write(finished.errors)
    return finished


def _keep_for_explain(report: dict | None) -> None:
    """`explain` speaks of the last run, even where that left nothing to explain."""
    if report is None:
        last_report().unlink(missing_ok=True)
        return
    fresh = last_report().with_suffix(f".{os.getpid()}")
    fresh.write_text(json.dumps(report))
    fresh.replace(last_report())
