"""`mutirao run`: an MPI program with mutirao preloaded, here or in the lab."""

import argparse
import os
import shutil
import sys
from pathlib import Path

from mutirao.errors import UsageError, did_you_mean
from mutirao.lab import TCP_PROFILES, Lab
from mutirao.lab_control import lab_names
from mutirao.launch import CompletedRun, launch
from mutirao.launchers import launching
from mutirao.measuring_words import emulated_hosts, rank_number
from mutirao.mpis import Mpi, find_mpi
from mutirao.network_argument import load_network
from mutirao.output import note, print_json, working
from mutirao.paths import CORE_TOOL, job_folder
from mutirao.program_mpi import check_linked, mpi_of
from mutirao.report_file import announced, keep_for_explain
from mutirao.units import counted
from mutirao.user_settings import check_files_named, gather_settings, with_whole_paths


def register(subparsers, common) -> None:
    parser = subparsers.add_parser(
        "run", parents=[common], help="run an MPI program with mutirao",
        usage="mutirao run [-n N] [--mpi NAME] [--lab NETWORK] [--set NAME=VALUE ...]"
        " [--launcher-args ARG ...] [--] PROGRAM [ARGUMENT ...]")
    parser.add_argument("-n", "-np", "--ranks", type=rank_number, metavar="N",
                        help="default: one per processor, or one per host of the lab")
    parser.add_argument("--mpi", metavar="NAME",
                        help="default: the one that the program is linked to (mutirao doctor"
                        " lists them)")
    parser.add_argument("--lab", metavar="NETWORK",
                        help="run on emulated hosts: a preset (mutirao lab presets), a CSV file, or the name"
                        " of a lab that is up")
    parser.add_argument("--tcp", choices=TCP_PROFILES,
                        help="the lab's TCP: as the system has it, or tuned for long distances")
    parser.add_argument("--launcher", metavar="NAME",
                        help="what starts the ranks: mpirun, mpiexec, srun or a path; default: the MPI"
                        " library's own, and srun in a Slurm allocation")
    parser.add_argument("--hostfile", type=Path, metavar="FILE", help="the hosts, as the launcher wants them")
    parser.add_argument("--native", action="store_true",
                        help="without mutirao, for comparison")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE",
                        dest="assignments", help="a setting (mutirao settings lists them)")
    parser.add_argument("--report", type=Path, metavar="FILE",
                        help="keep what mutirao explain reads")
    parser.add_argument("--launcher-args", nargs=argparse.REMAINDER, metavar="ARG",
                        help="more words for the launcher, up to --")
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="PROGRAM [ARGUMENT ...]")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    more, words = _launcher_words(arguments)
    argv = _program(words)
    _check_about_labs(arguments)
    up = arguments.lab is not None and arguments.lab in lab_names()
    network = load_network(arguments.lab) if arguments.lab and not up else None
    settings = {"summary": "off" if arguments.json else "on",
                **with_whole_paths(gather_settings(arguments.assignments))}
    if arguments.report:
        if arguments.native:
            raise UsageError("--report: with --native there is nothing to report; leave one of them out")
        settings["report"] = os.path.abspath(arguments.report)
    check_files_named(settings)
    mpi = find_mpi(arguments.mpi) if arguments.mpi else mpi_of(argv[0])
    if arguments.mpi:
        check_linked(argv[0], mpi)
    if arguments.ranks is not None and arguments.ranks < 1:
        raise UsageError(f"-n {arguments.ranks}: at least one rank is needed")
    arguments.native |= _nothing_fits(mpi)
    if arguments.lab is None:
        finished = _run_here(arguments, mpi, argv, settings, more)
    elif up:
        finished = _run_in(Lab.attach(arguments.lab), arguments, mpi, argv, settings, hold=False)
    else:
        with working(f"bringing up {network.host_count} hosts"):
            lab = Lab.up(network, tcp=arguments.tcp or TCP_PROFILES[0], hold=mpi.built)
        with lab:
            finished = _run_in(lab, arguments, mpi, argv, settings)
    keep_for_explain(finished.report, argv, finished.returncode, arguments.native)
    if arguments.json:
        print_json({"returncode": finished.returncode, "mpi": mpi.name, "ranks": arguments.ranks,
                    "seconds": round(finished.seconds, 3), "command": finished.command,
                    "lines": finished.lines, "report": finished.report})
    return finished.returncode


