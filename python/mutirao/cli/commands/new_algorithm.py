"""`mutirao new-algorithm`: the file and the row that a new algorithm begins as."""

import re
from pathlib import Path

from mutirao.base.errors import Failure, UsageError
from mutirao.base.output import print_json
from mutirao.base.paths import INSTALLED, ROOT

ALGORITHMS = Path("src/core/algorithms")
# What a new algorithm does at first: the same as the simplest one of its collective. Those whose blocks
# are not equal have the algorithms of their equal forms that say so.
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
# The name becomes that of a function.
_CXX_WORDS = set("""
    and asm auto bool break case catch char class compl concept const continue default delete do
    double else enum explicit export extern false float for friend goto if inline int long mutable
    namespace new noexcept not nullptr operator or private protected public register requires
    return short signed sizeof static struct switch template this throw true try typedef typeid
    typename union unsigned using virtual void volatile while xor""".split())


def register(subparsers, common) -> None:
    parser = subparsers.add_parser("new-algorithm", parents=[common],
                                   help="make the file and the row of a new algorithm")
    parser.add_argument("collective", choices=STARTS)
    parser.add_argument("name", metavar="NAME", help="in lower_case_with_underscores")
    parser.add_argument("--root", type=Path, default=ROOT, metavar="DIR",
                        help="the checkout to make it in; default: this one")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    collective, name = arguments.collective, arguments.name
    if INSTALLED and arguments.root == ROOT:
        raise UsageError("this mutirao is installed: name a checkout by --root")
    source, catalogue = make(arguments.root, collective, name)
    following = {
        "build it": "make build",
        "prove it": f"build/src/core/core_test --gtest_filter='*/{collective}_{name}*'",
        "look at it": f"./mutirao show {collective}/{name} --ranks 6",
        "measure it": f"./mutirao bench {collective} --only native,{name}",
    }
    if arguments.json:
        print_json({"file": str(source), "catalogue": str(catalogue), "next": following})
        return 0
    print(f"made {source}: it does as {STARTS[collective]} does; write your own into it")
    print(f"added its declaration and its row to {catalogue}")
    print("next:")
    for purpose, command in following.items():
        print(f"  {command:<70} # {purpose}")
    return 0


def make(root: Path, collective: str, name: str) -> tuple[Path, Path]:
    """Returns the new file and that of the catalogue, both within `root`. Everything is checked
    before anything is written."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name) or name in _CXX_WORDS:
        raise UsageError(f"'{name}' cannot be an algorithm's name: it must be in"
                         " lower_case_with_underscores and no word of C++")
    catalogue, text = _catalogue_with(root, collective)
    start = STARTS[collective]
    source = ALGORITHMS / collective / f"{name}.cpp"
    if name == "native" or f" {name}(" in _declarations(text, collective)[0] or (
            root / source).exists():
        raise UsageError(f"{collective}/{name} exists already")
    new_text = _with_row(text, collective, name, start)
    code = _read(root / ALGORITHMS / collective / f"{start}.cpp")
    new_code = _beginning(collective, start) + re.sub(
        rf"\bSchedule {start}\(", f"Schedule {name}(", _without_first_comment(code))
    try:
        (root / source).write_text(new_code, encoding="utf-8")
        (root / catalogue).write_text(new_text, encoding="utf-8")
    except OSError as error:
        raise Failure(f"cannot write {error.filename}: {error.strerror}") from None
    return source, catalogue


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise Failure(f"cannot read {path}: {error.strerror}") from None


def _catalogue_with(root: Path, collective: str) -> tuple[Path, str]:
    """The file of the catalogue that has this collective's rows."""
    for path in sorted((root / ALGORITHMS).glob("catalogue*.cpp")):
        text = _read(path)
        if re.search(rf"\b{collective}_rows\(\) \{{", text):
            return path.relative_to(root), text
    raise UsageError(f"--root {root}: this is no checkout of mutirao; {ALGORITHMS} has no catalogue with"
                     f" {collective} there")


def _declarations(text: str, collective: str) -> re.Match:
    return _found(rf"^namespace {collective} \{{\n.*?(?=\n\}}  // namespace {collective}\n)", text)


def _found(pattern: str, text: str) -> re.Match:
    if found := re.search(pattern, text, re.MULTILINE | re.DOTALL):
        return found
    raise Failure(f"the catalogue does not look as expected: no {pattern}")


def _with_row(text: str, collective: str, name: str, start: str) -> str:
    rows = _found(rf"\b{collective}_rows\(\) \{{\n.*?(?=^    \}};\n)", text)
    start_row = _found(rf"\.build = {collective}::{start}\b[^}}]*\}},", rows[0])[0]
    keeps_order = ", .keeps_order = true" if ".keeps_order = true" in start_row else ""
    row = (f"        {{.collective = {collective}, .name = \"{name}\",\n"
           f"         .summary = \"does as {start} does, so far\",\n"
           f"         .source = \"a beginning, made from {collective}/{start}\",\n"
           f"         .build = {collective}::{name}{keeps_order}}},\n")
    with_row = text[:rows.end()] + row + text[rows.end():]
    end = _declarations(text, collective).end()  # before the rows
    return f"{with_row[:end]}Schedule {name}(const Request& request);\n{with_row[end:]}"


def _without_first_comment(code: str) -> str:
    return re.sub(r"\A(//.*\n)+", "", code)


def _beginning(collective: str, start: str) -> str:
    return (f"// So far it does as {collective}/{start} does. Say here how yours works and where it"
            " is from: authors,\n"
            "// year, and a DOI or arXiv number; the same goes into its row of the catalogue.\n"
            "//\n"
            "// Cost, p ranks, n bytes: depth, messages, and bytes through the busiest port.\n"
            "// Restrictions, such as a number of ranks that is a power of two (`fits` in the"
            " row).\n")
