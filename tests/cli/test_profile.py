"""mutirao profile: what a profile holds is shown, and handed on, also in other libraries' words."""

import json
import os
import re
import sqlite3
import subprocess

import pytest

from mutirao.catalogue.core_tool import check_settings
from mutirao.measure import profile
from mutirao.measure.counterparts import COUNTERPARTS, counterpart
from mutirao.measure.profile import Fabric, Row
from mutirao.measure.rules import own_choices, tables
from mutirao.run.mpis import found_mpis
from shared import refused

HOSTS = Fabric(1, 4, 4, (20000.0,) * 6, "", "")
OPEN_MPI = "Open MPI v5.0.11"


def row(collective, length_bytes, candidate, median_us, *, root=-1, ranks=4, **more):
    values = {"ranks": ranks, "hosts": 4, "most_on_a_host": 1, "collective": collective, "root": root,
              "commutes": 1, "length_bytes": length_bytes, "buffers": "warm", "origin": "tuned",
              "candidate": candidate, "low_us": median_us * 0.9, "median_us": float(median_us),
              "high_us": median_us * 1.1, "windows": 10, "measured_s": 1.7e9}
    return Row(**{**values, **more})


ROWS = [row("broadcast", 24, "native", 40, root=0), row("broadcast", 24, "flat", 20, root=0),
        row("broadcast", 96, "native", 40, root=0),
        row("broadcast", 96, "chain:segment_bytes=4096", 30, root=0),
        row("allreduce", 64, "native", 90), row("allreduce", 64, "direct_shares", 10),
        row("allreduce", 64, "ring", 20), row("allreduce", 64, "recursive_doubling", 80),
        row("allgather", 64, "native", 100), row("allgather", 64, "bruck:radix=2", 98),
        row("barrier", 0, "native", 80), row("barrier", 0, "dissemination:radix=2", 40)]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "profile.db"
    assert profile.add(path, [(HOSTS, OPEN_MPI, each) for each in ROWS]) == len(ROWS)
    return path


def rules_of(text):
    """The numbers alone, line by line."""
    lines = (line.partition("#")[0].split() for line in text.splitlines())
    return [list(map(int, line)) for line in lines if line]


def test_what_was_added_is_read(file):
    read = profile.read(file)
    assert sorted((each for _fabric, _mpi, each in read.rows), key=repr) == sorted(ROWS, key=repr)
    assert read.rows[0][0] == HOSTS


def test_show_names_the_best(typed, file):
    shown = typed("profile", "show", file).stdout
    assert "4 hosts in 4 sites, up to 20 ms apart" in shown
    lines = [line for line in shown.splitlines() if line.startswith("broadcast of 24 B")]
    assert len(lines) == 1 and "flat" in lines[0] and "0.50" in lines[0]
    assert "native" not in "".join(lines)
    assert "native" in typed("profile", "show", "--all", file).stdout
    assert len(json.loads(typed("profile", "show", "--json", file).stdout)) == len(ROWS)


def test_the_setting_names_the_file(typed, file, tmp_path):
    assert "broadcast" in typed("profile", "show", MUTIRAO_PROFILE=str(file)).stdout
    usual = tmp_path / "state" / "mutirao" / "profile.db"
    refused(typed("profile", "show"), usual, code=1)
    refused(typed("profile", "show", MUTIRAO_PROFILE="off"), "profile is off")


def test_open_mpis_rules(typed, file):
    answer = typed("profile", "export", "--format", "openmpi", file)
    own = [[1], [1], [0, 0, 0, 0]]
    after = [[5], [1], [0, 0, 0, 0]]
    assert rules_of(answer.stdout) == [
        [4],
        [0], [3], *own, [4], [1], [0, 0, 0, 0], *after,  # allgather: no gain worth a rule
        [2], [3], *own, [4], [3], [0, 0, 0, 0], [32, 3, 0, 0], [128, 0, 0, 0], *after,
        [6], [3], *own, [4], [1], [0, 4, 0, 0], *after,
        [7], [3], *own, [4], [4], [0, 0, 0, 0], [12, 1, 0, 0], [48, 3, 0, 4096], [192, 0, 0, 0],
        *after]
    assert ("allreduce of 64 B, 4 ranks: direct_shares (0.11 x native) has no counterpart;"
            " recursive_doubling instead") in answer.stderr
    assert answer.stderr.count("\n") == 1


def test_what_is_wrong_for_some_operators_is_asked_for(typed, file):
    answer = typed("profile", "export", "--format", "openmpi", "--any-order", "--json", file)
    told = json.loads(answer.stdout)
    assert [32, 4, 0, 0] in rules_of(told["rules"])
    assert len(told["not_in_the_rules"]) == 1


