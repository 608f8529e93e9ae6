"""A program as the command line wants it run, once or often: its words, MPI library, ranks, settings and place."""

import argparse
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mutirao.base.errors import UsageError, did_you_mean
from mutirao.base.output import note
from mutirao.base.paths import job_folder
from mutirao.base.units import counted, rank_number
from mutirao.explain.report_file import announced
from mutirao.lab.control import lab_names
from mutirao.lab.lab import TCP_PROFILES, Lab, bring_up
from mutirao.lab.named_networks import OR_A_FILE, emulated_hosts, load_network
from mutirao.lab.network import HostNetwork
from mutirao.run.launch import CompletedRun, launch
from mutirao.run.launchers import AS_ROOT, launching
from mutirao.run.mpis import Mpi, find_mpi
from mutirao.run.program_mpi import check_linked, mpi_of
from mutirao.run.user_settings import add_settings, gather_settings, with_files


def add_arguments(parser) -> None:
    parser.add_argument("-n", "-np", "--ranks", type=rank_number, metavar="N",
                        help="default: one per processor, per slot of --hostfile, per task of a Slurm job, or per"
                        " host of the lab")
    parser.add_argument("--mpi", metavar="NAME",
                        help="default: the one that the program is linked to (mutirao doctor"
                        " lists them)")
    parser.add_argument("--lab", metavar="NETWORK",
                        help="run on emulated hosts: a preset (mutirao lab presets), a .toml or CSV file, or the name"
                        " of a lab that is up")
    parser.add_argument("--tcp", choices=TCP_PROFILES,
                        help="the lab's TCP: as the system has it, tuned for long distances, or with BBR")
    parser.add_argument("--launcher", metavar="NAME",
                        help="what starts the ranks: mpirun, mpiexec, srun or a path; default: the MPI"
                        " library's own, and srun in a Slurm allocation")
    parser.add_argument("--hostfile", type=Path, metavar="FILE", help="the hosts, as the launcher wants them")
    add_settings(parser)
    parser.add_argument("--report", type=Path, metavar="FILE",
                        help="keep what mutirao explain reads")
    parser.add_argument("--launcher-args", nargs=argparse.REMAINDER, metavar="ARG",
                        help="more words for the launcher, up to --")
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="PROGRAM [ARGUMENT ...]")


@dataclass(frozen=True)
class Job:
    """Checked; nothing is started yet."""

    argv: list[str]
    mpi: Mpi
    ranks: int | None  # that were asked for
    settings: dict[str, str]
    network: HostNetwork | None  # of a lab that is to be brought up
    arguments: argparse.Namespace
    launcher_words: list[str]

    @contextmanager
    def placed(self) -> Iterator["Placed"]:
        """Where it runs, once or often: a lab that is brought up for it lasts as long as this."""
        arguments = self.arguments
        if arguments.lab is None:
            yield self._here()
        elif self.network is None:
            yield self._in(Lab.attach(arguments.lab))
        else:
            with bring_up(self.network, arguments.tcp or TCP_PROFILES[0]) as lab:
                yield self._in(lab)

    def _here(self) -> "Placed":
        how = launching(self.mpi, self.arguments.launcher, self.ranks, self.arguments.hostfile,
                        self.launcher_words)
        if told := [word for word in how.added() if word != AS_ROOT]:
            note(f"{how.program.name} is told {' '.join(told)}: it would not start {counted(how.ranks, 'rank')} here"
                 " without")
        return Placed(self, how.ranks, {"launcher": how.words()})

    def _in(self, lab: Lab) -> "Placed":
        ranks = self.ranks or lab.network.host_count
        note(f"{counted(ranks, 'rank')} of {self.mpi.title} on {emulated_hosts(lab.network, ranks)}"
             f" ({self.arguments.lab}, {lab.tcp} TCP)")
        return Placed(self, ranks, {"lab": lab})


