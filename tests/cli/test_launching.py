"""Who starts the ranks, with which words: programs that are no MPI programs tell how often they were started."""

import json
import os
import re
import subprocess
import tempfile

import pytest

from made_up import NoLab, mpi_named
from mutirao.base.errors import Failure
from mutirao.base.paths import PRELOAD, ROOT, state_folder
from mutirao.lab.lab import Lab, LabHost
from mutirao.lab.named_networks import load_preset
from mutirao.run import launch
from mutirao.run.launchers import AS_ROOT, launching
from mutirao.run.mpis import found_mpis
from shared import each_mpi, json_of, quick_mpi, refused, text_of, wait_until

FOUND = found_mpis()
QUICK = quick_mpi()
OPEN_MPI = [mpi for mpi in FOUND if mpi.known.title == "Open MPI"]
MPICH = [mpi for mpi in FOUND if mpi.known.title == "MPICH"]

# Where ranks end at once Open MPI 5's launcher sometimes waits for ever (5 times of 150 between two hosts of
# the lab), and Debian's of MPICH 4 ends by SIGPIPE, without mutirao as well.
PROGRAM = ("sleep", "0.3")


def saying(words):
    """A program that says something and does not end at once."""
    return ["sh", "-c", f"{words}; {' '.join(PROGRAM)}"]


# Starts as many as it is told to, and says how it was called.
SRUN = """#!/bin/sh
if [ "$1" = --mpi=list ]; then echo "MPI plugin types are... none pmi2 pmix"; exit; fi
echo "$@" >>"$0.calls"
count=${SLURM_NTASKS:-1} rank=0
while [ "$1" != env ]; do
    if [ "$1" = -n ]; then count=$2; fi
    shift
done
while [ $rank -lt $count ]; do SLURM_PROCID=$rank "$@"; rank=$((rank + 1)); done
"""


def lines_of(answer):
    return text_of(answer).splitlines()


@each_mpi
def test_a_hostfile_says_how_many(mutirao, tmp_path, mpi):
    line = mpi.known.style.hostfile_line.format(host="localhost", slots=2)
    (tmp_path / "hosts").write_text(f"# ours\n{line}\n")
    program = saying("echo here")
    assert len(lines_of(mutirao("run", "--mpi", mpi.name, "--hostfile", "hosts", *program))) == 2
    asked = mutirao("run", "-n", 1, "--mpi", mpi.name, "--hostfile", "hosts", *program)
    assert len(lines_of(asked)) == 1


@pytest.mark.skipif(not MPICH, reason="no MPICH")
def test_more_words_for_the_launcher(mutirao):
    answer = mutirao("run", "-np", 2, "--mpi", MPICH[0].name, "--launcher", "mpirun", "--launcher-args",
                     "-prepend-rank", "--", *saying("echo here"))
    assert sorted(re.findall(r"\[\d\]", answer.stdout)) == ["[0]", "[1]"], answer.stderr


@pytest.mark.skipif(not (MPICH and OPEN_MPI), reason="only one family of MPI libraries")
def test_a_launcher_of_another_family_is_refused(mutirao):
    refused(mutirao("run", "--mpi", OPEN_MPI[0].name, "--launcher", MPICH[0].launcher, "true"), OPEN_MPI[0].launcher)


@pytest.mark.skipif(not OPEN_MPI, reason="no Open MPI")
@pytest.mark.parametrize("ranks", [1, os.cpu_count() + 1])
def test_what_open_mpi_is_told_besides_is_needed_and_said(mutirao, monkeypatch, ranks):
    mpi = OPEN_MPI[0]
    told = launching(mpi, None, ranks).added()
    plainly = subprocess.run([mpi.launcher, "-n", str(ranks), *PROGRAM], capture_output=True, check=False)
    assert (told != []) == (plainly.returncode != 0)
    assert subprocess.run([mpi.launcher, *told, "-n", str(ranks), *PROGRAM], check=False,
                          capture_output=True).returncode == 0
    answer = mutirao("run", "-n", ranks, "--mpi", mpi.name, *PROGRAM)
    of_more_than_root = [word for word in told if word != AS_ROOT]
    assert answer.stderr.count("\n") == (1 if of_more_than_root else 0)
    assert all(word in answer.stderr for word in of_more_than_root)
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    assert launching(mpi, "mpirun", 64).added() == [
        word for word in told if word != "--oversubscribe"]


