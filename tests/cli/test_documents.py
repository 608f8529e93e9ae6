"""Every command that a document shows works: it is parsed with the real parser, and it is run, here or by tests of its
own."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mutirao.base.paths import LIBRARIES, ROOT
from mutirao.catalogue import core_tool
from mutirao.cli import cli
from mutirao.run.mpis import find_mpi

TOUR = "README.md"
DOCUMENTS = [TOUR, "docs/on-your-cluster.md", "docs/when-something-is-wrong.md", "docs/measuring.md"]

# Commands that need more than a folder and a minute: each is run by tests of its own.
ELSEWHERE = re.compile(r"make (?!-C)|pip |module |srun |gdb |scripts/|mpirun --mca|(\./)?mutirao (agent |top|tune "
                       r"|new-algorithm |profile |explain --running|doctor --build|study (?!list|long|messages)"
                       r"|compare -n 4 (?!--runs)|bench (--guidelines|.*--choice|.*--roots)|run -n 64 --launcher)")
# What a reader puts in the place of these, here.
HERE = [(r" (-np?) (64|8|4) ", r" \1 2 "), (r"/opt/mutirao/lib", str(LIBRARIES)), (r"^mutirao ", "./mutirao "),
        (r"\$\(mutirao ", "$(./mutirao "), (r"^mpiexec (.*) \./app$", r"mpiexec.mpich \1 ./app-mpich")]


def commands_of(document):
    """In their order, without comments."""
    lines = (ROOT / document).read_text().splitlines()
    shown = [line.strip() for line in lines if re.match(r" {4,}\S", line)]
    return list(dict.fromkeys(re.sub(r"\s+#.*", "", line) for line in shown if not line.startswith("#")))


def here(command):
    for pattern, replacement in HERE:
        command = re.sub(pattern, replacement, command)
    return command


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_command_is_understood(document):
    """Its words by the parser, its settings by the library."""
    parser = cli.make_parser()
    for command in commands_of(document):
        words = shlex.split(re.sub(r"^eval \"\$\((.*)\)\"$", r"\1", command))
        if words[0] in ("mutirao", "./mutirao"):
            parsed = parser.parse_args(words[1:])
            given = getattr(parsed, "assignments", ())
            core_tool.check_settings(dict(each.split("=", 1) for each in given))


@pytest.fixture
def clone(tmp_path, surroundings):
    """What looks like a clone that is built; and the environment of its user."""
    if not (shutil.which("mpicc") and shutil.which("mpifort")):
        pytest.skip("no mpicc and mpifort in PATH")
    (tmp_path / "mutirao").symlink_to(ROOT / "mutirao")
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("jacobi", "k_means"))
    (tmp_path / "my-matrix.csv").write_text("0,10\n10,0\n")
    for hosts in ("hosts.txt", "nodes"):
        (tmp_path / hosts).write_text("localhost\n" * 2)
    environment = {**surroundings, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                   "PBS_O_WORKDIR": str(tmp_path), "PBS_NODEFILE": "nodes", "SLURM_ARRAY_TASK_ID": "3",
                   "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return tmp_path, environment


def all_succeed(document, clone, chosen):
    folder, environment = clone
    for command in filter(chosen, commands_of(document)):
        if ELSEWHERE.match(command):
            continue
        done = subprocess.run(["bash", "-c", here(command)], cwd=folder, env=environment, text=True, timeout=1800,
                              check=False, capture_output=True)
        assert done.returncode == 0, (command, done.stdout, done.stderr)


def test_the_tour_from_top_to_bottom(clone):
    """But for labs."""
    all_succeed(TOUR, clone, lambda command: "--lab" not in command or "--predicted" in command)
    assert {"chain.svg", "mutirao-report.html"} <= {path.name for path in clone[0].iterdir()}


@pytest.mark.long
@pytest.mark.parametrize("document", DOCUMENTS)
def test_all_that_can_be_run(document, clone, lab_possible):
    for mpi, name in (("openmpi-4", "app"), ("mpich-4", "app-mpich")):
        subprocess.run([find_mpi(mpi).wrapper, "examples/k_means.c", "-o", name, "-lm"], cwd=clone[0], check=True)
    all_succeed(document, clone, lambda command: True)
