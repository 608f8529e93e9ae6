"""Which MPI library a program gets: the loader decides, as it does without mutirao."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from mutirao.base.errors import Failure, UsageError
from mutirao.run.mpis import Mpi, default_mpi, found_mpis, made_of, version_of

_LIBRARY = r"libmpi(?:ch)?(?:_abi)?\.so(?:\.\d+)*"
# Imports what a program would import, without starting MPI.
_ASK_PYTHON = """
import mpi4py
mpi4py.rc.initialize = False
from mpi4py import MPI
print(open("/proc/self/maps").read())
"""
_LAUNCHERS = ("mpirun", "mpiexec", "mpirun.openmpi", "mpiexec.mpich", "mpiexec.hydra")
# What --version of a launcher says, by the library's title.
_LAUNCHER_SAYS = {"Open MPI": "Open MPI", "MPICH": "HYDRA", "Intel MPI": "Intel"}


def mpi_of(program: str) -> Mpi:
    """Where that cannot be told, or the loader finds none: the default one, which it will find."""
    library = library_of(program)
    if library is None:
        return default_mpi()
    if not library.is_absolute():
        fitting = [mpi for mpi in found_mpis() if mpi.known.soname == library.name]
        if not fitting:
            raise Failure(f"{program} needs {library}, which the loader does not find: load its"
                          " module, or set LD_LIBRARY_PATH")
        return next((mpi for mpi in fitting if mpi.built), fitting[0])
    resolved = library.resolve()
    found = next((mpi for mpi in found_mpis() if mpi.library == resolved), None)
    return replace(found or _private_mpi(resolved), imposed=False)


def check_linked(program: str, mpi: Mpi) -> None:
    """UsageError where `program` would load another MPI library than the one that starts it."""
    library = library_of(program, ask_python=False)
    if library is None:
        return
    # LD_LIBRARY_PATH is searched first, whatever the program names.
    fits = library.name == mpi.known.soname and (
        mpi.is_outside_the_system or not library.is_absolute() or library.resolve() == mpi.library)
    if not fits:
        own = mpi_of(program).name
        known = any(own == each.name for each in found_mpis())
        raise UsageError(f"{program} is linked to {library}, which is not {mpi.title}: "
                         + (f"run it with --mpi {own}" if known else "leave out --mpi, and its own runs it"))


def library_of(program: str, ask_python: bool = True) -> Path | None:
    """The MPI library that the loader would give to `program`; its bare soname if it finds none."""
    answer = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    found = re.search(rf"^\s*({_LIBRARY}) => (not found|\S+)", answer.stdout, re.MULTILINE)
    if found:
        return Path(found[1] if found[2] == "not found" else found[2])
    interpreter = _python_of(program) if ask_python else None
    said = _said_by([interpreter, "-c", _ASK_PYTHON], 30) if interpreter else ""
    found = re.search(rf"(/\S*/{_LIBRARY})$", said, re.MULTILINE)
    return Path(found[1]) if found else None


def _python_of(program: str) -> str | None:
    """`program` itself, or the one that its first line names."""
    if re.fullmatch(r"python[\d.]*", Path(program).name):
        return program
    try:
        with open(program, "rb") as file:
            first = file.readline(200)
    except OSError:
        return None
    words = first[2:].decode(errors="replace").split() if first.startswith(b"#!") else []
    name = next((word for word in words if re.search(r"(^|/)python[\d.]*$", word)), None)
    return name and shutil.which(name)


def _said_by(command: Sequence[str | Path], seconds: float) -> str:
    """Empty where it cannot be started, or does not end."""
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
                                timeout=seconds)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout + answer.stderr


def _private_mpi(library: Path) -> Mpi:
    """One that no compiler wrapper led to."""
    said = version_of(library)
    if said is None:
        raise Failure(f"{library} is of no MPI library that mutirao knows: run the program with its"
                      " own launcher")
    launcher = next(_launchers_of(said[0], library), None)
    if launcher is None:
        raise Failure(f"no launcher of {' '.join(said)} found beside {library} or in PATH: name it"
                      " by --launcher PATH")
    return made_of(*said, None, launcher, library)


def _launchers_of(title: str, library: Path) -> Iterator[Path]:
    """Beside the library, then in PATH."""
    around = [parent / "bin" for parent in library.parents[1:3]]
    for folder in (*around, *map(Path, os.get_exec_path())):
        for name in _LAUNCHERS:
            if (folder / name).is_file() and title_of_launcher(folder / name) == title:
                yield folder / name


def title_of_launcher(launcher: Path) -> str | None:
    """Of the MPI library that it is of, as it says."""
    said = _said_by([launcher, "--version"], 10)
    return next((title for title, word in _LAUNCHER_SAYS.items() if word in said), None)