@each_mpi
def test_slurm_starts_the_ranks_in_an_allocation(mutirao, tmp_path, mpi):
    srun = tmp_path / "srun"
    srun.write_text(SRUN)
    srun.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    say = ["sh", "-c", "echo $SLURM_PROCID $LD_PRELOAD"]
    answer = mutirao("run", "--mpi", mpi.name, *say, PATH=path, SLURM_JOB_ID="7", SLURM_NTASKS="3")
    assert lines_of(answer) == [f"{rank} {PRELOAD}" for rank in range(3)]
    [called] = (tmp_path / "srun.calls").read_text().splitlines()
    assert called.split()[0] == ("--mpi=pmix" if mpi.known.title == "Open MPI" else "--mpi=pmi2")
    outside = mutirao("run", "-n", 2, "--launcher", "srun", "--mpi", mpi.name, *say, PATH=path)
    assert len(lines_of(outside)) == 2


@each_mpi
def test_env_prepares_a_shell(typed, tmp_path, mpi, surroundings):
    """A job script's plain launcher then preloads mutirao, which leaves its report."""
    printed = lines_of(typed("env", "--mpi", mpi.name, "--set", "report=a report.json",
                             LD_PRELOAD="/of/the/user.so"))
    assert any(line.startswith("export LD_PRELOAD=/of/the/user.so:") for line in printed)
    lines = lines_of(typed("env", "--mpi", mpi.name, "--set", "report=a report.json"))
    launch = [str(mpi.launcher), *launching(mpi, None, 2).words()[1:],
              str(mpi.program("collective")), "broadcast"]
    script = "\n".join([*lines, " ".join(launch)])
    text_of(subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True,
                           check=False, timeout=60, env={**surroundings, **mpi.environment()}))
    assert json.loads((tmp_path / "a report.json").read_text())["communicators"]


@pytest.mark.parametrize("mpi", OPEN_MPI[:1], ids=[mpi.name for mpi in OPEN_MPI[:1]])
def test_env_takes_along_what_the_user_does(typed, mpi):
    """In an allocation srun does, as sbatch was told; Open MPI's list would forbid mpirun -x there."""
    def printed(**environment):
        return json_of(typed("env", "--json", "--mpi", mpi.name, "--set", "explain=on", **environment))["environment"]

    ours = ["MUTIRAO_EXPLAIN", "LD_PRELOAD"]
    listed = "OMPI_MCA_mca_base_env_list"
    assert printed(**{listed: "HOME;LD_PRELOAD"})[listed].split(";") == ["HOME", "LD_PRELOAD", ours[0]]
    assert set(printed(SLURM_JOB_ID="7")) == set(ours)
    for told, kept in (("NONE", []), ("HOME,TERM=vt100", ["HOME", "TERM=vt100"])):
        assert printed(SLURM_JOB_ID="7", SLURM_EXPORT_ENV=told)["SLURM_EXPORT_ENV"].split(",") == kept + ours
    assert set(printed(SLURM_JOB_ID="7", SLURM_EXPORT_ENV="ALL,X=1")) == set(ours)


def test_a_lab_that_is_up(mutirao, lab_possible):
    with Lab.up(load_preset("two-hosts"), name="wan") as lab:
        before = lab.settings()
        answer = mutirao("run", "--lab", "wan", "--mpi", QUICK.name, *saying("hostname"))
        assert sorted(lines_of(answer)) == ["h00", "h01"]
        assert "wan" in answer.stderr
        assert lab.settings() == before  # and it is still up
        refused(mutirao("run", "--lab", "wan", "--tcp", "tuned", "true"), "lab up")


