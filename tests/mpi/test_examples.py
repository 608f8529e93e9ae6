"""The programs of examples/ give the same answers with mutirao, whose algorithms take part."""

import shutil
import subprocess
import sys

import pytest

from ends import decided_calls, settings_of
from mutirao.base.paths import ROOT

EXAMPLES = ROOT / "examples"
FORCED = {"broadcast": "binomial", "allreduce": "recursive_doubling", "scatter": "linear", "scatterv": "linear",
          "gather": "linear", "gatherv": "linear"}


def compiled(compiler, source, folder, *more):
    program = folder / source.stem
    subprocess.run([compiler, "-O2", source, "-o", program, *more], check=True)
    return [str(program)]


def give_the_same_answers(run, program, says, ranks=3):
    native = run(program, ranks=ranks, native=True)
    ours = run(program, ranks=ranks, settings=settings_of("wait", **FORCED))
    for finished in (native, ours):
        assert finished.returncode == 0, finished.errors
        assert says in finished.lines
    assert ours.lines == native.lines
    assert decided_calls(ours) >= 3


@pytest.mark.on_any_mpi
def test_k_means(run, mpi, tmp_path):
    give_the_same_answers(run, compiled(mpi.wrapper, EXAMPLES / "k_means.c", tmp_path, "-lm"),
                          "after 3 rounds; largest distance from the true centres: 0.004")


@pytest.mark.on_any_mpi
def test_parameter_study(run):
    give_the_same_answers(run, [sys.executable, str(EXAMPLES / "parameter_study.py")],
                          "sum of 48 periods: 113.717458 s; exactly: 113.717458 s")


def test_jacobi(run, mpi, tmp_path):
    compiler = shutil.which(str(mpi.wrapper).replace("mpicc", "mpifort"))
    if mpi.known.environment or compiler is None:
        pytest.skip(f"{mpi.name} comes without Fortran modules")
    # Of thousands of short calls, which MPICH spins in: with more ranks than processors they take a minute.
    give_the_same_answers(run, compiled(compiler, EXAMPLES / "jacobi.f90", tmp_path),
                          "largest error against the exact solution: 7.54E-04", ranks=2)
