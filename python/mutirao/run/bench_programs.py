"""The C programs of bench/ for one MPI library: as the build left them, or, where mutirao is installed, compiled
from their sources when they are first needed, since a site's MPI is known only there."""

import hashlib
import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from mutirao.base.errors import Failure
from mutirao.base.paths import BUILD, INSTALLED, own_name, state_folder

if TYPE_CHECKING:
    from mutirao.run.mpis import Mpi

SOURCES = BUILD / "bench"


def program(mpi: "Mpi", name: str) -> Path:
    """Its path; a Failure where it is not there and cannot be made."""
    built = mpi.build_folder / name
    if built.is_file():
        return built
    source = next(SOURCES.rglob(f"{name}.c"), None) if INSTALLED else None
    if source is None:
        raise Failure(f"{name} is not built for {mpi.name}: run make build")
    if mpi.wrapper is None:
        raise Failure(f"{name} must be compiled for {mpi.title} first, which is here without its mpicc: install"
                      " the files for developers")
    kept = state_folder() / "programs" / _key(mpi) / name
    if not kept.is_file():
        _compile(mpi, source, kept)
    return kept


def _key(mpi: "Mpi") -> str:
    """Another library, another version of it or other sources make other programs."""
    known = hashlib.sha256(f"{mpi.title} {mpi.wrapper} {mpi.library}".encode())
    for source in sorted(SOURCES.rglob("*.[ch]")):
        known.update(source.read_bytes())
    return known.hexdigest()[:16]


def _compile(mpi: "Mpi", source: Path, result: Path) -> None:
    """Two commands at once may compile the same program; whoever is last puts it there again."""
    result.parent.mkdir(parents=True, exist_ok=True)
    fresh = result.with_name(f"{result.name}.{own_name()}")
    command = [str(mpi.wrapper), "-std=gnu11", "-O2", f"-I{SOURCES}", str(source), "-o", str(fresh), "-lm", "-ldl"]
    with tempfile.TemporaryFile("w+") as said:
        try:
            failed = subprocess.run(command, stdout=said, stderr=said, check=False,
                                    env={**os.environ, **mpi.environment()}).returncode != 0
        except OSError as error:
            raise Failure(f"{mpi.wrapper} cannot be run: {error.strerror}") from None
        if failed:
            said.seek(0)
            first = next((line for line in said if "error" in line), "").strip()
            raise Failure(f"{source.name} cannot be compiled: {first or shlex.join(command)}")
    fresh.replace(result)