def test_top_finds_a_job_in_a_lab(mutirao, lab_possible, surroundings):
    """With the names that its hosts have there."""
    program = [QUICK.program("collective"), "broadcast", "--settle-calls", "1000000000"]
    with Lab.up(load_preset("two-hosts"), name="wan"):
        job = subprocess.Popen([ROOT / "mutirao", "run", "--lab", "wan", "--mpi", QUICK.name, *program],
                               env=surroundings, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_until(lambda: "h00-h01" in mutirao("top", "--once").stdout)
        finally:
            job.terminate()
            job.wait()


# Called like ssh; what it starts has nothing of our environment.
BARE_HOST = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
shift
exec env -i PATH=/usr/bin:/bin HOME="$HOME" sh -c "$*"
"""


@pytest.mark.parametrize("mpi", OPEN_MPI, ids=[mpi.name for mpi in OPEN_MPI])
def test_env_reaches_other_hosts(typed, tmp_path, mpi, surroundings):
    """Open MPI's launcher passes on what it is told to; MPICH's, everything."""
    agent = tmp_path / "agent"
    agent.write_text(BARE_HOST)
    agent.chmod(0o755)
    option = (["--mca", "plm_rsh_agent"] if mpi.known.major == "4" else ["--prtemca", "plm_ssh_agent"])
    words = [str(mpi.launcher), *launching(mpi, None, 1).words()[1:], *option, str(agent),
             "--host", "127.0.0.9:1", "sh", "-c", "'echo preload=$LD_PRELOAD set=$MUTIRAO_BROADCAST'"]

    def said(*lines):
        return text_of(subprocess.run(["bash", "-c", "\n".join([*lines, " ".join(words)])], cwd=tmp_path, text=True,
                                      capture_output=True, check=False, timeout=60, env=surroundings)).strip()

    prepared = lines_of(typed("env", "--mpi", mpi.name, "--set", "broadcast=flat"))
    assert said(*prepared) == f"preload={PRELOAD} set=flat"
    assert said(*prepared, "unset OMPI_MCA_mca_base_env_list") == "preload= set="


# --- in a lab, without one ----------------------------------------------------------------------------


class LabInName(NoLab):
    agent, control = "agent", LabHost("control", "10.0.0.9")
    hosts = [LabHost("h0", "10.0.0.1"), LabHost("h1", "10.0.0.2")]
    calm_library = "calm.so"

    def environment(self):
        return {}


@pytest.mark.parametrize("native, expected", [(False, ["libmutirao.so", "calm.so"]), (True, ["calm.so"])])
def test_what_is_preloaded(monkeypatch, tmp_path, native, expected):
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    mpi = mpi_named("mpich-5")
    command = launch._lab_command(mpi, ["program"], 2, native, {}, LabInName(), tmp_path)
    [word] = [word for word in command if word.startswith("LD_PRELOAD=")]
    assert [path.rpartition("/")[2] for path in word.partition("=")[2].split(":")] == expected


@pytest.mark.parametrize("said, starts", [("", 2), ("not enough slots", 1)])
def test_a_launcher_that_fails_and_says_nothing_is_tried_once_more(monkeypatch, tmp_path, said, starts):
    started = tmp_path / "started"
    launcher = ["sh", "-c", f'echo started >> {started}; printf "{said}" >&2; exit 213']
    finished = launch.launch(mpi_named("mpich-5"), ["program"], 2, native=True, capture=True,
                             launcher=launcher)
    assert finished.returncode == 213 and len(started.read_text().splitlines()) == starts


def test_where_the_home_cannot_be_written_other_folders_do(monkeypatch, tmp_path):
    none, other = tmp_path / "file", tmp_path / "temporary"
    none.touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(none))
    monkeypatch.setattr(tempfile, "tempdir", str(none))
    with pytest.raises(Failure, match="XDG_STATE_HOME"):
        state_folder()
    monkeypatch.setattr(tempfile, "tempdir", str(other))
    assert state_folder().parent == other and state_folder().stat().st_mode & 0o777 == 0o700
