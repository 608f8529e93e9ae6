"""Launches an MPI program with mutirao preloaded, on this host or on the hosts of a lab.

The ranks' environment is given by `env NAME=VALUE ... PROGRAM`, which every launcher can start,
and which keeps the preloaded libraries out of the launcher itself. But a lab's launcher is kept calm as its
ranks are.
"""

import functools
import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mutirao.agent.agent import PROGRAM as AGENT
from mutirao.base.errors import Failure
from mutirao.base.paths import PRELOAD, job_folder, preloadable
from mutirao.lab.lab import CONTROL_HOST, INTERFACE, Lab
from mutirao.lab.network import spread
from mutirao.run.mpis import Mpi
from mutirao.run.processes import Finished, argv_ending_with_us, new_mark, run_marked

PREFIX = "MUTIRAO_"
_SILENT = 213  # PRRTE, on a busy machine, before it has started anything: PRTE_ERR_SILENT, its message lost


@dataclass
class CompletedRun(Finished):
    command: list[str]
    report: dict | None  # None: native, or nothing of it was seen by mutirao


def launch(mpi: Mpi, argv: Sequence[str], ranks: int, *, lab: Lab | None = None,
           settings: Mapping[str, str] | None = None, native: bool = False, capture: bool = False,
           on_line: Callable[[str], None] | None = None, timeout_s: float | None = None, calm: bool = True,
           launcher: Sequence[str] | None = None, discard: bool = False) -> CompletedRun:
    """Runs `argv` on `ranks` ranks to its end; interrupted, it leaves nothing running.

    In a lab the first hosts get one rank each, or blocks of ranks where there are more ranks than
    hosts. `native` runs without mutirao. With `capture`, standard output comes line by line to
    `on_line` and into the result, and standard error into the result; else both go through. With `discard`
    standard output goes nowhere, and standard error into the result. Without `calm` the lab's ranks
    spin while they wait. `launcher` are the words that start the ranks instead of the library's own
    launcher on this host; they say how many.
    """
    if not native and not mpi.built:
        raise Failure(mpi.missing)
    settings = settings or {}
    with job_folder() as folder, _meeting(mpi, lab, ranks, native) as invitation:
        report = Path(settings.get("report") or f"{folder}/report.json")
        report.unlink(missing_ok=True)
        mark = new_mark()
        variables = {**mpi.environment(), **mark}
        surroundings = {**variables, **invitation}
        if not native:
            variables |= {PREFIX + name.upper(): value for name, value in settings.items()}
            variables[PREFIX + "REPORT"] = str(report)
            if settings.get("enabled") == "off":
                variables[PREFIX + "LAUNCH"] = "off"  # on all ranks, so that none need ask another
        if lab is None:
            command = [*(launcher or [str(mpi.launcher), *mpi.known.style.local(ranks)]),
                       *_with_environment(variables, [] if native else [PRELOAD]), *argv]
            start = functools.partial(subprocess.Popen, argv_ending_with_us(command),
                                      env={**os.environ, **surroundings})
        else:
            command = _lab_command(mpi, argv, ranks, native, variables, lab, Path(folder), calm)
            start = functools.partial(lab.exec, CONTROL_HOST, command,
                                      env={**os.environ, **surroundings,
                                           **preloaded([lab.calm_library] if calm else [])})
        run = functools.partial(run_marked, start, mark, capture, on_line, timeout_s, discard)
        finished = run()
        if capture and finished.returncode == _SILENT and not finished.lines and not finished.errors.strip():
            finished = run()
        return CompletedRun(**vars(finished), command=command, report=_read_report(report))


@contextmanager
def _meeting(mpi: Mpi, lab: Lab | None, ranks: int | None, native: bool) -> Iterator[dict[str, str]]:
    """Where ranks get to know each other whose launcher does not pass on what they say (PMIx): on the launcher's host,
    which they reach anyway. Yields what the launcher's environment needs for it; where it cannot be, ranks meet by
    MPI."""
    if native or mpi.known.title == "Open MPI" or ranks == 1:
        yield {}
        return
    start = functools.partial(lab.exec, CONTROL_HOST) if lab else subprocess.Popen
    held = start([str(AGENT), "rendezvous"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                 text=True)
    try:
        invitation = held.stdout.readline().strip()
        yield {PREFIX + "RENDEZVOUS": invitation} if invitation else {}
    finally:
        held.kill()
        held.communicate()


def _lab_command(mpi: Mpi, argv: Sequence[str], ranks: int, native: bool, variables: Mapping[str, str], lab: Lab,
                 folder: Path, calm: bool = True) -> list[str]:
    style = mpi.known.style
    hostfile = folder / "hosts"
    hostfile.write_text("".join(style.hostfile_line.format(host=host.name, slots=slots) + "\n"
                                for host, slots in zip(lab.hosts, spread(ranks, len(lab.hosts)))))
    place = {"agent": str(lab.agent), "interface": INTERFACE, "control": lab.control.name,
             "hostfile": str(hostfile)}
    preloads = [*([] if native else [PRELOAD]), *([lab.calm_library] if calm else [])]
    variables = {**variables, **style.lab_environment(place), **lab.environment()}
    return [str(mpi.launcher), *style.lab(ranks, place), *_with_environment(variables, preloads), *argv]


def _with_environment(variables: Mapping[str, str], preloads: Sequence[Path]) -> list[str]:
    return ["env", *(f"{name}={value}" for name, value in {**variables, **preloaded(preloads)}.items())]


def preloaded(paths: Sequence[Path]) -> dict[str, str]:
    """Another tool's library comes first: it then sees the calls as the program made them."""
    for path in paths:
        if not preloadable(path):
            raise Failure(f"{path} cannot be preloaded: LD_PRELOAD allows no spaces and no colons in a path, so move"
                          " mutirao")
    ours = [*map(str, paths)]
    users = [each for each in os.environ.get("LD_PRELOAD", "").split(":") if each and each not in ours]
    return {"LD_PRELOAD": ":".join([*users, *ours])} if paths else {}


def _read_report(path: Path) -> dict | None:
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise Failure(f"{path} is not a report of mutirao ({error})") from None
