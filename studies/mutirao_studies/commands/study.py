"""`mutirao study`: a paper's experiments run again, as tables, a page to show and raw values."""

import textwrap
import time
from argparse import ArgumentTypeError
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mutirao.base.errors import Failure, UsageError
from mutirao.base.output import note, print_json, tell
from mutirao.base.units import rank_number
from mutirao.cli.studies import COMMANDS
from mutirao.lab.lab import TCP_PROFILES
from mutirao.lab.named_networks import load_network
from mutirao.lab.network import HostNetwork
from mutirao.measure.words import parse_sizes
from mutirao.run.mpis import KNOWN, Mpi, find_mpi, found_mpis
from mutirao.run.user_settings import checked_settings
from mutirao_studies import long_messages, messages, report
from mutirao_studies.document import Document, check_folder, text_of, write_files
from mutirao_studies.loops import loops
from mutirao_studies.paper_000 import (
    agents,
    dynamic_document,
    overhead,
    reaction,
    six_sites,
    six_sites_document,
    six_sites_dynamic,
    start,
)
from mutirao_studies.paper_001 import allgather, allgather_document
from mutirao_studies.paper_002 import interfaces, interfaces_document
from mutirao_studies.paper_003 import paper_003, ping_pong, ping_pong_document

_MOST_TRIPS = 1_000_000  # as the programs hold; two at least, since the first stands apart


@dataclass(frozen=True)
class Asked:
    mpi_names: Sequence[str]
    quick: bool
    settings: Mapping[str, str]  # of the library
    network: HostNetwork | None  # of the lab; None: the study's own
    only: Sequence[str]  # the interfaces, parts or situations; empty: all
    only_mpis: Sequence[str] | None  # those that were asked for
    trips: int | None
    long_messages: long_messages.Plan
    loops: loops.Plan
    seeds: Sequence[str] | None  # of the loops that are drawn; None: by the commit's hash

    @property
    def mpi(self) -> Mpi:
        """The first that is built."""
        built = [mpi for mpi in found_mpis() if mpi.built and mpi.name in self.mpi_names]
        return min(built, key=lambda mpi: self.mpi_names.index(mpi.name), default=None) or find_mpi(self.mpi_names[0])


# What only some take, and why the others do not.
_LONG = ("bytes", "tcp", "ranks", "settled", "no_native")
_LOOPS = ("pairs", "steps_scale", "seeds", "warm")
_REFUSED = {"set": "compares settings of its own", "lab": "is about a network of its own",
            "only": "compares what it needs", "trips": "makes no round trips",
            **dict.fromkeys(_LONG, "has messages, TCP and ranks of its own"), **dict.fromkeys(_LOOPS, "runs no loops in pairs")}


@dataclass(frozen=True)
class Study:
    help: str
    measure: Callable[[Asked], dict]
    document: Callable[[dict], Document]
    takes: Sequence[str] = ()  # of the options that only some take
    paper: str | None = None  # of which it is part of the report


_KINDS = {".html": "page", ".json": "raw values", ".png": "image"}

