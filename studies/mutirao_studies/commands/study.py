"""`mutirao study`: a paper's experiments run again, as tables, a page to show and raw values."""

import textwrap
import time
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mutirao.base.errors import Failure, UsageError
from mutirao.base.output import note, print_json
from mutirao.cli.studies import COMMANDS
from mutirao.lab.named_networks import load_network
from mutirao.lab.network import HostNetwork
from mutirao.pages.html import Page
from mutirao.run.mpis import KNOWN, Mpi, find_mpi, found_mpis
from mutirao.run.user_settings import checked_settings
from mutirao_studies import long_messages, messages, report
from mutirao_studies.loops import loops, loops_page
from mutirao_studies.page_parts import make_folder, write_files
from mutirao_studies.paper_000 import (
    agents,
    agents_page,
    dynamic_page,
    dynamic_tables,
    overhead,
    overhead_page,
    page,
    reaction,
    reaction_page,
    six_sites,
    six_sites_dynamic,
    start,
    start_page,
    tables,
)
from mutirao_studies.paper_001 import allgather, allgather_page, allgather_tables
from mutirao_studies.paper_002 import interfaces, interfaces_page, interfaces_tables
from mutirao_studies.paper_003 import paper_003, ping_pong, ping_pong_page, ping_pong_tables

_MOST_TRIPS = 1_000_000  # as the programs hold


@dataclass(frozen=True)
class Asked:
    mpi_names: Sequence[str]
    quick: bool
    settings: Mapping[str, str]  # of the library
    network: HostNetwork | None  # of the lab; None: the study's own
    only: Sequence[str]  # the interfaces, parts or situations; empty: all
    only_mpis: Sequence[str] | None  # those that were asked for
    trips: int | None
    loops: loops.Plan
    seeds: Sequence[str] | None  # of the loops that are drawn; None: by the commit's hash


@dataclass(frozen=True)
class Study:
    help: str
    measure: Callable[[Asked], dict]
    write: Callable[[dict, Path], list[Path]]  # the files that it leaves
    print: Callable[[dict], None]
    takes_settings: bool = False  # or it compares settings of its own
    takes_network: bool = False  # or it is about one
    takes_only: bool = False  # or it compares what it needs
    takes_trips: bool = False
    takes_pairs: bool = False  # and what else loops are asked with
    paper: str | None = None  # of which it is part of the report


def _first_built(names: Sequence[str]) -> Mpi:
    built = [mpi for mpi in found_mpis() if mpi.built and mpi.name in names]
    return min(built, key=lambda mpi: names.index(mpi.name), default=None) or find_mpi(names[0])


def _with_one(run_study: Callable[[Mpi, bool], dict]):
    return lambda asked: run_study(_first_built(asked.mpi_names), asked.quick)


def _with_settings(run_study: Callable[[Mpi, bool, Mapping[str, str]], dict]):
    return lambda asked: run_study(_first_built(asked.mpi_names), asked.quick, asked.settings)


def _drawn(make_page: Callable[[dict], Page]) -> Callable[[dict, Path], list[Path]]:
    """The page and the raw values beside it."""
    return lambda result, folder: write_files(make_page(result), folder)


_KINDS = {".html": "page", ".json": "raw values", ".png": "image"}

