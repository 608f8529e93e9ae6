"""The programs of examples/ give the same answers with mutirao, whose algorithms take part."""

import shutil
import subprocess
import sys

import pytest

from ends import decided_calls, settings_of
from mutirao.paths import ROOT

pytestmark = pytest.mark.on_any_mpi

EXAMPLES = ROOT / "examples"
FORCED = {"broadcast": "binomial", "allreduce": "recursive_doubling", "scatter": "linear", "scatterv": "linear",
          "gather": "linear", "gatherv": "linear"}


def compiled(compiler, source, folder, *more):
    program = folder / source.stem
    subprocess.run([compiler, "-O2", source, "-o", program, *more], check=True)
    return [str(program)]


def k_means(mpi, folder):
    return compiled(mpi.wrapper, EXAMPLES / "k_means.c", folder, "-lm")


def jacobi(mpi, folder):
    compiler = shutil.which(str(mpi.wrapper).replace("mpicc", "mpifort"))
    if mpi.known.environment or compiler is None:
        pytest.skip(f"{mpi.name} comes without Fortran modules")
    return compiled(compiler, EXAMPLES / "jacobi.f90", folder)


def parameter_study(_mpi, _folder):
    return [sys.executable, str(EXAMPLES / "parameter_study.py")]


@pytest.mark.parametrize("example, says", [
    (k_means, "after 3 rounds; largest distance from the true centres: 0.004"),
    (jacobi, "largest error against the exact solution:  1.94E-04"),
    (parameter_study, "sum of 48 periods: 113.717458 s; exactly: 113.717458 s"),
])
def test_the_same_answers(run, mpi, tmp_path, example, says):
    program = example(mpi, tmp_path)
    native = run(program, ranks=3, native=True)
    ours = run(program, ranks=3, settings=settings_of("wait", **FORCED))
    for finished in (native, ours):
        assert finished.returncode == 0, finished.errors
        assert says in finished.lines
    assert ours.lines == native.lines
    assert decided_calls(ours) >= 3