STUDIES = {
    six_sites.DEMO.study: Study(
        "one broadcast on six sites, without and with mutirao, in a minute",
        lambda asked: six_sites.run_study([asked.mpi.name], asked.quick, six_sites.DEMO),
        six_sites_document.document),
    six_sites.NETWORK: Study(
        "paper 000 while nothing changes: Table 2 and Figure 4",
        lambda asked: six_sites.run_study(asked.mpi_names, asked.quick),
        six_sites_document.document, paper="000"),
    six_sites_dynamic.STUDY: Study(
        "paper 000 while links change: Figures 5, 6 and 7",
        lambda asked: six_sites_dynamic.run_study(asked.mpi, asked.quick), dynamic_document.document, paper="000"),
    reaction.STUDY: Study(
        "a link of the tree gets worse and recovers under a program that goes on: until"
        " broadcasts are good again", lambda asked: reaction.run_study(asked.mpi, asked.quick, asked.settings),
        reaction.document, ["set"], "000"),
    start.STUDY: Study(
        "what the start costs a program, and how soon its broadcasts are good",
        lambda asked: start.run_study(asked.mpi, asked.quick, asked.settings, asked.network),
        start.document, ["set", "lab"], "000"),
    overhead.STUDY: Study(
        "what following the network costs while nothing changes",
        lambda asked: overhead.run_study(asked.mpi, asked.quick, asked.settings), overhead.document, ["set"], "000"),
    loops.STUDY: Study(
        "loops that compute and communicate, natively, with mutirao as it comes, and with a network that is"
        " known", lambda asked: loops.run_study(
            asked.mpi_names, loops.chosen_loops(asked.only, asked.seeds), asked.loops),
        loops.document, ["only", *_LOOPS]),
    long_messages.STUDY: Study(
        "long collectives between sites, in a row and after pauses, with cubic and with BBR, against the physical"
        " bound",
        lambda asked: long_messages.run_study(asked.mpi_names, asked.quick, asked.only, asked.network,
                                              asked.long_messages),
        long_messages.document, ["lab", "only", *_LONG]),
    messages.STUDY: Study(
        "single messages between far hosts, after pauses, against what is predicted of them",
        lambda asked: messages.run_study(asked.mpi_names, asked.quick), messages.document),
    agents.STUDY: Study(
        "what standing agents cost, and what a job gains that finds them",
        lambda asked: agents.run_study(asked.mpi, asked.quick), agents.document, paper="000"),
    allgather.STUDY: Study(
        "paper 001: which allgather Open MPI's rule picks and which is the best, simulated and real",
        lambda asked: allgather.run_study(asked.quick, asked.only), allgather_document.document, ["only"], "001"),
    interfaces.STUDY: Study(
        "paper 002: one Mandelbrot program over sockets, MPI, PVM, VIA, ZeroMQ and gRPC, on this"
        " machine or in the lab",
        lambda asked: interfaces.run_study(asked.mpi_names, asked.quick, asked.only, network=asked.network),
        interfaces_document.document, ["lab", "only"], "002"),
    ping_pong.STUDY: Study(
        "paper 003: messages between two ranks in C, Java and Python",
        lambda asked: ping_pong.run_study(asked.only_mpis, asked.quick, asked.trips, asked.only),
        ping_pong_document.document, ["only", "trips"], "003"),
}
LIST, ALL = "list", "all"


def _number(kind: type, least: float, most: float) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise ArgumentTypeError(f"must be a number from {least} to {most}, not '{text}'")
        return value

    return parse


def _pairs(text: str) -> tuple[int, int]:
    least, dash, most = text.partition("-")
    numbers = (least, most if dash else least)
    if not all(number.isdecimal() for number in numbers) or not 1 <= int(numbers[0]) <= int(numbers[1]) <= 31:
        raise ArgumentTypeError(f"must be a number from 1 to 31, or two such as 4-12, not '{text}'")
    return int(numbers[0]), int(numbers[1])


def _that_take(option: str) -> str:
    return ", ".join(name for name, study in STUDIES.items() if option in study.takes)


def register(subparsers, common) -> None:
    parser = subparsers.add_parser(
        "study", parents=[common], help=COMMANDS["study"])
    parser.add_argument("study", choices=(*STUDIES, LIST, ALL), help="; ".join([
        *(f"{name}: {study.help}" for name, study in STUDIES.items()), f"{LIST}: what there is",
        f"{ALL}: those of the four papers, and one page of them"]))
    parser.add_argument("--mpi", metavar="NAME,...",
                        help=f"{loops.STUDY}, {long_messages.STUDY} and {messages.STUDY} use all of them; elsewhere"
                        f" mutirao's runs use the first, and native ones, in {six_sites.NETWORK} and"
                        f" {interfaces.STUDY}, all; default: {','.join(six_sites.MPIS)}; {ping_pong.STUDY} measures"
                        " those only, by default all that it knows")
    parser.add_argument("--output", type=Path, default=Path("results"), metavar="DIR",
                        help="for the pages and the raw values; default: %(default)s")
    parser.add_argument("--quick", action="store_true", help="measure everything once only")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE",
                        help="a setting of the library under study, for "
                        + _that_take("set"))
    parser.add_argument("--lab", metavar="NETWORK",
                        help="on other hosts: a preset (mutirao lab presets), or a .toml or CSV file, for "
                        + _that_take("lab"))
    parser.add_argument("--only", metavar="NAME,...",
                        help="only these loops, collectives, parts, interfaces or situations, for "
                        + _that_take("only"))
    parser.add_argument("--trips", type=_number(int, 2, _MOST_TRIPS), metavar="N",
                        help=f"round trips of each size, for {ping_pong.STUDY}; default:"
                        f" {paper_003.TRIPS}, with --quick {ping_pong.QUICK_TRIPS}")
    long = parser.add_argument_group(f"for {long_messages.STUDY}")
    long.add_argument("--bytes", metavar="B,...", help="lengths of the whole messages, of all ranks' blocks together")
    long.add_argument("--tcp", metavar="NAME,...", help=f"of {', '.join(TCP_PROFILES)}; default:"
                      f" {','.join(long_messages.CONTROLS)}")
    long.add_argument("-n", "--ranks", type=rank_number, metavar="N", help="default: one a host")
    long.add_argument("--settled", action="store_true", help="once mutirao knows the network, instead of as it comes")
    long.add_argument("--no-native", action="store_true", help="not natively, which takes most of the time")
    pairs = parser.add_argument_group(f"for {loops.STUDY}")
    pairs.add_argument("--pairs", type=_pairs, metavar="N[-M]",
                       help="runs of each; M: so many where it is not clear before whether a loop is slower than"
                       f" {loops.BAR:g} times native; default: {loops.PAIRS}, with --quick {loops.QUICK_PAIRS}")
    pairs.add_argument("--steps-scale", type=_number(float, 0.1, 100), metavar="X",
                       help="times as many steps; default: 1, which is some ten seconds of each loop")
    pairs.add_argument("--seeds", metavar="WORD,...",
                       help="of the loops that are drawn; default: the first words of the commit's hash")
    pairs.add_argument("--warm", action="store_true", help="a second job of the default configuration, too")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    if arguments.study == LIST:
        return _list(arguments)
    only_mpis = arguments.mpi.split(",") if arguments.mpi else None
    names = only_mpis or six_sites.MPIS
    for name in {*names} - {known.name for known in KNOWN}:
        find_mpi(name)  # says which there are
    studies = ({name: study for name, study in STUDIES.items() if study.paper}
               if arguments.study == ALL else {arguments.study: STUDIES[arguments.study]})
    _check_options(arguments, studies.values())
    asked = Asked(names, arguments.quick, checked_settings(arguments.set),
                  load_network(arguments.lab) if arguments.lab else None,
                  arguments.only.split(",") if arguments.only else (), only_mpis, arguments.trips,
                  _long_plan(arguments), _plan(arguments), arguments.seeds.split(",") if arguments.seeds else None)
    check_folder(arguments.output)
    if arguments.study == ALL:
        return _run_all(studies, asked, arguments.output, arguments.json)
    result = _run_one(STUDIES[arguments.study], asked, arguments.output, arguments.json)[0]
    if arguments.json:
        print_json(result)
    return 0


