"""`mutirao new-algorithm` on a copy of the sources: what it makes is what the catalogue expects."""

import json
import shutil
import subprocess

import pytest

from mutirao.base.paths import ROOT
from mutirao.catalogue.collectives import COLLECTIVES
from mutirao.cli.commands.new_algorithm import ALGORITHMS, CATALOGUE, STARTS


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


@pytest.mark.parametrize("collective", STARTS)
def test_it_makes_a_file_a_declaration_and_a_row(typed, copy, collective):
    before = texts(copy)
    made = json.loads(typed("new-algorithm", collective, "newest_one", "--root", copy,
                              "--json").stdout)
    after = texts(copy)
    changed = {str(path) for path in after if before.get(path) != after[path]}
    assert changed == {made["file"], made["catalogue"]}
    assert made["file"] == str(ALGORITHMS / collective / "newest_one.cpp")

    code = (copy / made["file"]).read_text()
    start = (copy / ALGORITHMS / collective / f"{STARTS[collective]}.cpp").read_text()
    assert code.count("Schedule newest_one(const Request& request) {") == 1
    assert code.partition("{\n")[2] == start.partition("{\n")[2].replace(
        f"Schedule {STARTS[collective]}(", "Schedule newest_one(")

    rows = (copy / made["catalogue"]).read_text()
    declaration = "Schedule newest_one(const Request& request);\n"
    assert rows.count(declaration) == 1
    assert rows.rpartition(declaration)[2].startswith(f"\n}}  // namespace {collective}\n")
    assert rows.count(f'{{.collective = {collective}, .name = "newest_one",') == 1
    row = rows.partition('"newest_one"')[2].partition("},\n")[0]
    assert f".build = {collective}::newest_one" in row
    assert (".keeps_order = true" in row) == (
        collective in ("reduce", "allreduce", "reduce_scatter_block", "scan", "exscan"))


def test_what_it_makes_compiles_and_can_be_made_again_under_another_name(typed, copy):
    for name in ("one", "one_more"):
        answer = typed("new-algorithm", "reduce", name, "--root", copy)
        assert answer.returncode == 0, answer.stderr
    assert f"show reduce/{name} --ranks 6" in answer.stdout
    assert f"bench reduce --only native,{name}" in answer.stdout
    assert f"--gtest_filter='*/reduce_{name}" in answer.stdout
    compiles(copy / ALGORITHMS / "reduce" / "one_more.cpp",
             copy / ALGORITHMS / "catalogue_reductions.cpp")


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
    answer = typed("new-algorithm", collective, name, "--root", copy)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr.count("\n") == 1
    assert all(text in answer.stderr for text in named)
    assert texts(copy) == before


def test_another_folder_has_no_catalogue(typed, tmp_path):
    answer = typed("new-algorithm", "gather", "mine", "--root", tmp_path)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert "has no catalogue" in answer.stderr
    assert answer.stderr.count("\n") == 1
