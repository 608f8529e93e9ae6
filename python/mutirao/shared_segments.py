"""Shared memory that killed ranks leave behind: MPI libraries remove theirs only when they end well."""

import os
from collections.abc import Iterator
from pathlib import Path

_FOLDER = Path("/dev/shm")
_OF_MPI = ("mpich_shm_*", "sm_segment.*", "vader_segment.*", "Intel_MPI_*")


def remove_orphaned_segments(since: float, folder: Path = _FOLDER) -> None:
    """Those of MPI libraries, made by this user since a time of the clock, that no process holds.

    Other jobs may run on this machine: theirs are held, by the rank that made them or by all.
    """
    young = [path for pattern in _OF_MPI for path in folder.glob(pattern)
             if _is_ours(path, since)]
    held = set(_held(folder)) if young else set()
    for path in young:
        if path.name not in held:
            path.unlink(missing_ok=True)


def _is_ours(path: Path, since: float) -> bool:
    try:
        status = path.stat()
    except FileNotFoundError:
        return False
    return status.st_uid == os.geteuid() and status.st_ctime >= since


def _held(folder: Path) -> Iterator[str]:
    """Names of the folder's files that some process has mapped or open."""
    prefix = f"{folder}/"
    for process in Path("/proc").glob("[0-9]*"):
        try:
            for line in (process / "maps").read_text(errors="replace").splitlines():
                if prefix in line:
                    yield line.partition(prefix)[2].split(" ")[0]
            for descriptor in (process / "fd").iterdir():
                if (target := os.readlink(descriptor)).startswith(prefix):
                    yield target.removeprefix(prefix)
        except OSError:
            pass  # it has ended, or is not ours
