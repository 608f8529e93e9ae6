"""The command line: finds the command, and turns every failure into one line and an exit code."""

import argparse
import importlib
import os
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from typing import NoReturn

from mutirao import __version__
from mutirao.errors import Failure, UsageError, did_you_mean

# Modules of mutirao.commands, in the order of the help.
COMMANDS = (
    "run",
    "env",
    "lab",
    "explain",
    "report",
    "show",
    "algorithms",
    "new_algorithm",
    "settings",
    "bench",
    "tune",
    "profile",
    "guidelines",
    "study",
    "agent",
    "top",
    "replay",
    "doctor",
    "build",
)


class Parser(argparse.ArgumentParser):
    """An argparse parser whose errors are one line that names what is near."""

    def __init__(self, *positional, **named):
        named.setdefault("allow_abbrev", False)
        super().__init__(*positional, **named)

    def error(self, message: str) -> NoReturn:
        if found := re.fullmatch(r"argument (.+): invalid choice: '?(.*?)'? \(choose from (.*)\)",
                                 message):
            what, wanted, choices = found.groups()
            names = re.findall(r"[\w.-]+", choices)
            raise UsageError(f"unknown {what} '{wanted}'{did_you_mean(wanted, names)}"
                             f" (known: {', '.join(names)})")
        if found := re.fullmatch(r"unrecognized arguments: (\S+).*", message):
            near = did_you_mean(found[1], set(_options(self)))
            raise UsageError(f"unknown argument '{found[1]}'{near}")
        command = self.prog.partition(" ")[2]
        raise UsageError(f"{command}: {message}" if command else message)


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        yield from action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                yield from _options(child)


def make_parser() -> Parser:
    parser = Parser(prog="mutirao", description="Makes the collectives of any MPI program fit the"
                    " network it really runs on.")
    parser.add_argument("--version", action="version", version=f"mutirao {__version__}")
    common = Parser(add_help=False)
    common.add_argument("--json", action="store_true", help="print JSON")
    subparsers = parser.add_subparsers(dest="command", metavar="command", required=True)
    for name in COMMANDS:
        importlib.import_module(f"mutirao.commands.{name}").register(subparsers, common)
    return parser


def _end_on(signal_number: int, _frame) -> NoReturn:
    raise SystemExit(128 + signal_number)


def main(arguments: Sequence[str] | None = None) -> int:
    # So that whatever a command started is ended by its `finally`, as on Ctrl-C.
    signal.signal(signal.SIGTERM, _end_on)
    signal.signal(signal.SIGHUP, _end_on)
    try:
        parsed = make_parser().parse_args(arguments)
        return parsed.run(parsed)
    except UsageError as error:
        print(f"mutirao: {error}", file=sys.stderr)
        return 2
    except Failure as error:
        print(f"mutirao: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of a pipe has gone; Python would complain once more when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE


def entry() -> NoReturn:
    sys.exit(main())
