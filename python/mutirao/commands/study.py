"""`mutirao study`: a paper's experiments run again, as tables, a page to show and raw values."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mutirao.errors import Failure
from mutirao.mpis import KNOWN, Mpi, find_mpi, found_mpis
from mutirao.output import print_json
from mutirao.studies import (
    dynamic_page,
    dynamic_tables,
    overhead,
    page,
    reaction,
    six_sites,
    six_sites_dynamic,
    tables,
)
from mutirao.studies.html import write_values


@dataclass(frozen=True)
class Study:
    help: str
    measure: Callable[[Sequence[str], bool], dict]  # by names of MPI libraries; quickly or not
    write: Callable[[dict, Path], list[Path]]  # the files that it leaves
    print: Callable[[dict], None]


def _first_built(names: Sequence[str]) -> Mpi:
    built = [mpi for mpi in found_mpis() if mpi.built and mpi.name in names]
    return min(built, key=lambda mpi: names.index(mpi.name), default=None) or find_mpi(names[0])


def _with_one(run_study: Callable[[Mpi, bool], dict]) -> Callable[[Sequence[str], bool], dict]:
    return lambda names, quick: run_study(_first_built(names), quick)


def _values_alone(result: dict, folder: Path) -> list[Path]:
    return [write_values(result, folder)]


STUDIES = {
    six_sites.NETWORK: Study(
        "paper 000 while nothing changes: Table 2 and Figure 4", six_sites.run_study,
        lambda result, folder: page.write_page(result, six_sites.pictures(result), folder),
        tables.print_tables),
    six_sites_dynamic.STUDY: Study(
        "paper 000 while links change: Figures 5, 6 and 7",
        _with_one(six_sites_dynamic.run_study), dynamic_page.write_page,
        dynamic_tables.print_tables),
    reaction.STUDY: Study(
        "a link of the tree gets worse and recovers under a program that goes on: until"
        " broadcasts are good again", _with_one(reaction.run_study), _values_alone,
        reaction.print_tables),
    overhead.STUDY: Study(
        "what following the network costs while nothing changes", _with_one(overhead.run_study),
        _values_alone, overhead.print_tables),
}


def register(subparsers, common) -> None:
    parser = subparsers.add_parser(
        "study", parents=[common], help="run a paper's experiments in the lab")
    parser.add_argument("study", choices=tuple(STUDIES), help="; ".join(
        f"{name}: {study.help}" for name, study in STUDIES.items()))
    parser.add_argument("--mpi", default=",".join(six_sites.MPIS), metavar="NAME,...",
                        help="mutirao's runs use the first; native ones, in six-sites, use all of"
                        " them; default: %(default)s")
    parser.add_argument("--output", type=Path, default=Path("results"), metavar="DIR",
                        help="for the page and the raw values; default: %(default)s")
    parser.add_argument("--quick", action="store_true", help="measure everything once only")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    names = arguments.mpi.split(",")
    for name in {*names} - {known.name for known in KNOWN}:
        find_mpi(name)  # says which there are
    try:
        arguments.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(f"cannot write to {arguments.output}: {error.strerror}") from None
    study = STUDIES[arguments.study]
    result = study.measure(names, arguments.quick)
    files = study.write(result, arguments.output)
    if arguments.json:
        print_json(result)
    else:
        study.print(result)
        print("\n".join(f"{'page' if path.suffix == '.html' else 'raw values'}: {path}"
                        for path in files))
    return 0

