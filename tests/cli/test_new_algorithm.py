"""`mutirao new-algorithm` on a copy of the sources, and the catalogue that it adds to."""

import json
import re
import shutil
import subprocess

import pytest

from mutirao.base.paths import ROOT
from mutirao.catalogue.collectives import COLLECTIVES
from mutirao.cli.commands.new_algorithm import ALGORITHMS, CATALOGUE, DECLARATIONS, SIMPLEST, STARTS
from shared import refused


@pytest.fixture
def copy(tmp_path):
    root = tmp_path / "copy"
    shutil.copytree(ROOT / ALGORITHMS, root / ALGORITHMS)
    return root


def texts(root):
    return {path.relative_to(root): path.read_text() for path in root.rglob("*") if path.is_file()}


def compile_together(root, files):
    """In one go, since most of the time goes into what all include."""
    finished = subprocess.run(
        ["g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", root / "src", "-I", ROOT / "src",
         "-x", "c++", "-"],
        input="".join(f'#include "{file}"\n' for file in files), capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr


def part_of(path, collective):
    """What a file says about one collective."""
    _, _, rest = path.read_text().partition(f"\nnamespace {collective} {{\n")
    return rest.partition(f"\n}}  // namespace {collective}\n")[0]


def declared(collective):
    """Functions, each with the file that it is said to be in."""
    for names, file in re.findall(r"^Build (.*?);(?:  // (\w+)\.cpp)?$", part_of(ROOT / DECLARATIONS, collective),
                                  re.MULTILINE):
        for name in names.split(", "):
            yield name, f"{file or name}.cpp"


def test_every_collective_with_algorithms_of_its_own_has_a_start():
    assert list(STARTS) == [name for name in COLLECTIVES if part_of(ROOT / DECLARATIONS, name)]


@pytest.mark.parametrize("collective", STARTS)
def test_every_function_has_a_row_and_is_where_the_catalogue_says(collective):
    built = re.findall(r"(?<!\w)\.build = (\w+)|\", (\w+)[,)]", part_of(ROOT / CATALOGUE, collective))
    assert {plain or like_others for plain, like_others in built} == {name for name, _ in declared(collective)}
    for name, file in declared(collective):
        own = ROOT / ALGORITHMS / collective / file
        code = (own if own.exists() else ROOT / ALGORITHMS / file).read_text()
        qualified = name if f"\nnamespace mutirao::{collective} {{\n" in code else f"{collective}::{name}"
        assert f"\nSchedule {qualified}(const Request& request) {{" in code, f"{collective}/{name}"


def test_it_makes_a_file_and_a_row_in_the_catalogue(typed, copy):
    """Also a second time, under another name; and all of it compiles."""
    made = [assert_made(typed, copy, collective, name) for collective in STARTS for name in ("newest", "newest_one")]
    compile_together(copy, [*made, copy / CATALOGUE])


def assert_made(typed, copy, collective, name):
    before, start = texts(copy), STARTS[collective]
    told = json.loads(typed("new-algorithm", collective, name, "--root", copy, "--json").stdout)
    after = texts(copy)
    changed = {str(path) for path in after if before.get(path) != after[path]}
    assert changed == {told["file"], told["catalogue"], str(DECLARATIONS)}
    assert (told["file"], told["catalogue"]) == (str(ALGORITHMS / collective / f"{name}.cpp"), str(CATALOGUE))
    assert told["next"]["look at it"] == f"./mutirao show {collective}/{name} --ranks 6"
    assert told["next"]["measure it"] == f"./mutirao bench {collective} --only native,{name}"
    assert f"--gtest_filter='*/{collective}_{name}" in told["next"]["prove it"]

    code = (copy / told["file"]).read_text()
    body = code.partition(f"Schedule {collective}::{name}(const Request& request) {{\n")[2].partition("\n}\n")[0]
    assert body and f"Schedule {collective}::{start}(const Request& request) {{\n{body}\n}}\n" in before[SIMPLEST]
    row = part_of(copy / CATALOGUE, collective).partition(f"\n        {{.name = \"{name}\"")[2]
    assert f".build = {name}" in row and row.endswith("},\n    };\n}\n")
    assert (".keeps_order = true" in row) == (
        collective in ("reduce", "allreduce", "reduce_scatter_block", "scan", "exscan"))
    assert (".level = Level::hosts" in row) == (collective == "broadcast")
    assert part_of(copy / DECLARATIONS, collective).endswith(f"\nBuild {name};")
    return copy / told["file"]


@pytest.mark.parametrize("collective, name, named", [
    ("gathr", "mine", ["'gathr'", "did you mean gather"]),
    ("gather", "linear", ["gather/linear exists"]),
    ("gather", "native", ["gather/native exists"]),
    ("gather", "Mine", ["'Mine'", "lower_case_with_underscores"]),
    ("gather", "my-own", ["'my-own'"]),
    ("gather", "../mine", ["'../mine'"]),
    ("gather", "default", ["'default'", "C++"]),
])
def test_what_is_wrong_is_one_line_and_changes_nothing(typed, copy, collective, name, named):
    before = texts(copy)
    refused(typed("new-algorithm", collective, name, "--root", copy), *named)
    assert texts(copy) == before


def test_another_folder_has_no_catalogue(typed, tmp_path):
    refused(typed("new-algorithm", "gather", "mine", "--root", tmp_path), "it has no catalogue")
