"""`mutirao study`: a paper's experiments run again, as a table, a page to show and raw values."""

from pathlib import Path

from mutirao.errors import Failure
from mutirao.output import print_json
from mutirao.studies import six_sites
from mutirao.studies.page import write_page
from mutirao.studies.tables import print_tables

STUDIES = (six_sites.NETWORK,)


def register(subparsers, common) -> None:
    parser = subparsers.add_parser("study", parents=[common],
                                   help="run a paper's experiments in the lab")
    parser.add_argument("study", choices=STUDIES)
    parser.add_argument("--mpi", default=",".join(six_sites.MPIS), metavar="NAME,...",
                        help="native runs use all of them, mutirao's the first; default:"
                        " %(default)s")
    parser.add_argument("--output", type=Path, default=Path("results"), metavar="DIR",
                        help="for the page and the raw values; default: %(default)s")
    parser.add_argument("--quick", action="store_true", help="measure everything once only")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    names = arguments.mpi.split(",")
    six_sites.plan(names)  # an unknown name is told before anything is made
    try:
        arguments.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(f"cannot write to {arguments.output}: {error.strerror}") from None
    result = six_sites.run_study(names, arguments.quick)
    page, values = write_page(result, six_sites.pictures(result), arguments.output)
    if arguments.json:
        print_json(result)
    else:
        print_tables(result)
        print(f"page:       {page}\nraw values: {values}")
    return 0