def test_blocks_count_together(file):
    given = profile.Profile([(HOSTS, OPEN_MPI, row("alltoall", 64, "native", 60)),
                             (HOSTS, OPEN_MPI, row("alltoall", 64, "linear", 20))])
    table, = tables(given, "open_mpi", False)
    assert [low for low, _high, _choice in table.ranges()] == [0, 4 * 32, 4 * 128]


def test_intels_and_mpichs_variables(typed, file, tmp_path):
    for library, version in (("intel", "Intel(R) MPI Library 2021.13"), ("mpich", "MPICH Version: 5.0.2")):
        other = tmp_path / f"{library}.db"
        profile.add(other, [(HOSTS, version, each) for each in ROWS])
        answer = typed("profile", "export", "--format", library, other)
        exported = [line for line in answer.stdout.splitlines() if not line.startswith("#")]
        assert exported == {
            "intel": ['export I_MPI_ADJUST_ALLREDUCE="1:32-127@4-4"',
                      'export I_MPI_ADJUST_BARRIER="1:0-2147483647@4-4"'],
            "mpich": ["export MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=recursive_doubling",
                      "export MPIR_CVAR_BARRIER_INTRA_ALGORITHM=k_dissemination"]}[library]
        assert "broadcast of 24 B, 4 ranks: flat (0.50 x native)" in answer.stderr
    assert "nothing" in typed("profile", "export", "--format", "intel", file).stderr


MPICH = next((mpi for mpi in found_mpis() if mpi.known.title == "MPICH"), None)


def chosen(tree, **known):
    """What MPICH would run: the first condition that holds, down to a leaf."""
    name, below = next(iter(tree.items()))
    if name.startswith("algorithm="):
        return name.removeprefix("algorithm=")
    for condition, below in tree.items():
        what, sign, value = re.fullmatch(r"(\w+?)(<=|<|=)(\w+)", condition).groups()
        have = known.get(what)
        if (value == "any" or (value == "pow2" and sign == "=" and have & (have - 1) == 0)
                or (value.isdigit() and (have < int(value) or (sign == "<=" and have == int(value))))
                or (sign == "=" and have == value)):
            return chosen(below, **known)
    raise AssertionError(f"nothing in {list(tree)} for {known}")


@pytest.mark.skipif(MPICH is None, reason="no MPICH here")
def test_mpichs_selection_file_puts_rules_before_its_own_choices(typed, tmp_path):
    version = f"MPICH Version: {MPICH.version}"
    path = tmp_path / "mpich.db"
    rows = [*ROWS, row("alltoall", 64, "native", 90), row("alltoall", 64, "linear", 20),
            row("reduce", 64, "native", 90, root=0), row("reduce", 64, "k_nomial:radix=2", 20, root=0),
            row("broadcast", 960, "native", 90, root=0), row("broadcast", 960, "binomial", 20, root=0)]
    profile.add(path, [(HOSTS, version, each) for each in rows])
    answer = typed("profile", "export", "--format", "mpich-json", path)
    assert answer.returncode == 0 and len(answer.stdout) % 4096 != 0
    tree, own = json.loads(answer.stdout), own_choices(MPICH.library)
    assert list(tree) == list(own), "MPICH wants every collective"

    def now(collective, **known):
        return chosen(tree[f"collective={collective}"], comm_type="intra", **known)

    def alone(collective, **known):
        return chosen(own[f"collective={collective}"], comm_type="intra", **known)

    free = {"comm_hierarchy": "any", "count": 64}
    for size, name in ((300, None), (400, "MPIR_Bcast_intra_binomial"),
                       (1919, "MPIR_Bcast_intra_binomial"), (1920, None)):
        known = {**free, "comm_size": 4, "avg_msg_size": size}
        assert now("bcast", **known) == (name or alone("bcast", **known))
    for ranks in (2, 3, 5, 8):
        known = {**free, "comm_size": ranks, "avg_msg_size": 1000000}
        assert now("bcast", **known) == alone("bcast", **known)
    # Of blocks all together count; in place, and for other operators, other code is needed.
    known = {"comm_size": 4, "total_msg_size": 256, "avg_msg_size": 64, "is_sendbuf_inplace": "no"}
    assert now("alltoall", **known) == "MPIR_Alltoall_intra_scattered"
    known["is_sendbuf_inplace"] = "yes"
    assert now("alltoall", **known) == alone("alltoall", **known)
    known = {**free, "comm_size": 4, "avg_msg_size": 64, "is_commutative": "yes", "is_op_built_in": "yes"}
    assert now("allreduce", **known) == "MPIR_Allreduce_intra_ring"
    assert now("reduce", **known) == "MPIR_Reduce_intra_binomial"
    known["is_commutative"] = "no"
    assert now("allreduce", **known) == alone("allreduce", **known)
    assert "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE" in answer.stderr


