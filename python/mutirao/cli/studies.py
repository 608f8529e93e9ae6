"""The commands of studies and replays. Their modules lie in the folder `studies` of a checkout, which is no part of the
product: it is looked for there, and among Python's packages."""

import importlib
import importlib.util
import sys
from argparse import REMAINDER, SUPPRESS
from typing import NoReturn

from mutirao.base.errors import Failure
from mutirao.base.paths import ROOT

COMMANDS = {"study": "run a paper's experiments in the lab",
            "replay": "judge change thresholds on recorded latencies, without a network"}
_PACKAGE = "mutirao_studies"
_FOLDER = ROOT / "studies"


def register(name: str, subparsers, common) -> None:
    if _found():
        importlib.import_module(f"{_PACKAGE}.commands.{name}").register(subparsers, common)
        return
    # The help says nothing of it. No character begins an option: whatever is asked for has the same answer.
    parser = subparsers.add_parser(name, prefix_chars="\0", add_help=False)
    parser.add_argument("words", nargs=REMAINDER, help=SUPPRESS)
    parser.set_defaults(run=_refuse)


def _found() -> bool:
    if (_FOLDER / _PACKAGE).is_dir() and str(_FOLDER) not in sys.path:
        sys.path.append(str(_FOLDER))
    return importlib.util.find_spec(_PACKAGE) is not None


def _refuse(arguments) -> NoReturn:
    name = arguments.command
    raise Failure(f"{name} is not installed along: run ./mutirao {name} in a clone of mutirao")