@dataclass(frozen=True)
class Placed:
    job: Job
    ranks: int | None
    _where: Mapping[str, Any] = field(repr=False)

    def run(self, native: bool = False, settings: Mapping[str, str] | None = None, **options) -> CompletedRun:
        """Once, to its end, with these settings rather than the job's own; meanwhile explain --running
        knows of it. `options` are those of `launch`."""
        with job_folder() as folder:
            own = {"report": f"{folder}/report.json"}
            given = {**own, **self.job.settings, **(settings or {})}
            if native:
                given |= own  # where the user wants it, one of a run with mutirao may lie
            with announced(Path(given["report"]), self.job.argv):
                return launch(self.job.mpi, self.job.argv, self.ranks, settings=given, native=native,
                              **self._where, **options)


def job_of(arguments, summary: bool) -> Job:
    """`summary`: whether the library says at the end what it did, unless its setting says otherwise."""
    more, words = _launcher_words(arguments)
    argv = _program(words, arguments.command)
    _check_about_labs(arguments)
    network = (load_network(arguments.lab, beside=f"{OR_A_FILE}, or a lab that is up")
               if arguments.lab and arguments.lab not in lab_names() else None)
    settings = {"summary": "on" if summary else "off", **gather_settings(arguments.assignments)}
    if arguments.report:
        settings["report"] = str(arguments.report)
    settings = with_files(settings)
    mpi = find_mpi(arguments.mpi) if arguments.mpi else mpi_of(argv[0])
    if arguments.mpi:
        check_linked(argv[0], mpi)
    return Job(argv, mpi, arguments.ranks, settings, network, arguments, more)


def _check_about_labs(arguments) -> None:
    for name in ("launcher", "hostfile", "launcher_args"):
        if arguments.lab and getattr(arguments, name) is not None:
            raise UsageError(f"--{name.replace('_', '-')}: a lab has hosts and a launcher of its own;"
                             " leave it or --lab out")
    if arguments.tcp and not arguments.lab:
        raise UsageError("--tcp is about the lab: it needs --lab")
    if arguments.tcp and arguments.lab in lab_names():
        raise UsageError(f"--tcp: the lab {arguments.lab} is up already, mutirao lab up takes it")


def _launcher_words(arguments) -> tuple[list[str], list[str]]:
    """What --launcher-args gives the launcher, and the program's words."""
    more = arguments.launcher_args or []
    if "--" in more:  # versions of Python differ in who gets it
        end = more.index("--")
        return more[:end], more[end:]
    if more and not arguments.program:
        raise UsageError("--launcher-args: where do they end? Put -- before the program")
    return more, arguments.program


def _program(words: list[str], command: str) -> list[str]:
    words = words[1:] if words[:1] == ["--"] else words
    if not words or not words[0]:
        raise UsageError(f"{command}: no program given")
    found = shutil.which(words[0])
    if found is None:
        raise UsageError(f"program '{words[0]}' {_why_not(words[0], command)}")
    return [found, *words[1:]]


_SOURCES = {".c": "mpicc", ".cc": "mpicxx", ".cpp": "mpicxx", ".cxx": "mpicxx", ".f": "mpif90", ".f90": "mpif90",
            ".F90": "mpif90"}


def _may_run(path: Path) -> bool:
    with open(path, "rb") as file:
        return file.read(4).startswith((b"\x7fELF", b"#!"))


def _why_not(program: str, command: str) -> str:
    path = Path(program)
    if path.is_dir():
        return "is a folder"
    if path.suffix == ".py" and path.is_file():
        return f"is not executable: mutirao {command} ... -- python {program}"
    if path.suffix in _SOURCES and path.is_file():
        return f"is a source file: compile it first ({_SOURCES[path.suffix]})"
    if path.is_file() and not os.access(path, os.X_OK):
        return f"is not executable (chmod +x {program} makes it so)" if _may_run(path) else "is not a program"
    if path.is_file():
        return f"is not in PATH; for that of this folder: ./{program}"
    beside = os.listdir(path.parent) if path.parent.is_dir() else []
    return "not found" + did_you_mean(path.name, beside)
