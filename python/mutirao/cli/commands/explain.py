"""`mutirao explain`: the verdict on a run, what ran for which calls, and on request all that is known of them, or that
as one HTML page with pictures."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from mutirao.base.errors import UsageError
from mutirao.base.output import print_json, print_lines, tell
from mutirao.base.units import counted
from mutirao.base.user_files import write_file
from mutirao.explain.choices import class_row, class_took_us
from mutirao.explain.full import as_far_as_counted, forgotten, head, in_full, title, who_took_calls
from mutirao.explain.page import make_page
from mutirao.explain.report_file import read_report, told_as_no_report, with_file
from mutirao.explain.saved import total_of

_PAGE = Path("mutirao-report.html")
_MOST_CLASSES, _MOST_COMMUNICATORS = 8, 3


def register(subparsers, common) -> None:
    parser = subparsers.add_parser(
        "explain", parents=[common], help="say which algorithms the last run used, and why; draw that")
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE",
                        help="a report (run --report FILE); default: that of the last run")
    parser.add_argument("--running", action="store_true",
                        help="ask a job that still runs: that of `mutirao run`, or whose report is to be FILE")
    parser.add_argument("--all", action="store_true", dest="everything",
                        help="all that is known: reasons, candidates, trees, changes")
    parser.add_argument("--page", action="store_true", help="all that as one HTML page with pictures")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.html", help=f"where to; default: {_PAGE}")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    if arguments.output and not arguments.page:
        raise UsageError("--output is for the page: it needs --page")
    report = read_report(arguments.file, arguments.running)
    if arguments.page:
        return _draw(report, arguments)
    if arguments.json:
        print_json(report)
        return 0
    with told_as_no_report(arguments.file):
        lines = list(explain(report, arguments.everything))
    print_lines(lines)
    if report["communicators"]:
        more = [] if arguments.everything else [f"reasons: {with_file('mutirao explain --all', arguments.file)}"]
        print_lines(["", "; ".join([*more, f"with pictures: {with_file('mutirao explain --page', arguments.file)}"])])
    return 0


def _draw(report: dict, arguments) -> int:
    with told_as_no_report(arguments.file):
        page, total = make_page(report, arguments.file), total_of(report)
    path = arguments.output or _PAGE
    write_file(path, page)
    tell(arguments.json, {"page": str(path), "saved_us": total["net_us"], "verdict": total["line"]}, f"page: {path}")
    return 0


def explain(report: dict, everything: bool = False) -> Iterator[str]:
    yield from head(report, with_verdict=True)
    if not report["communicators"] and not report.get("no_report"):
        yield "No communicator had a collective call that mutirao handles."
    yield from in_full(report) if everything else _in_short(report)
    for line in forgotten(report):
        yield ""
        yield line


def _in_short(report: dict) -> Iterator[str]:
    """The communicators that took longest, with a line for each kind of call."""
    ranked = sorted(map(as_far_as_counted, report["communicators"]), reverse=True,
                    key=lambda communicator: sum(map(class_took_us, communicator["classes"])))
    left = _MOST_CLASSES
    for number, communicator in enumerate(ranked):
        if number == _MOST_COMMUNICATORS or (number and left <= 0):
            yield ""
            yield f"{counted(len(ranked) - number, 'more communicator')} (--all)"
            return
        yield ""
        yield f"{title(communicator)}; {who_took_calls(communicator)}"
        classes = sorted(communicator.get("classes", ()), key=class_took_us, reverse=True)
        yield from _table(classes[:left])
        if len(classes) > left:
            yield f"  {counted(len(classes) - left, 'more kind')} of calls"
        left -= len(classes)


def _table(classes: Sequence[dict]) -> Iterator[str]:
    rows = list(map(class_row, classes))
    widths = [max((len(row[column]) for row in rows), default=0) for column in (0, 1)]
    for name, calls, ran in rows:
        yield f"  {name:<{widths[0]}}  {calls:>{widths[1]}}  {ran}"
