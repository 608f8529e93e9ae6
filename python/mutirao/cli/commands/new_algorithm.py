"""`mutirao new-algorithm`: the file that a new algorithm begins as, and its name and row in the catalogue."""

import re
from pathlib import Path

from mutirao.base.errors import Failure, UsageError
from mutirao.base.output import print_json
from mutirao.base.paths import INSTALLED, ROOT
from mutirao.base.user_files import read_text, write_file

ALGORITHMS = Path("src/core/algorithms")
CATALOGUE = ALGORITHMS / "catalogue.cpp"
DECLARATIONS = ALGORITHMS / "catalogue.h"
# What a new algorithm does at first: the same as the simplest one of its collective. They are all in one file.
# Collectives whose blocks are not equal have the algorithms of their equal forms that say so.
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
# What these do besides, which their rows must say.
_PROMISES = {"broadcast": ".level = Level::hosts",
             **dict.fromkeys(("reduce", "allreduce", "reduce_scatter_block", "scan", "exscan"), ".keeps_order = true")}
# The name becomes that of a function.
_CXX_WORDS = set("""
    and asm auto bool break case catch char class compl concept const continue default delete do
    double else enum explicit export extern false float for friend goto if inline int long mutable
    namespace new noexcept not nullptr operator or private protected public register requires
    return short signed sizeof static struct switch template this throw true try typedef typeid
    typename union unsigned using virtual void volatile while xor""".split())


def register(subparsers, common) -> None:
    parser = subparsers.add_parser("new-algorithm", parents=[common],
                                   help="make the file of a new algorithm, and its row")
    parser.add_argument("collective", choices=STARTS)
    parser.add_argument("name", metavar="NAME", help="in lower_case_with_underscores")
    parser.add_argument("--root", type=Path, default=ROOT, metavar="DIR",
                        help="the checkout to make it in; default: this one")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    collective, name = arguments.collective, arguments.name
    if INSTALLED and arguments.root == ROOT:
        raise UsageError("this mutirao is installed: name a checkout by --root")
    source = make(arguments.root, collective, name)
    following = {
        "build it": "make build",
        "prove it": f"build/src/core/core_test --gtest_filter='*/{collective}_{name}*'",
        "look at it": f"./mutirao show {collective}/{name} --ranks 6",
        "measure it": f"./mutirao bench {collective} --only native,{name}",
    }
    if arguments.json:
        print_json({"file": str(source), "catalogue": str(CATALOGUE), "next": following})
        return 0
    print(f"made {source}: it does as {STARTS[collective]} does; write your own into it")
    print(f"added its name to {DECLARATIONS} and its row to {CATALOGUE}")
    print("next:")
    for purpose, command in following.items():
        print(f"  {command:<70} # {purpose}")
    return 0


def make(root: Path, collective: str, name: str) -> Path:
    """Returns the new file, within `root`. Everything is checked before anything is written."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name) or name in _CXX_WORDS:
        raise UsageError(f"'{name}' cannot be an algorithm's name: it must be in"
                         " lower_case_with_underscores and no word of C++")
    if not (root / CATALOGUE).exists():
        raise UsageError(f"--root {root}: this is no checkout of mutirao; it has no catalogue {CATALOGUE}")
    texts = {path: read_text(root / path) for path in (DECLARATIONS, CATALOGUE)}
    part = rf"^namespace {collective} \{{\n.*?\n\}}  // namespace {collective}\n"
    names, rows = (_found(part, text)[0] for text in texts.values())
    source = ALGORITHMS / collective / f"{name}.cpp"
    if name == "native" or re.search(rf"\b{name}[,;]", names) or f"\"{name}\"" in rows or (root / source).exists():
        raise UsageError(f"{collective}/{name} exists already")
    start = STARTS[collective]
    kept = f", {_PROMISES[collective]}" if collective in _PROMISES else ""
    end = f"}}  // namespace {collective}\n"
    row = (f"        {{.name = \"{name}\", .summary = \"does as {start} does, so far\",\n"
           f"         .source = \"a beginning, made from {collective}/{start}\", .build = {name}{kept}}},\n")
    added = {
        source: _code(read_text(root / SIMPLEST), collective, name, start),
        DECLARATIONS: texts[DECLARATIONS].replace(names, names.replace(end, f"Build {name};\n{end}")),
        CATALOGUE: texts[CATALOGUE].replace(rows, rows.replace("    };\n", f"{row}    }};\n")),
    }
    for path, text in added.items():
        (root / path).parent.mkdir(exist_ok=True)
        write_file(root / path, text)
    return source


def _found(pattern: str, text: str) -> re.Match:
    if found := re.search(pattern, text, re.MULTILINE | re.DOTALL):
        return found
    raise Failure(f"the sources do not look as expected: no {pattern}")


def _code(simplest: str, collective: str, name: str, start: str) -> str:
    """The start's function and what it needs."""
    includes = _found(r"^#include .*?(?=^namespace )", simplest)[0]
    function = _found(rf"^Schedule {collective}::{start}\(const Request& request\) \{{.*?^\}}\n", simplest)[0]
    return (f"// So far it does as {collective}/{start} does. Say here how yours works, and where it is from in its"
            " row:\n"
            "// authors, year, and a DOI or arXiv number.\n"
            "//\n"
            "// Cost, p ranks, n bytes: depth, messages, and bytes through the busiest port. Restrictions that the\n"
            "// row cannot say; a number of ranks that is a power of two it can (`fits`).\n"
            f"{includes}namespace mutirao {{\n\n"
            f"{function.replace(f'::{start}(', f'::{name}(')}\n"
            "}  // namespace mutirao\n")
