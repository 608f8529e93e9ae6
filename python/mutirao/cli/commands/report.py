"""`mutirao report`: what `mutirao explain` says of a run, as one HTML page with pictures."""

from pathlib import Path

from mutirao.base.errors import Failure, UsageError
from mutirao.base.output import print_json
from mutirao.explain.page import make_page
from mutirao.explain.report_file import add_arguments, read_report
from mutirao.explain.saved import total_of
from mutirao.pages.html import written

_PAGE = Path("mutirao-report.html")


def register(subparsers, common) -> None:
    parser = subparsers.add_parser(
        "report", parents=[common], help="draw the report of the last run as one HTML page")
    add_arguments(parser)
    parser.add_argument("-o", "--output", type=Path, default=_PAGE, metavar="FILE.html",
                        help="default: %(default)s")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    report = read_report(arguments.file, arguments.running)
    try:
        page = written(arguments.output, make_page(report, arguments.file))
    except Failure as failure:  # the file is the caller's choice
        raise UsageError(str(failure)) from None
    if arguments.json:
        total = total_of(report)
        print_json({"page": str(page), "saved_us": total.net_us, "verdict": total.line})
    else:
        print(f"page: {page}")
    return 0
