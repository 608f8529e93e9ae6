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


def tables():
    """The name of each file's table of rows, and the file."""
    return {table: path for path in (ROOT / ALGORITHMS).rglob("*.cpp")
            for table in re.findall(r"^std::vector<Algorithm> (\w+_rows)\(\) \{", path.read_text(), re.MULTILINE)}


def test_every_collective_with_algorithms_of_its_own_has_a_start():
    own = set(re.findall(r"\.collective = (?:Collective::)?(\w+), \.name",
                         "".join(path.read_text() for path in tables().values()))) - {"collective"}
    assert list(STARTS) == [name for name in COLLECTIVES if name in own]


def test_the_catalogue_has_every_table_once():
    declared, _, listed = (ROOT / CATALOGUE).read_text().partition("tables[])() = {")
    listed = listed.partition("};")[0]
    assert sorted(re.findall(r"\w+_rows(?=\(\)[,;])", declared)) == sorted(tables())
    assert sorted(re.findall(r"\w+_rows", listed)) == sorted(tables())


def test_it_makes_a_file_with_a_row_and_names_it_in_the_catalogue(typed, copy):
    """Also a second time, under another name; and all of it compiles."""
    made = [assert_made(typed, copy, collective, name) for collective in STARTS for name in ("newest", "newest_one")]
    # In one go, since most of the time goes into what all include.
    finished = subprocess.run(
        ["g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", ROOT / "src", "-x", "c++", "-"],
        input="".join(f'#include "{file}"\n' for file in (*made, copy / CATALOGUE)), capture_output=True, text=True,
        check=False)
    assert finished.returncode == 0, finished.stderr


def assert_made(typed, copy, collective, name):
    before, start = texts(copy), f"Schedule {collective}_{STARTS[collective]}(const Request& request) {{\n"
    told = json.loads(typed("new-algorithm", collective, name, "--root", copy, "--json").stdout)
    after = texts(copy)
    changed = {str(path) for path in after if before.get(path) != after[path]}
    assert changed == {told["file"], told["catalogue"]}
    assert (told["file"], told["catalogue"]) == (str(ALGORITHMS / collective / f"{name}.cpp"), str(CATALOGUE))
    assert told["next"]["look at it"] == f"./mutirao show {collective}/{name} --ranks 6"
    assert told["next"]["measure it"] == f"./mutirao bench {collective} --only native,{name}"
    assert f"--gtest_filter='*/{collective}_{name}" in told["next"]["prove it"]

    code = (copy / told["file"]).read_text()
    body = code.partition(f"static Schedule {collective}_{name}(const Request& request) {{\n")[2].partition("\n}\n")[0]
    assert body and f"{start}{body}\n}}\n" in (copy / SIMPLEST).read_text()
    row = code.partition(f"{collective}_{name}_rows() {{\n")[2]
    assert f'{{.collective = Collective::{collective}, .name = "{name}",' in row
    assert f".build = {collective}_{name}" in row
    assert (".keeps_order = true" in row) == (
        collective in ("reduce", "allreduce", "reduce_scatter_block", "scan", "exscan"))
    assert (".level = Level::hosts" in row) == (collective == "broadcast")
    assert after[CATALOGUE].count(f"{collective}_{name}_rows") == 2
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
