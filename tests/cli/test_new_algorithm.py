"""`mutirao new-algorithm` on a copy of the sources, and the catalogue that it adds to."""

import json
import re
import shutil
import subprocess

import pytest

from mutirao.base.paths import ROOT
from mutirao.catalogue.collectives import COLLECTIVES
from mutirao.cli.commands.new_algorithm import ALGORITHMS, CATALOGUE, SIMPLEST, STARTS
from shared import refused


@pytest.fixture
def copy(tmp_path):
    root = tmp_path / "copy"
    shutil.copytree(ROOT / ALGORITHMS, root / ALGORITHMS)
    return root


def texts(root):
    return {path.relative_to(root): path.read_text() for path in root.rglob("*") if path.is_file()}


def compile_together(files):
    """In one go, since most of the time goes into what all include."""
    finished = subprocess.run(
        ["g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", ROOT / "src", "-x", "c++", "-"],
        input="".join(f'#include "{file}"\n' for file in files), capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr


def test_every_collective_with_algorithms_of_its_own_has_a_start():
    assert list(STARTS) == [name for name in COLLECTIVES if parts_of(ROOT / CATALOGUE, name)]


def parts_of(path, collective):
    """What a file has in the collective's namespace."""
    return re.findall(rf"^namespace {collective} \{{\n(.*?)^\}}  // namespace {collective}\n", path.read_text(),
                      re.MULTILINE | re.DOTALL)


def sources_and_names():
    """Of each collective: the algorithms whose rows its folder or its part of a file beside the folders has, and its
    part of the catalogue."""
    for collective in STARTS:
        sources = [path.read_text() for path in sorted((ROOT / ALGORITHMS / collective).glob("*.cpp"))]
        sources += [part for path in sorted((ROOT / ALGORITHMS).glob("*.cpp")) if path != ROOT / CATALOGUE
                    for part in parts_of(path, collective)]
        rows = [name for text in sources for name in re.findall(r"^Algorithm (\w+)\(\) \{", text, re.MULTILINE)]
        declared, _, listed = parts_of(ROOT / CATALOGUE, collective)[0].partition("\nstatic ")
        yield collective, rows, declared, listed.partition("return {")[2]


def test_the_catalogue_has_every_row_once():
    for collective, rows, declared, listed in sources_and_names():
        assert sorted(re.findall(r"(\w+)\(\)", declared)) == sorted(rows), collective
        assert sorted(re.findall(r"(\w+)\(\)", listed)) == sorted(rows), collective


def test_the_catalogue_says_which_file_an_algorithm_is_in():
    for collective, _, declared, _ in sources_and_names():
        for names, elsewhere in re.findall(r"^Algorithm (.*?);(?:  // (\w+)\.cpp)?$", declared, re.MULTILINE):
            own = ROOT / ALGORITHMS / collective / f"{elsewhere or names.removesuffix('()')}.cpp"
            file = own if own.exists() else ROOT / ALGORITHMS / own.name
            code = file.read_text()
            functions = code if own.exists() else "".join(parts_of(file, collective))
            for name in names.split(", "):
                assert f"\nAlgorithm {name} {{" in functions, f"{collective}/{name}"
                assert f'"{name.removesuffix("()")}",' in code, f"{collective}/{name}"


def test_it_makes_a_file_with_a_row_and_names_it_in_the_catalogue(typed, copy):
    """Also a second time, under another name; and all of it compiles."""
    made = [assert_made(typed, copy, collective, name) for collective in STARTS for name in ("newest", "newest_one")]
    compile_together([*made, copy / CATALOGUE])


def assert_made(typed, copy, collective, name):
    before, start = texts(copy), f"static Schedule {STARTS[collective]}(const Request& request) {{\n"
    told = json.loads(typed("new-algorithm", collective, name, "--root", copy, "--json").stdout)
    after = texts(copy)
    changed = {str(path) for path in after if before.get(path) != after[path]}
    assert changed == {told["file"], told["catalogue"]}
    assert (told["file"], told["catalogue"]) == (str(ALGORITHMS / collective / f"{name}.cpp"), str(CATALOGUE))
    assert told["next"]["look at it"] == f"./mutirao show {collective}/{name} --ranks 6"
    assert told["next"]["measure it"] == f"./mutirao bench {collective} --only native,{name}"
    assert f"--gtest_filter='*/{collective}_{name}" in told["next"]["prove it"]

    code = (copy / told["file"]).read_text()
    body = code.partition(f"static Schedule {name}(const Request& request) {{\n")[2].partition("\n}\n")[0]
    assert body and f"{start}{body}\n}}\n" in parts_of(copy / SIMPLEST, collective)[0]
    row = code.partition(f"Algorithm {name}() {{\n")[2]
    assert f"\nnamespace mutirao::{collective} {{\n" in code
    assert f'{{.name = "{name}",' in row and f".build = {name}" in row
    assert (".keeps_order = true" in row) == (
        collective in ("reduce", "allreduce", "reduce_scatter_block", "scan", "exscan"))
    assert (".level = Level::hosts" in row) == (collective == "broadcast")

    names = after[CATALOGUE].partition(f"\nnamespace {collective} {{\n")[2].partition("\n}  // namespace")[0]
    assert names.count(f"\nAlgorithm {name}();\n\nstatic ") == 1
    assert names.endswith(f",\n            {name}()}};\n}}\n")
    return copy / told["file"]


@pytest.mark.parametrize("collective, name, named", [
    ("gathr", "mine", ["'gathr'", "did you mean gather"]),
    ("gather", "linear", ["gather/linear exists"]),
    ("gather", "native", ["gather/native exists"]),
    ("gather", "Mine", ["'Mine'", "lower_case_with_underscores"]),
    ("gather", "my-own", ["'my-own'"]),
    ("gather", "../mine", ["'../mine'"]),
])
def test_what_is_wrong_is_one_line_and_changes_nothing(typed, copy, collective, name, named):
    before = texts(copy)
    refused(typed("new-algorithm", collective, name, "--root", copy), *named)
    assert texts(copy) == before


def test_another_folder_has_no_catalogue(typed, tmp_path):
    refused(typed("new-algorithm", "gather", "mine", "--root", tmp_path), "it has no catalogue")