def test_mpichs_selection_file_needs_the_library_that_was_measured(typed, tmp_path):
    path = tmp_path / "mpich.db"
    profile.add(path, [(HOSTS, "MPICH Version: 9.9", each) for each in ROWS])
    refused(typed("profile", "export", "--format", "mpich-json", path), "not found", "--format mpich", code=1)


def test_an_exported_profile_is_added_once(typed, file, tmp_path):
    typed("profile", "export", "--format", "json", "-o", "all.json", file)
    for added in (len(ROWS), 0):
        answer = typed("profile", "import", "all.json", "--file", "new.db")
        assert f"{added} measurements added" in answer.stderr
    read = profile.read(tmp_path / "new.db")
    assert sorted(read.rows, key=repr) == sorted(profile.read(file).rows, key=repr)


def test_a_file_of_another_schema_is_not_read(typed, file):
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA user_version = 99")
    refused(typed("profile", "show", file), "user_version 99")


def test_the_table_names_what_is_in_the_catalogue():
    for each in COUNTERPARTS:
        parameters = ",".join(filter(None, (each.parameters, "segment_bytes=4096" * each.segmented)))
        candidate = f"{each.name}:{parameters}" if parameters else each.name
        check_settings({each.collective: candidate})
        assert counterpart(each.collective, candidate, 4, 1) == each


def test_on_one_host_what_goes_on_inside_is_all():
    assert counterpart("broadcast", "chain", 1, 8).open_mpi == 6
    assert counterpart("broadcast", "chain:inside=flat", 1, 8).open_mpi == 1
    assert counterpart("broadcast", "chain", 8, 1).open_mpi == 3
    assert counterpart("broadcast", "chain", 8, 2) is None


# --- the numbers and names of other libraries' algorithms, against what those libraries say of themselves ---

# What Open MPI calls the catalogue's algorithms, where that is another word.
OPEN_MPIS_WORDS = {
    ("broadcast", "flat"): "basic_linear", ("broadcast", "chain"): "pipeline",
    ("broadcast", "k_nomial"): "knomial", ("broadcast", "split_binary"): "split_binary_tree",
    ("broadcast", "scatter_recursive_doubling_allgather"): "scatter_allgather",
    ("broadcast", "scatter_ring_allgather"): "scatter_allgather_ring", ("reduce", "flat"): "linear",
    ("reduce", "chain"): "pipeline", ("reduce", "k_nomial"): "binomial",
    ("reduce", "in_order_binary"): "in-order_binary", ("allreduce", "reduce_broadcast"): "nonoverlapping",
    ("allgather", "gather_broadcast"): "linear", ("allgather", "neighbor_exchange"): "neighbor",
    ("allgatherv", "gather_broadcast"): "default", ("allgatherv", "neighbor_exchange"): "neighbor",
    ("alltoall", "bruck"): "modified_bruck", ("barrier", "dissemination"): "bruck",
    ("barrier", "recursive_exchange"): "recursive_doubling"}


def tool_of(name, *words):
    mpi = next((each for each in found_mpis() if each.name == name), None)
    program = mpi and mpi.launcher.parent / words[0]
    if not program or not program.is_file():
        pytest.skip(f"{words[0]} of {name} is not here")
    return subprocess.run([program, *words[1:]], env={**os.environ, **mpi.environment()},
                          capture_output=True, text=True, check=True).stdout


def test_open_mpis_numbers():
    told = tool_of("openmpi-5", "ompi_info", "--param", "coll", "tuned", "--level", "9")
    valid, name = {}, ""
    for line in told.splitlines():
        if found := re.search(r'"coll_tuned_(\w+)"', line):
            name = found[1].removesuffix("_algorithm")
        elif "Valid values: 0|ignore" in line:
            valid[name] = dict(re.findall(r"(\d+)\|([\w-]+)", line))
    for each in COUNTERPARTS:
        if each.open_mpi is None:
            continue
        known = valid[{"broadcast": "bcast"}.get(each.collective, each.collective)]
        word = OPEN_MPIS_WORDS.get((each.collective, each.name), each.name)
        word = f"segmented_{word}" if (each.collective, each.open_mpi) == ("allreduce", 5) else word
        assert known[str(each.open_mpi)] == word, each


def test_mpichs_names():
    told = tool_of("mpich-5", "mpivars")
    for each in COUNTERPARTS:
        if each.mpich is None:
            continue
        variable = {"broadcast": "BCAST"}.get(each.collective, each.collective.upper())
        values = re.search(rf"\tMPIR_CVAR_{variable}_INTRA_ALGORITHM *=.*\n((?:\w+ +- .*\n)+)", told)[1]
        known = re.findall(r"^(\w+)", values, re.MULTILINE)
        assert each.mpich.partition("_intra_")[2] in known, each
