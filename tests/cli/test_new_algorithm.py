"""`mutirao new-algorithm` on a copy of the sources, and the catalogue that it adds to."""

import json
import re
import shutil
import subprocess

import pytest

from mutirao.base.paths import ROOT
from mutirao.catalogue.collectives import COLLECTIVES
from mutirao.cli.commands.new_algorithm import ALGORITHMS, CATALOGUE, STARTS
from shared import refused


@pytest.fixture
def copy(tmp_path):
    root = tmp_path / "copy"
    shutil.copytree(ROOT / ALGORITHMS, root / ALGORITHMS)
    return root


def texts(root):
    return {path.relative_to(root): path.read_text() for path in root.rglob("*") if path.is_file()}


def compiles(*files):
    finished = subprocess.run(
        ["g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", ROOT / "src",
         *files], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr


def test_every_collective_with_algorithms_of_its_own_has_a_start():
    assert list(STARTS) == [name for name in COLLECTIVES if (ROOT / ALGORITHMS / name).is_dir()]


def sources_and_names():
    """Of each collective: the algorithms whose rows its folder or its part of a file beside the folders has, and its
    part of the catalogue."""
    catalogue = (ROOT / CATALOGUE).read_text()
    for collective in STARTS:
        sources = [path.read_text() for path in sorted((ROOT / ALGORITHMS / collective).glob("*.cpp"))]
        sources += [part for path in sorted((ROOT / ALGORITHMS).glob("*.cpp")) if path != ROOT / CATALOGUE
                    for part in re.findall(rf"^namespace {collective} \{{\n(.*?)^\}}  // namespace {collective}\n",
                                           path.read_text(), re.MULTILINE | re.DOTALL)]
        rows = [name for text in sources for name in re.findall(r"^Algorithm (\w+)\(\) \{", text, re.MULTILINE)]
        declared, _, listed = catalogue.partition(f"\nnamespace {collective} {{\n")[2].partition(
            f"\n}}  // namespace {collective}\n")[0].partition("\nstatic ")
        yield collective, rows, declared, listed.partition("return {")[2]


def test_the_catalogue_has_every_row_once():
    for collective, rows, declared, listed in sources_and_names():
        assert sorted(re.findall(r"(\w+)\(\)", declared)) == sorted(rows), collective
        assert sorted(re.findall(r"(\w+)\(\)", listed)) == sorted(rows), collective


def test_the_catalogue_says_which_file_an_algorithm_is_in():
    for collective, _, declared, _ in sources_and_names():
        for names, file in re.findall(r"^Algorithm (.*?);(?:  // (\w+)\.cpp)?$", declared, re.MULTILINE):
            own = ROOT / ALGORITHMS / collective / f"{file or names.removesuffix('()')}.cpp"
            code = (own if own.exists() else ROOT / ALGORITHMS / own.name).read_text()
            for name in names.split(", "):
                assert f"\nAlgorithm {name} {{" in code, f"{collective}/{name}"
                assert f'"{name.removesuffix("()")}",' in code, f"{collective}/{name}"


@pytest.mark.parametrize("collective", STARTS)
def test_it_makes_a_file_with_a_row_and_names_it_in_the_catalogue(typed, copy, collective):
    before = texts(copy)
    made = json.loads(typed("new-algorithm", collective, "newest_one", "--root", copy,
                              "--json").stdout)
    after = texts(copy)
    changed = {str(path) for path in after if before.get(path) != after[path]}
    assert changed == {made["file"], made["catalogue"]}
    assert made["file"] == str(ALGORITHMS / collective / "newest_one.cpp")
    assert made["catalogue"] == str(CATALOGUE)

    code = (copy / made["file"]).read_text()
    body = code.partition("static Schedule newest_one(const Request& request) {\n")[2].partition("\n}\n")[0]
    start_file = next(text for path, text in before.items() if path.parent == ALGORITHMS / collective
                      and f"\nAlgorithm {STARTS[collective]}() {{\n" in text)
    assert body and f"Schedule {STARTS[collective]}(const Request& request) {{\n{body}\n}}\n" in start_file
    row = code.partition("Algorithm newest_one() {\n")[2]
    assert f"\nnamespace mutirao::{collective} {{\n" in code
    assert '{.name = "newest_one",' in row
    assert ".build = newest_one" in row
    assert (".keeps_order = true" in row) == (
        collective in ("reduce", "allreduce", "reduce_scatter_block", "scan", "exscan"))
    assert (".level = Level::hosts" in row) == (collective == "broadcast")

    names = after[CATALOGUE].partition(f"\nnamespace {collective} {{\n")[2].partition("\n}  // namespace")[0]
    assert names.count("\nAlgorithm newest_one();\n\nstatic ") == 1
    assert names.endswith(",\n            newest_one()};\n}\n")
    compiles(copy / made["file"])


def test_it_can_be_made_again_under_another_name_and_the_catalogue_compiles(typed, copy):
    for name in ("one", "one_more"):
        answer = typed("new-algorithm", "reduce", name, "--root", copy)
        assert answer.returncode == 0, answer.stderr
    assert f"show reduce/{name} --ranks 6" in answer.stdout
    assert f"bench reduce --only native,{name}" in answer.stdout
    assert f"--gtest_filter='*/reduce_{name}" in answer.stdout
    compiles(copy / CATALOGUE)


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
