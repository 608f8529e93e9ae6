"""`mutirao report`: what `mutirao explain` says of a run, as one HTML page with pictures."""

from pathlib import Path

from mutirao.commands.explain import read_report
from mutirao.errors import Failure, UsageError
from mutirao.output import print_json
from mutirao.reports.page import make_page
from mutirao.saved import all_classes, saved_in
from mutirao.studies.html import written

_PAGE = Path("mutirao-report.html")


def register(subparsers, common) -> None:
    parser = subparsers.add_parser(
        "report", parents=[common], help="draw the report of the last run as one HTML page")
    parser.add_argument("file", nargs="?", type=Path,
                        help="a report (run --report FILE); default: that of the last run")
    parser.add_argument("-o", "--output", type=Path, default=_PAGE, metavar="FILE.html",
                        help="default: %(default)s")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    try:
        report = read_report(arguments.file)
        page = written(arguments.output, make_page(report, arguments.file))
    except Failure as failure:  # either file is the caller's choice
        raise UsageError(str(failure)) from None
    if arguments.json:
        saved = saved_in(all_classes(report))
        print_json({"page": str(page), "saved_us": saved and saved.us,
                    "known": saved and saved.known})
    else:
        print(f"page: {page}")
    return 0
