"""The command line: finds the command, and turns every failure into one line and an exit code."""

import argparse
import importlib
import math
import os
import re
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

from mutirao import __version__
from mutirao.base.errors import Failure, UsageError, did_you_mean, unknown
from mutirao.cli import studies

# Modules of mutirao.cli.commands, or of studies, in the order and under the headings of the help.
GROUPS = {
    "run": ("run", "compare", "env", "agent", "doctor"),
    "understand": ("explain", "show", "top"),
    "tune": ("bench", "tune", "profile"),
    "lab": ("lab",),
    "for developers": ("new-algorithm", *studies.COMMANDS),
}
COMMANDS = tuple(name for names in GROUPS.values() for name in names)


class Parser(argparse.ArgumentParser):
    """An argparse parser whose errors are one line that names what is near."""

    _given: Sequence[str] = ()

    def __init__(self, *positional, **named):
        named.setdefault("allow_abbrev", False)
        super().__init__(*positional, **named)

    def parse_known_args(self, args=None, namespace=None):
        self._given = list(sys.argv[1:] if args is None else args)
        return super().parse_known_args(args, namespace)

    def _get_values(self, action, arg_strings):
        """Refuses nothing where something is needed, and numbers that are none."""
        if "" in arg_strings and action.nargs not in (argparse.REMAINDER, argparse.PARSER):
            raise argparse.ArgumentError(action, "expected one argument")
        values = super()._get_values(action, arg_strings)
        if isinstance(values, float) and not math.isfinite(values):
            raise argparse.ArgumentError(action, f"must be a number, not '{values}'")
        return values

    def error(self, message: str) -> NoReturn:
        if found := re.fullmatch(r"argument (.+): invalid choice: '?(.*?)'? \(choose from (.*)\)",
                                 message):
            what, wanted, choices = found.groups()
            names = re.findall(r"[\w.-]+", choices)
            raise unknown(what if what.startswith("-") else what.lower(), wanted, names)
        if found := re.fullmatch(r"unrecognized arguments: (\S+).*", message, re.DOTALL):
            raise UsageError(self._said_of_unknown(found[1]))
        if found := re.fullmatch(r"the following arguments are required: (.*)", message):
            if odd := next(filter(self._is_no_option, self._given), None):
                raise UsageError(self._said_of_unknown(odd))
            message = self._said_of_missing(found[1])
        message = re.sub(r": invalid (int|float) value: (?='.*'$)",
                         lambda found: f": must be a {'whole ' * (found[1] == 'int')}number, not ", message)
        command = self.prog.partition(" ")[2]
        raise UsageError(f"{command}: {message}" if command else message)

    def _is_no_option(self, word: str) -> bool:
        known = self._option_string_actions
        return bool(re.match("--?[A-Za-z]", word)) and not {word[:2], word.partition("=")[0]} & known.keys()

    def _said_of_missing(self, names: str) -> str:
        known = next((action.choices for action in self._actions
                      if action.choices and names in (action.dest, action.metavar)), ())
        return (f"{names} {'are' if ', ' in names else 'is'} missing"
                + (f" (known: {', '.join(known)})" if known else ""))

    def _said_of_unknown(self, argument: str) -> str:
        """With what is near among the command's own."""
        own = Command((), self)
        for word in self._given:
            own = next((child for child in own.children if child.words[-1] == word), own)
        return (f"unknown argument '{argument}'"
                + did_you_mean(argument.partition("=")[0], set(own.parser._option_string_actions)))


@dataclass(frozen=True)
class Command:
    words: tuple[str, ...]  # that lead there
    parser: argparse.ArgumentParser
    summary: str = ""

    @property
    def children(self) -> "list[Command]":
        return [Command((*self.words, row.dest), action.choices[row.dest], row.help or "")
                for action in self.parser._actions if isinstance(action, argparse._SubParsersAction)
                for row in action._choices_actions]

    def all_below(self) -> "Iterator[Command]":
        for child in self.children:
            yield child
            yield from child.all_below()


class _InGroups(argparse.HelpFormatter):
    """The commands under the headings of GROUPS."""

    def _format_action(self, action):
        if not isinstance(action, argparse._SubParsersAction):
            return super()._format_action(action)
        rows = {row.dest: row for row in action._choices_actions}
        text = ""
        for heading, names in GROUPS.items():
            text += f"\n  {heading}:\n"
            self._indent()
            text += "".join([self._format_action(rows[name]) for name in names if name in rows])
            self._dedent()
        return text


def make_parser(names: Iterable[str] = COMMANDS) -> Parser:
    parser = Parser(prog="mutirao", formatter_class=_InGroups, description="Makes the collectives of any MPI program"
                    " fit the network it really runs on.")
    parser.add_argument("--version", action="version", version=f"mutirao {__version__}")
    add_commands(parser, names)
    return parser


def add_commands(parser: Parser, names: Iterable[str]) -> None:
    common = Parser(add_help=False)
    common.add_argument("--json", action="store_true", help="print JSON")
    subparsers = parser.add_subparsers(title="commands", dest="command", metavar="command", required=True)
    for name in names:
        if name in studies.COMMANDS:
            studies.register(name, subparsers, common)
        else:
            importlib.import_module(f"mutirao.cli.commands.{name.replace('-', '_')}").register(subparsers, common)


def _as_options(words: list[str]) -> list[str]:
    """Also `mutirao`, `mutirao version` and `mutirao help COMMAND`, as other tools have them."""
    if words[:1] in ([], ["help"]):
        return [*words[1:], "--help"]
    return ["--version"] if words == ["version"] else words


def _end_on(signal_number: int, _frame) -> NoReturn:
    raise SystemExit(128 + signal_number)


def main(arguments: Sequence[str] | None = None) -> int:
    def command() -> int:
        words = _as_options(list(sys.argv[1:] if arguments is None else arguments))
        # The modules of other commands need not be loaded.
        parsed = make_parser(words[:1] if words[0] in COMMANDS else COMMANDS).parse_args(words)
        return parsed.run(parsed)

    return exit_code_of(command)


def exit_code_of(command: Callable[[], int]) -> int:
    """Of what is run from a command line: each failure is one line on stderr, and wrong usage is exit code 2."""
    # So that whatever a command started is ended by its `finally`, as on Ctrl-C.
    signal.signal(signal.SIGTERM, _end_on)
    signal.signal(signal.SIGHUP, _end_on)
    try:
        return command()
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