STUDIES = {
    six_sites.DEMO.study: Study(
        "one broadcast on six sites, without and with mutirao, in a minute",
        _with_one(six_sites.run_demo), page.write_demo, tables.print_demo),
    six_sites.NETWORK: Study(
        "paper 000 while nothing changes: Table 2 and Figure 4",
        lambda asked: six_sites.run_study(asked.mpi_names, asked.quick),
        lambda result, folder: page.write_page(result, six_sites.pictures(result), folder),
        tables.print_tables, paper="000"),
    six_sites_dynamic.STUDY: Study(
        "paper 000 while links change: Figures 5, 6 and 7",
        _with_one(six_sites_dynamic.run_study), _drawn(dynamic_page.make_page),
        dynamic_tables.print_tables, paper="000"),
    reaction.STUDY: Study(
        "a link of the tree gets worse and recovers under a program that goes on: until"
        " broadcasts are good again", _with_settings(reaction.run_study), _drawn(reaction_page.make_page),
        reaction.print_tables, takes_settings=True, paper="000"),
    start.STUDY: Study(
        "what the start costs a program, and how soon its broadcasts are good",
        lambda asked: start.run_study(_first_built(asked.mpi_names), asked.quick, asked.settings,
                                      asked.network),
        _drawn(start_page.make_page), start.print_tables, takes_settings=True, takes_network=True,
        paper="000"),
    overhead.STUDY: Study(
        "what following the network costs while nothing changes",
        _with_settings(overhead.run_study), _drawn(overhead_page.make_page), overhead.print_tables,
        takes_settings=True, paper="000"),
    loops.STUDY: Study(
        "loops that compute and communicate, natively, with mutirao as it comes, and with a network that is"
        " known", lambda asked: loops.run_study(
            asked.mpi_names, loops.chosen_loops(asked.only, asked.seeds), asked.loops),
        _drawn(loops_page.make_page), loops.print_tables, takes_only=True, takes_pairs=True),
    long_messages.STUDY: Study(
        "long collectives between sites, in a row and after pauses, with cubic and with BBR, against the physical bound",
        lambda asked: long_messages.run_study(asked.mpi_names, asked.quick, asked.only, asked.network),
        _drawn(long_messages.make_page), long_messages.print_tables, takes_network=True, takes_only=True),
    messages.STUDY: Study(
        "single messages between far hosts, after pauses, against what is predicted of them",
        lambda asked: messages.run_study(asked.mpi_names, asked.quick), _drawn(messages.make_page), messages.print_tables),
    agents.STUDY: Study(
        "what standing agents cost, and what a job gains that finds them",
        _with_one(agents.run_study), _drawn(agents_page.make_page), agents.print_tables, paper="000"),
    allgather.STUDY: Study(
        "paper 001: which allgather Open MPI's rule picks and which is the best, simulated and real",
        lambda asked: allgather.run_study(asked.quick, asked.only),
        _drawn(allgather_page.make_page), allgather_tables.print_tables, takes_only=True, paper="001"),
    interfaces.STUDY: Study(
        "paper 002: one Mandelbrot program over sockets, MPI, PVM, VIA, ZeroMQ and gRPC, on this"
        " machine or in the lab",
        lambda asked: interfaces.run_study(asked.mpi_names, asked.quick, asked.only,
                                           network=asked.network),
        interfaces_page.write_page, interfaces_tables.print_tables, takes_network=True, takes_only=True,
        paper="002"),
    ping_pong.STUDY: Study(
        "paper 003: messages between two ranks in C, Java and Python",
        lambda asked: ping_pong.run_study(asked.only_mpis, asked.quick, asked.trips, asked.only),
        _drawn(ping_pong_page.make_page), ping_pong_tables.print_tables, takes_only=True, takes_trips=True,
        paper="003"),
}
LIST, ALL = "list", "all"


def _trips(text: str) -> int:
    """The first stands apart, and the others have a median."""
    if not text.isdecimal() or not 2 <= int(text) <= _MOST_TRIPS:
        raise ArgumentTypeError(f"must be a number from 2 to {_MOST_TRIPS}, not '{text}'")
    return int(text)


def _pairs(text: str) -> tuple[int, int]:
    least, dash, most = text.partition("-")
    numbers = (least, most if dash else least)
    if not all(number.isdecimal() for number in numbers) or not 1 <= int(numbers[0]) <= int(numbers[1]) <= 31:
        raise ArgumentTypeError(f"must be a number from 1 to 31, or two such as 4-12, not '{text}'")
    return int(numbers[0]), int(numbers[1])


