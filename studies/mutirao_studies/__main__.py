"""`python -m mutirao_studies`: studies and replays without the rest of the command line."""

import sys
from collections.abc import Sequence

from mutirao.cli.cli import Parser, add_commands, exit_code_of
from mutirao.cli.studies import COMMANDS


def make_parser() -> Parser:
    parser = Parser(prog="python -m mutirao_studies",
                    description="Four papers' experiments run again, and replays of recorded networks.")
    add_commands(parser, COMMANDS)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    def command() -> int:
        parsed = make_parser().parse_args(arguments)
        return parsed.run(parsed)

    return exit_code_of(command)


if __name__ == "__main__":
    sys.exit(main())
