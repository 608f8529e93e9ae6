"""`mutirao settings`: every setting, its range and its default."""

from mutirao import core_tool
from mutirao.output import print_json, print_table


def register(subparsers, common) -> None:
    parser = subparsers.add_parser("settings", parents=[common],
                                   help="list the settings (run --set, mutirao.toml, environment)")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    rows = core_tool.settings()
    if arguments.json:
        print_json(rows)
        return 0
    print_table(("setting", "environment", "default", "range", "what it does"),
                [(row["name"], row["environment"], row["default"], row["range"] or row["type"],
                  row["help"]) for row in rows])
    return 0
