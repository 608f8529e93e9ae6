"""`mutirao run`: an MPI program with mutirao preloaded, here or in the lab."""

import sys

from mutirao.base.errors import UsageError
from mutirao.base.output import note, print_json
from mutirao.base.paths import CORE_TOOL
from mutirao.explain.report_file import keep_for_explain
from mutirao.run.job import add_arguments, job_of


def register(subparsers, common) -> None:
    parser = subparsers.add_parser(
        "run", parents=[common], help="run an MPI program with mutirao",
        usage="mutirao run [-n N] [--mpi NAME] [--lab NETWORK] [--set NAME=VALUE ...]"
        " [--launcher-args ARG ...] [--] PROGRAM [ARGUMENT ...]")
    add_arguments(parser)
    parser.add_argument("--native", action="store_true",
                        help="without mutirao, for comparison (mutirao compare runs both)")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    job = job_of(arguments, summary=not arguments.json)
    if arguments.report and arguments.native:
        raise UsageError("--report: with --native there is nothing to report; leave one of them out")
    unfit = not job.mpi.built and CORE_TOOL.is_file()
    if unfit:
        note(f"no library for {job.mpi.title} ({job.mpi.library}), so it takes all calls;"
             f" mutirao doctor --build {job.mpi.wrapper or 'PATH'} builds one")
    native = unfit or arguments.native
    with job.placed() as placed:
        finished = placed.run(native, capture=arguments.json)
    sys.stderr.write(finished.errors)
    if not native:
        keep_for_explain(finished.report, job.argv, finished.returncode)
    if arguments.json:
        print_json({"returncode": finished.returncode, "mpi": job.mpi.name, "ranks": placed.ranks,
                    "seconds": round(finished.seconds, 3), "command": finished.command,
                    "lines": finished.lines, "report": finished.report})
    return finished.returncode
