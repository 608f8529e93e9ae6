"""The numbers and names of other libraries' algorithms, against what those libraries say of themselves."""

import os
import re
import subprocess

import pytest

from mutirao.measure.counterparts import COUNTERPARTS
from mutirao.run.mpis import found_mpis

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
