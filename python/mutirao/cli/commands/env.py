"""`mutirao env`: prepares a shell so that what it starts is preloaded, by whatever launcher."""

import os
import shlex
from collections.abc import Iterable

from mutirao.base.errors import Failure
from mutirao.base.output import tell
from mutirao.base.paths import PRELOAD
from mutirao.run.launch import PREFIX, preloaded
from mutirao.run.launchers import in_slurm
from mutirao.run.mpis import Mpi, default_mpi, find_mpi
from mutirao.run.user_settings import add_settings, gather_settings, with_files

_OPEN_MPI_LIST = "OMPI_MCA_mca_base_env_list"


def register(subparsers, common) -> None:
    parser = subparsers.add_parser(
        "env", parents=[common], help='prepare a job script: eval "$(mutirao env)", then srun or mpirun ./app')
    parser.add_argument("--mpi", metavar="NAME", help="that of the programs; default: the first found")
    add_settings(parser)
    parser.set_defaults(run=run)


def run(arguments) -> int:
    mpi = find_mpi(arguments.mpi) if arguments.mpi else default_mpi()
    if not mpi.built:
        raise Failure(mpi.missing)
    settings = with_files(gather_settings(arguments.assignments))
    variables = {PREFIX + name.upper(): value for name, value in settings.items()} | preloaded([PRELOAD])
    variables |= _what_takes_along(variables, mpi)
    exports = [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
    tell(arguments.json, {"mpi": mpi.name, "environment": variables},
         "\n".join([f"# for {mpi.title}; mutirao env --mpi NAME is for another", *exports]))
    return 0


def _what_takes_along(names: Iterable[str], mpi: Mpi) -> dict[str, str]:
    """What has the launchers take these variables to other hosts, beside those that the user named."""
    variables = {}
    exported = os.environ.get("SLURM_EXPORT_ENV", "ALL").split(",")  # of sbatch --export
    if "ALL" not in exported:
        kept = [name for name in exported if name not in ("NONE", "NIL")]
        variables["SLURM_EXPORT_ENV"] = ",".join(dict.fromkeys([*kept, *names]))
    # Open MPI's mpirun takes along what it is told to. In an allocation srun, by which it starts its daemons, does
    # that, and mpirun of Open MPI 4 ends at a -x beside this list.
    if mpi.known.title == "Open MPI" and not in_slurm():
        users = filter(None, os.environ.get(_OPEN_MPI_LIST, "").split(";"))
        variables[_OPEN_MPI_LIST] = ";".join(dict.fromkeys([*users, *names]))
    return variables
