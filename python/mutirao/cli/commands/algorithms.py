"""`mutirao algorithms`: the catalogue."""

from mutirao.base.output import print_json, print_table
from mutirao.catalogue import core_tool
from mutirao.catalogue.collectives import COLLECTIVES


def register(subparsers, common) -> None:
    parser = subparsers.add_parser("algorithms", parents=[common],
                                   help="list the algorithms and their parameters")
    parser.add_argument("collective", nargs="?", choices=COLLECTIVES,
                        help="only the algorithms of this one")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    rows = core_tool.algorithms(arguments.collective)
    if arguments.json:
        print_json(rows)
        return 0
    print_table(("algorithm", "parameters", "what it does", "restrictions", "source"),
                [(f"{row['collective']}/{row['name']}", _parameters(row), row["summary"],
                  "; ".join(row["restrictions"]), row["source"]) for row in rows])
    return 0


def _parameters(row: dict) -> str:
    """With spaces, so that narrow terminals break lines between them."""
    parts = []
    if len(row["trees"]) > 1:
        parts.append("kind=" + "|".join(row["trees"]))
    if row["radices"]:
        parts.append("radix=" + "|".join(map(str, row["radices"])))
    if row["segmented"]:
        parts.append("segment_bytes=N")
    if row["insides"]:
        parts.append("inside=" + "|".join(row["insides"]))
    return ", ".join(parts)
