"""`mutirao settings`: every setting, what it is now and where that was said, and what else it may be."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from mutirao.base.output import print_json, print_lines
from mutirao.catalogue import core_tool
from mutirao.run.user_settings import settings_given


def register(subparsers, common) -> None:
    parser = subparsers.add_parser("settings", parents=[common],
                                   help="list the settings, their values and where these come from")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="assignments",
                        help="as it would be given to run")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    given = settings_given(arguments.assignments)
    rows = [{**row, "value": given[row["name"]].value, "from": given[row["name"]].place}
            if row["name"] in given else {**row, "value": row["default"], "from": "default"}
            for row in core_tool.settings()]
    if arguments.json:
        print_json(rows)
    else:
        print_lines(_lines(rows), hanging="")
    return 0


def _lines(rows: Sequence[dict]) -> Iterator[str]:
    """Those that do the same for another collective share their words."""
    for what, alike in groupby(rows, key=lambda row: row["help"]):
        for row in alike:
            yield _head(row)
        yield f"    {what}"
    yield ""
    yield ("Given by --set NAME=VALUE, in mutirao.toml, or in the environment as MUTIRAO_ and the name in capitals;"
           " the first of these wins.")


def _head(row: dict) -> str:
    more = [row["from"]]
    if row["from"] != "default":
        more.append(f"default {row['default'] or 'empty'}")
    more.append(row["range"] or row["type"])
    return f"{row['name']} = {row['value'] or '(empty)'}  [{'; '.join(more)}]"
