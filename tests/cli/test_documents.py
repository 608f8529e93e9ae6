"""Every command that a document shows works: it is parsed with the real parser, and it is run, here or by the
test that the table below names. A new command without a row is run, too."""

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

# Commands that need more than a folder and a minute, and who runs them: a file of the project and text in it.
BUILD = ("scripts/test.sh", "scripts/build.sh")
INSTALLS = ("tests/cli/test_installing.py", "def test_the_command_runs_a_program")
WHEEL = ("tests/cli/test_installing.py", "def test_without_the_source")
BARS = ("studies/tests/test_bars.py", "def test_what_is_said_and_kept")
ONE_BAR = ("studies/tests/test_bars.py", "def test_one_by_its_name")
LOOPS = ("studies/tests/test_loops.py", "def test_in_a_lab")
AGENTS = ("tests/agent/test_agent_command.py", "def test_three_agents_find_the_tree")
ELSEWHERE = {
    "make build": BUILD,
    "make install PREFIX=/opt/mutirao": INSTALLS,
    "make wheel": WHEEL,
    "pip install dist/mutirao-*.whl": WHEEL,
    "mutirao doctor --build /path/to/mpicc": ("scripts/build.sh", "--mpicc"),
    "module use /opt/mutirao/share/modulefiles": ("packaging/modulefile.in", "prepend-path PATH"),
    "module load mutirao": ("packaging/modulefile.in", "prepend-path PATH"),
    "srun --mpi=pmix ./app": ("tests/lab/test_slurm.py", "--export=NONE"),
    "mutirao run -n 64 --launcher-args --map-by node -- ./app": (
        "tests/cli/test_launching.py", "def test_more_words_for_the_launcher"),
    "mutirao agent key agents.key": AGENTS,
    "mutirao agent start --hosts hosts.txt --key agents.key": AGENTS,
    "mutirao agent status": AGENTS,
    "mutirao agent stop": AGENTS,
    "mutirao explain --running": ("tests/mpi/test_explained.py", "running"),
    'gdb -p PID -batch -ex "thread apply all backtrace"': ("docs/when-something-is-wrong.md", "gdb"),
    "./mutirao top": ("tests/cli/test_top.py", "def test_"),
    "./mutirao bench --guidelines -n 8": ("tests/cli/test_guidelines.py", "def test_on_one_host"),
    "mutirao compare -n 4 --set profile=auto ./app": (
        "tests/cli/test_compare.py", "def test_each_run_has_a_profile_of_its_own_unless_asked"),
    "./mutirao compare -n 4 ./app": ("tests/cli/test_compare.py", "def test_a_program_that_mutirao_handles"),
    "./mutirao bench allreduce --choice -n 8 --bytes 8,64KiB": ("tests/cli/test_choice.py", "def test_on_one_host"),
    "./mutirao bench broadcast --lab six-sites --roots sites": ("tests/measure/test_bench.py", "def test_in_the_lab"),
    "./mutirao tune --budget 600 --bytes 8,4KiB,1MiB": ("tests/measure/test_tune.py", "def test_in_a_lab"),
    "./mutirao profile show": ("tests/cli/test_profile.py", "def test_show_names_the_best"),
    "./mutirao profile export --format openmpi -o rules": ("tests/cli/test_profile.py", "def test_open_mpis_rules"),
    "mpirun --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename rules ./app": (
        "tests/lab/test_exported_rules.py", "def test_open_mpi_obeys"),
    "./mutirao new-algorithm allreduce my_own": ("tests/cli/test_new_algorithm.py", "def test_it_makes_a_file"),
    "scripts/setup.sh --studies && make build": ("scripts/setup.sh", "--studies) prepare_studies"),
    "./mutirao study all --report DIR --quick": (
        "studies/tests/test_allgather_study.py", "def test_one_page_of_all_papers"),
    "./mutirao study six-sites --quick": ("studies/tests/test_six_sites.py", "def test_quick_measures_once"),
    "./mutirao study start --quick": ("studies/tests/test_start_study.py", "def test_the_program_in_the_lab"),
    "./mutirao study reaction --quick": ("studies/tests/test_steady.py", "def test_"),
    "./mutirao study six-sites-dynamic --quick": (
        "studies/tests/test_dynamic_study.py", "def test_every_arm_of_every_figure"),
    "./mutirao study loops --quick --only sgd,k-means/A": LOOPS,
    "./mutirao study loops --pairs 4-12 --warm": ("studies/tests/test_loops.py", "def test_pairs_go_on"),
    "./mutirao study loops --only sgd --steps-scale 6": LOOPS,
    "make bars": BARS, "make bars ALL=1": BARS, "make bars ONLY=change": ONE_BAR,
    "make bars LIST=1": ("studies/tests/test_bars.py", "def test_all_bars_can_be_drawn"),
    "./mutirao study agents --quick": ("studies/tests/test_agents_study.py", "def test_a_job_waits"),
    "./mutirao study allgather --quick": ("studies/tests/test_allgather_study.py", "def test_without_the_simulator"),
    "./mutirao study allgather --only simulated,predicted": (
        "studies/tests/test_allgather_study.py", "def test_simulator_and_predictor_agree"),
    "./mutirao study interfaces --quick": (
        "studies/tests/test_interfaces_study.py", "def test_study_goes_on_without_what_fails"),
    "./mutirao study interfaces --only sockets,pvm": (
        "studies/tests/test_interfaces_study.py", "def test_image_is_the_set"),
    "./mutirao study interfaces --quick --lab nine-hosts": (
        "studies/tests/test_interfaces_study.py", "def test_across_the_lab"),
    "./mutirao study ping-pong --quick": ("studies/tests/test_ping_pong.py", "def test_each_way_on_this_host"),
    "./mutirao study ping-pong --only one-host,1gbit": (
        "studies/tests/test_ping_pong.py", "def test_situations_asked_for_are_measured_alone"),
    "./mutirao study ping-pong --trips 100": ("studies/tests/test_ping_pong.py", "def test_situations_asked_for_are_measured_alone"),
}
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


def run_here(document):
    return [command for command in commands_of(document) if command not in ELSEWHERE]


ALL = [command for document in DOCUMENTS for command in commands_of(document)]


def test_who_runs_what_is_not_run_here():
    assert ELSEWHERE.keys() <= set(ALL)
    for file, text in ELSEWHERE.values():
        assert text in (ROOT / file).read_text(), (file, text)


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
    for command in filter(chosen, run_here(document)):
        done = subprocess.run(["bash", "-c", here(command)], cwd=folder, env=environment, text=True, timeout=300,
                              check=False, capture_output=True)
        assert done.returncode == 0, (command, done.stdout, done.stderr)


def in_a_lab(command):
    return "--lab" in command and "--predicted" not in command


def test_the_tour_from_top_to_bottom(clone):
    all_succeed(TOUR, clone, lambda command: not in_a_lab(command))
    assert {"chain.svg", "mutirao-report.html"} <= {path.name for path in clone[0].iterdir()}


@pytest.mark.long
@pytest.mark.parametrize("document", DOCUMENTS)
def test_all_that_can_be_run(document, clone, lab_possible):
    for mpi, name in (("openmpi-4", "app"), ("mpich-4", "app-mpich")):
        subprocess.run([find_mpi(mpi).wrapper, "examples/k_means.c", "-o", name, "-lm"], cwd=clone[0], check=True)
    all_succeed(document, clone, lambda command: True)