def _long_plan(arguments) -> long_messages.Plan:
    return long_messages.Plan(
        parse_sizes(arguments.bytes) if arguments.bytes else None,
        tuple(arguments.tcp.split(",")) if arguments.tcp else tuple(long_messages.CONTROLS), arguments.ranks,
        arguments.settled, not arguments.no_native)


def _plan(arguments) -> loops.Plan:
    default = loops.QUICK_PAIRS if arguments.quick else loops.PAIRS
    least, most = arguments.pairs or (default, default)
    return loops.Plan(least, most, scale=arguments.steps_scale or 1.0, warm=arguments.warm)


def _check_options(arguments, studies: Collection[Study]) -> None:
    """Each option that one of them does not take is refused."""
    for option, why in _REFUSED.items():
        if getattr(arguments, option) and not all(option in study.takes for study in studies):
            raise UsageError(f"{arguments.study} {why}: it takes no --{option.replace('_', '-')}")


def _list(arguments) -> int:
    rows = [{"study": name, "paper": study.paper, "what": study.help}
            for name, study in STUDIES.items()]
    width = max(map(len, STUDIES))
    tell(arguments.json, rows, "\n".join(
        textwrap.fill(f"{row['study']:{width}}  {row['what']}", 80, subsequent_indent=" " * (width + 2)) for row in rows))
    return 0


def _run_one(study: Study, asked: Asked, folder: Path, quiet: bool) -> tuple[dict, list[Path]]:
    result = study.measure(asked)
    document = study.document(result)
    files = write_files(document, folder)
    if not quiet:
        print("\n".join([text_of(document), "", *(f"{_KINDS[path.suffix]}: {path}" for path in files)]))
    return result, files


def _run_all(studies: Mapping[str, Study], asked: Asked, folder: Path, as_json: bool) -> int:
    """One that fails is left out, and the rest goes on."""
    results, parts = {}, []
    for number, (name, study) in enumerate(studies.items(), 1):
        note(f"study {number} of {len(studies)}, {name}: {study.help}")
        try:
            results[name], files = _run_one(study, asked, folder, as_json)
            page = next(path for path in files if path.suffix == ".html")
            parts.append(report.Part(name, study.paper or "", page))
        except Failure as error:
            reason = str(error).splitlines()[0]
            note(f"{name} left out: {reason}")
            parts.append(report.Part(name, study.paper or "", None, reason))
    if not results:
        raise Failure(f"nothing could be measured: {parts[0].reason}")
    path = report.write_report(parts, time.strftime("%Y-%m-%d %H:%M %z"), folder)
    tell(as_json, results, f"report of all: {path}")
    return 0
