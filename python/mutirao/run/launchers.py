"""What starts the ranks on a site's hosts: the MPI library's own launcher, another of that library, or Slurm's, with
the user's words for it."""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mutirao.base.errors import UsageError, unknown
from mutirao.base.user_files import read_text
from mutirao.run.mpis import Mpi
from mutirao.run.program_mpi import title_of_launcher

OF_MPI = ("mpirun", "mpiexec")
KNOWN = (*OF_MPI, "srun")
AS_ROOT = "--allow-run-as-root"
# How Slurm meets the MPI libraries: what --mpi= is.
_SLURM_MEETS = {"Open MPI": "pmix", "MPICH": "pmi2", "Intel MPI": "pmi2"}


@dataclass(frozen=True)
class Launching:
    """How the user wants a program started."""

    mpi: Mpi
    program: Path  # of the launcher
    ranks: int | None  # none: as many as the launcher takes by itself
    hostfile: Path | None = None
    more: Sequence[str] = ()

    @cached_property
    def is_slurm(self) -> bool:
        return self.program.name == "srun"

    def words(self) -> list[str]:
        number = [] if self.ranks is None else ["-n", str(self.ranks)]
        if self.is_slurm:
            return [str(self.program), *self._slurm_meets(), *number, *self.more]
        hosts = [self.mpi.known.style.hostfile, str(self.hostfile)] if self.hostfile else []
        return [str(self.program), *self.added(), *hosts, *number, *self.more]

    def added(self) -> list[str]:
        """What Open MPI's launcher would refuse to start without."""
        if self.is_slurm or self.mpi.known.title != "Open MPI":
            return []
        root = [AS_ROOT] if os.geteuid() == 0 else []
        full = (self.ranks or 0) > _cores() and self.hostfile is None and not in_slurm()
        return [word for word in root + ["--oversubscribe"] * full if word not in self.more]

    def _slurm_meets(self) -> list[str]:
        wanted = _SLURM_MEETS.get(self.mpi.known.title)
        if any(word.startswith("--mpi") for word in self.more) or "SLURM_MPI_TYPE" in os.environ:
            return []
        answer = subprocess.run([self.program, "--mpi=list"], capture_output=True, text=True, check=False)
        offered = re.findall(r"\w+", answer.stdout + answer.stderr)
        return [f"--mpi={wanted}"] if wanted in offered else []


def in_slurm() -> bool:
    """Inside an allocation, whose hosts srun knows."""
    return "SLURM_JOB_ID" in os.environ


def launching(mpi: Mpi, asked: str | None, ranks: int | None, hostfile: Path | None = None,
              more: Sequence[str] = ()) -> Launching:
    """`asked`: the name or the path of a launcher."""
    program = _find(mpi, asked)
    if hostfile is not None and not hostfile.is_file():
        raise UsageError(f"--hostfile {hostfile}: there is no such file")
    if ranks is None and hostfile is not None:
        ranks = _slots_in(hostfile)
    if program.name == "srun":
        if hostfile is not None:
            raise UsageError("--hostfile: srun takes its hosts from the allocation; leave it out, or"
                             " add --launcher mpirun")
    elif ranks is None:
        ranks = int(os.environ.get("SLURM_NTASKS") or os.cpu_count() or 1)
    return Launching(mpi, program, ranks, hostfile, more)


def _find(mpi: Mpi, asked: str | None) -> Path:
    if asked is None:
        return Path(in_slurm() and shutil.which("srun") or mpi.launcher)
    if "/" not in asked and asked not in KNOWN:
        raise unknown("launcher", asked, KNOWN, "; or the path of one")
    beside = mpi.launcher.parent / asked  # a path stays what it is
    found = shutil.which(beside if asked in OF_MPI and beside.is_file() else os.path.expanduser(asked))
    if found is None:
        raise UsageError(f"--launcher {asked}: {_why_not(asked)}")
    title = None if Path(found).name == "srun" else title_of_launcher(Path(found))
    if title is not None and title != mpi.known.title:
        raise UsageError(f"--launcher {asked}: {found} is {title}'s, but the program runs on {mpi.title};"
                         f" its own is {mpi.launcher}")
    return Path(found)


def _why_not(launcher: str) -> str:
    if "/" not in launcher:
        return "none is in PATH"
    return "it is no program" if os.path.exists(os.path.expanduser(launcher)) else "there is no such program"


def _cores() -> int:
    """Open MPI counts cores, not their threads."""
    cores = set()
    for processor in os.sched_getaffinity(0):
        siblings = Path(f"/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list")
        cores.add(siblings.read_text() if siblings.is_file() else str(processor))
    return len(cores)


def _slots_in(hostfile: Path) -> int:
    lines = [line.split("#")[0].strip() for line in read_text(hostfile).splitlines()]
    slots = [re.search(r"(?:slots\s*=\s*|:)(\d+)", line) for line in lines if line]
    if not slots:
        raise UsageError(f"--hostfile {hostfile}: it names no host")
    return sum(int(found[1]) if found else 1 for found in slots)
