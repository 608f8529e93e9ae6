"""`mutirao new-algorithm`: the file that a new algorithm begins as, and the catalogue that names it."""

import re
from pathlib import Path

from mutirao.base.errors import Failure, UsageError
from mutirao.base.output import tell
from mutirao.base.paths import ROOT
from mutirao.base.user_files import read_text, write_file

ALGORITHMS = Path("src/core/algorithms")
CATALOGUE = ALGORITHMS / "catalogue.cpp"
# What a new algorithm does at first: the same as the simplest one of its collective. They are all in one file and need
# nothing but what it includes. Collectives whose blocks are not equal have the algorithms of their equal forms that say
# so.
SIMPLEST = ALGORITHMS / "direct.cpp"
STARTS = {
    "barrier": "direct",
    "broadcast": "flat",
    "gather": "linear",
    "scatter": "linear",
    "allgather": "linear",
    "alltoall": "linear",
    "reduce": "flat",
    "allreduce": "direct",
    "reduce_scatter_block": "direct",
    "scan": "direct",
    "exscan": "direct",
}


def register(subparsers, common) -> None:
    parser = subparsers.add_parser("new-algorithm", parents=[common],
                                   help="make the file of a new algorithm, with its row")
    parser.add_argument("collective", choices=STARTS, metavar="COLLECTIVE", help=", ".join(STARTS))
    parser.add_argument("name", metavar="NAME", help="in lower_case_with_underscores")
    parser.add_argument("--root", type=Path, default=ROOT, metavar="DIR",
                        help="the checkout to make it in; default: this one")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    collective, name = arguments.collective, arguments.name
    source = make(arguments.root, collective, name)
    following = {
        "build it": "make build",
        "prove it": f"build/src/core/core_test --gtest_filter='*/{collective}_{name}*'",
        "look at it": f"./mutirao show {collective}/{name} --ranks 6",
        "measure it": f"./mutirao bench {collective} --only native,{name}",
    }
    tell(arguments.json, {"file": str(source), "catalogue": str(CATALOGUE), "next": following}, "\n".join([
        f"made {source} with its row: it does as {STARTS[collective]} does; write your own into it",
        f"named it in {CATALOGUE}", "next:",
        *(f"  {command:<70} # {purpose}" for purpose, command in following.items())]))
    return 0


def make(root: Path, collective: str, name: str) -> Path:
    """Returns the new file, within `root`. Everything is checked before anything is written."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
        raise UsageError(f"'{name}' cannot be an algorithm's name: it must be in lower_case_with_underscores")
    if not (root / CATALOGUE).exists():
        raise UsageError(f"--root {root}: this is no checkout of mutirao; it has no catalogue {CATALOGUE}")
    catalogue = read_text(root / CATALOGUE)
    source = ALGORITHMS / collective / f"{name}.cpp"
    if name == "native" or re.search(rf'\{{{collective}, \{{[^}}]*"{name}"', catalogue) or (root / source).exists():
        raise UsageError(f"{collective}/{name} exists already")
    new_code = _code(read_text(root / SIMPLEST), collective, name, STARTS[collective])
    new_catalogue = _with_table(catalogue, f"{collective}_{name}_rows")
    (root / source).parent.mkdir(exist_ok=True)
    write_file(root / source, new_code)
    write_file(root / CATALOGUE, new_catalogue)
    return source


def _found(pattern: str, text: str) -> re.Match:
    if found := re.search(pattern, text, re.MULTILINE | re.DOTALL):
        return found
    raise Failure(f"the sources do not look as expected: no {pattern}")


def _with_table(catalogue: str, table: str) -> str:
    """With one more declaration and one more in the list."""
    declared = _found(r"^std::vector<Algorithm> ", catalogue)[0]
    listed = _found(r"tables\[\]\)\(\) = \{\n", catalogue)[0]
    return (catalogue.replace(declared, f"{declared}{table}(), ", 1)
            .replace(listed, f"{listed}    {table},\n"))


def _code(simplest: str, collective: str, name: str, start: str) -> str:
    """The start's function and what it needs, and a row that promises no more than every beginning keeps."""
    includes = "".join(re.findall(r"^(?:#include .*\n)+\n", simplest, re.MULTILINE))
    function = _found(rf"^Schedule {collective}_{start}\(const Request& request\) \{{.*?^\}}\n", simplest)[0]
    start_row = _found(rf"^        \{{\.collective = {collective}, \.name = \"{start}\",.*?\}},\n(?=        \{{|    \}};)",
                       simplest)[0]
    kept = "".join(f", {each}" for each in (".level = Level::hosts", ".keeps_order = true") if each in start_row)
    return (f"// So far it does as {collective}/{start} does. Say here how yours works, and in the row below where"
            " it is from:\n"
            "// authors, year, and a DOI or arXiv number.\n"
            "//\n"
            "// Cost, p ranks, n bytes: depth, messages, and bytes through the busiest port. Restrictions that the\n"
            "// row cannot say; a number of ranks that is a power of two it can (`fits`).\n"
            f"{includes}namespace mutirao {{\n\n"
            f"static {function.replace(f'_{start}(', f'_{name}(', 1)}\n"
            f"std::vector<Algorithm> {collective}_{name}_rows() {{\n"
            f"    return {{{{.collective = Collective::{collective}, .name = \"{name}\",\n"
            f"             .summary = \"does as {start} does, so far\",\n"
            f"             .source = \"a beginning, made from {collective}/{start}\",\n"
            f"             .build = {collective}_{name}{kept}}}}};\n"
            "}\n\n}  // namespace mutirao\n")
