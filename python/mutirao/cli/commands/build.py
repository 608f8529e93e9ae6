"""`mutirao build`: the libraries for every MPI found, and for one that is not."""

import subprocess

from mutirao.base.errors import Failure
from mutirao.base.paths import ROOT
from mutirao.run.mpis import find_mpi


def register(subparsers, common) -> None:
    parser = subparsers.add_parser("build", parents=[common],
                                   help="build for every MPI in PATH and those known, in the source folder")
    parser.add_argument("--mpicc", action="append", default=[], metavar="PATH",
                        help="also for the MPI library of this compiler wrapper, from now on")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    script = ROOT / "scripts" / "build.sh"
    if not script.is_file():
        raise Failure("this mutirao is installed: build in its source folder, by mutirao build and"
                      " make install")
    wrappers = [word for path in arguments.mpicc
                for word in ("--mpicc", str(find_mpi(path if "/" in path else f"./{path}").wrapper))]
    return subprocess.run([script, *wrappers], check=False).returncode
