"""What an MPI library says of itself, and whether one of ours fits it: asked of the code that decides this when a
program runs."""

import json
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mutirao.paths import BUILD

PROGRAM = BUILD / "bin" / "mutirao-mpi-library"


@dataclass(frozen=True)
class AboutLibrary:
    version: str  # as it says it
    standard: int  # major version of the MPI standard
    abi: str  # the binary interface's name
    fits: bool


UNKNOWN = AboutLibrary("", 0, "unknown", False)


@cache
def about(library: Path) -> AboutLibrary:
    if not PROGRAM.is_file():
        return UNKNOWN
    answer = subprocess.run([PROGRAM, library], capture_output=True, text=True, check=False)
    return AboutLibrary(**json.loads(answer.stdout)) if answer.returncode == 0 else UNKNOWN