def _scale(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.1 <= value <= 100:
        raise ArgumentTypeError(f"must be a number from 0.1 to 100, not '{text}'")
    return value


def register(subparsers, common) -> None:
    parser = subparsers.add_parser(
        "study", parents=[common], help=COMMANDS["study"])
    parser.add_argument("study", choices=(*STUDIES, LIST, ALL), help="; ".join([
        *(f"{name}: {study.help}" for name, study in STUDIES.items()), f"{LIST}: what there is",
        f"{ALL}: those of the four papers, and one page of them"]))
    parser.add_argument("--report", type=Path, metavar="DIR",
                        help=f"for {ALL}: where the page of all papers and theirs go; default: that of"
                        " --output")
    parser.add_argument("--mpi", metavar="NAME,...",
                        help="mutirao's runs use the first; native ones, in six-sites, use all of"
                        f" them; default: {','.join(six_sites.MPIS)}; {ping_pong.STUDY} measures"
                        " those only, by default all that it knows")
    parser.add_argument("--output", type=Path, default=Path("results"), metavar="DIR",
                        help="for the page and the raw values; default: %(default)s")
    parser.add_argument("--quick", action="store_true", help="measure everything once only")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE",
                        help="a setting of the library under study, for "
                        + ", ".join(name for name, study in STUDIES.items()
                                    if study.takes_settings))
    parser.add_argument("--lab", metavar="NETWORK",
                        help="on other hosts: a preset (mutirao lab presets) or a CSV file, for "
                        + ", ".join(name for name, study in STUDIES.items()
                                    if study.takes_network))
    parser.add_argument("--only", metavar="NAME,...",
                        help="of the transports, parts or situations these alone, for "
                        + ", ".join(name for name, study in STUDIES.items() if study.takes_only))
    parser.add_argument("--trips", type=_trips, metavar="N",
                        help=f"round trips of each size, for {ping_pong.STUDY}; default:"
                        f" {paper_003.TRIPS}, with --quick {ping_pong.QUICK_TRIPS}")
    pairs = parser.add_argument_group(f"for {loops.STUDY}")
    pairs.add_argument("--pairs", type=_pairs, metavar="N[-M]",
                       help="runs of each; M: so many where it is not clear before whether a loop is slower than"
                       f" {loops.BAR:g} times native; default: {loops.PAIRS}, with --quick {loops.QUICK_PAIRS}")
    pairs.add_argument("--steps-scale", type=_scale, metavar="X",
                       help="times as many steps; default: 1, which is some ten seconds of each loop")
    pairs.add_argument("--seeds", metavar="WORD,...",
                       help="of the loops that are drawn; default: the first words of the commit's hash")
    pairs.add_argument("--warm", action="store_true", help="a second job of the default configuration, too")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    if arguments.report and arguments.study != ALL:
        raise UsageError(f"--report is for {ALL}; one study's page goes to --output")
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
                  _plan(arguments), arguments.seeds.split(",") if arguments.seeds else None)
    folder = arguments.report or arguments.output
    make_folder(folder)
    if arguments.study == ALL:
        return _run_all(studies, asked, folder, arguments.json)
    result = _run_one(STUDIES[arguments.study], asked, folder, arguments.json)[0]
    if arguments.json:
        print_json(result)
    return 0


def _plan(arguments) -> loops.Plan:
    default = loops.QUICK_PAIRS if arguments.quick else loops.PAIRS
    least, most = arguments.pairs or (default, default)
    return loops.Plan(least, most, scale=arguments.steps_scale or 1.0, warm=arguments.warm)


def _check_options(arguments, studies: Iterable[Study]) -> None:
    """Each option that one of them does not take is refused."""
    for study in studies:
        if arguments.set and not study.takes_settings:
            raise UsageError(f"{arguments.study} compares settings of its own: it takes no --set")
        if arguments.lab and not study.takes_network:
            raise UsageError(f"{arguments.study} is about a network of its own: it takes no --lab")
        if arguments.only and not study.takes_only:
            raise UsageError(f"{arguments.study} compares what it needs: it takes no --only")
        if arguments.trips and not study.takes_trips:
            raise UsageError(f"{arguments.study} makes no round trips: it takes no --trips")
        for option in ("pairs", "steps_scale", "seeds", "warm"):
            if getattr(arguments, option) and not study.takes_pairs:
                raise UsageError(f"{arguments.study} runs no loops in pairs: it takes no"
                                 f" --{option.replace('_', '-')}")


def _list(arguments) -> int:
    rows = [{"study": name, "paper": study.paper, "what": study.help}
            for name, study in STUDIES.items()]
    if arguments.json:
        print_json(rows)
        return 0
    width = max(map(len, STUDIES))
    for row in rows:
        print(textwrap.fill(f"{row['study']:{width}}  {row['what']}", 80,
                            subsequent_indent=" " * (width + 2)))
    return 0


def _run_one(study: Study, asked: Asked, folder: Path, quiet: bool) -> tuple[dict, list[Path]]:
    result = study.measure(asked)
    files = study.write(result, folder)
    if not quiet:
        study.print(result)
        print("\n".join(f"{_KINDS[path.suffix]}: {path}" for path in files))
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
    if as_json:
        print_json(results)
    else:
        print(f"report of all: {path}")
    return 0