def _check_about_labs(arguments) -> None:
    for name in ("launcher", "hostfile", "launcher_args"):
        if arguments.lab and getattr(arguments, name) is not None:
            raise UsageError(f"--{name.replace('_', '-')}: a lab has hosts and a launcher of its own;"
                             " leave it or --lab out")
    if arguments.tcp and not arguments.lab:
        raise UsageError("--tcp is about the lab: it needs --lab")
    if arguments.tcp and arguments.lab in lab_names():
        raise UsageError(f"--tcp: the lab {arguments.lab} is up already, mutirao lab up takes it")


def _run_here(arguments, mpi: Mpi, argv: list[str], settings: dict[str, str],
              more: list[str]) -> CompletedRun:
    how = launching(mpi, arguments.launcher, arguments.ranks, arguments.hostfile, more)
    if how.added():
        note(f"{how.program.name} is told {' '.join(how.added())}: it would not start"
             f" {counted(how.ranks, 'rank')} {'as root ' if os.geteuid() == 0 else ''}here without")
    arguments.ranks = how.ranks
    return _launch(arguments, mpi, argv, settings, launcher=how.words())


def _run_in(lab: Lab, arguments, mpi: Mpi, argv: list[str], settings: dict[str, str],
            **options) -> CompletedRun:
    arguments.ranks = arguments.ranks or lab.network.host_count
    note(f"{counted(arguments.ranks, 'rank')} of {mpi.title} on {emulated_hosts(lab.network, arguments.ranks)}"
         f" ({arguments.lab}, {lab.tcp} TCP)")
    return _launch(arguments, mpi, argv, settings, lab=lab, **options)


def _launcher_words(arguments) -> tuple[list[str], list[str]]:
    """What --launcher-args gives the launcher, and the program's words."""
    more = arguments.launcher_args or []
    if "--" in more:  # versions of Python differ in who gets it
        end = more.index("--")
        return more[:end], more[end:]
    if more and not arguments.program:
        raise UsageError("--launcher-args: where do they end? Put -- before the program")
    return more, arguments.program


def _nothing_fits(mpi: Mpi) -> bool:
    if mpi.built or not CORE_TOOL.is_file():
        return False
    note(f"no library for {mpi.title} ({mpi.library}), so it takes all calls;"
         f" mutirao build --mpicc {mpi.wrapper or 'PATH'} builds one")
    return True


def _program(words: list[str]) -> list[str]:
    words = words[1:] if words[:1] == ["--"] else words
    if not words or not words[0]:
        raise UsageError("run: no program given")
    found = shutil.which(words[0])
    if found is None:
        raise UsageError(f"program '{words[0]}' {_why_not(words[0])}")
    return [found, *words[1:]]


def _why_not(program: str) -> str:
    path = Path(program)
    if path.is_dir():
        return "is a folder"
    if path.suffix == ".py" and path.is_file():
        return f"is not executable: mutirao run ... -- python {program}"
    if path.is_file() and not os.access(path, os.X_OK):
        return f"is not executable (chmod +x {program} makes it so)"
    if path.is_file():
        return f"is not in PATH; for that of this folder: ./{program}"
    beside = os.listdir(path.parent) if path.parent.is_dir() else []
    return "not found" + did_you_mean(path.name, beside)


def _launch(arguments, mpi: Mpi, argv: list[str], settings: dict[str, str],
            **options) -> CompletedRun:
    with job_folder() as folder:
        settings = {"report": f"{folder}/report.json", **settings}
        with announced(Path(settings["report"]), argv):
            finished = launch(mpi, argv, arguments.ranks, settings=settings, native=arguments.native,
                              capture=arguments.json, **options)
    sys.stderr.write(finished.errors)
    return finished
