"""The programs of examples/ give the same answers with mutirao, whose algorithms take part."""

import sys

import pytest

from ends import decided_calls, ended_well, settings_of
from mutirao.base.paths import ROOT
from tools import compiled, compiled_fortran

EXAMPLES = ROOT / "examples"
FORCED = {"broadcast": "binomial", "allreduce": "recursive_doubling", "scatter": "linear", "scatterv": "linear",
          "gather": "linear", "gatherv": "linear"}


def give_the_same_answers(run, program, says, ranks=3):
    native = run(program, ranks=ranks, native=True)
    ours = run(program, ranks=ranks, settings=settings_of("wait", **FORCED))
    for finished in (native, ours):
        assert says in ended_well(finished).lines
    assert ours.lines == native.lines
    assert decided_calls(ours) >= 3


@pytest.mark.on_any_mpi
def test_k_means(run, mpi, tmp_path):
    give_the_same_answers(run, [compiled(mpi.wrapper, EXAMPLES / "k_means.c", tmp_path, "-lm")],
                          "after 3 rounds; largest distance from the true centres: 0.004")


def test_parameter_study(run):
    give_the_same_answers(run, [sys.executable, str(EXAMPLES / "parameter_study.py")],
                          "sum of 48 periods: 113.717458 s; exactly: 113.717458 s")


def test_jacobi(run, mpi, tmp_path):
    # Of thousands of short calls, which MPICH spins in: with more ranks than processors they take a minute.
    give_the_same_answers(run, [compiled_fortran(mpi, EXAMPLES / "jacobi.f90", tmp_path)],
                          "largest error against the exact solution: 7.54E-04", ranks=2)
