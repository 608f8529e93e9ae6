"""On a real Slurm: jobs of four nodes with two ranks each, however their script starts the ranks."""

import json
import os
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from mutirao.base.paths import LIBRARIES, PRELOAD, ROOT
from mutirao.lab.lab import Lab
from mutirao.run.mpis import found_mpis
from shared import network_of, wait_until
from slurm import Slurm, why_not

NODES = 4
RANKS = 8
# Of a program that is taken on: calls enough, of an algorithm that always pays.
SETTINGS, WORDS = "--set allreduce=recursive_doubling", "allreduce --repeat 150"
MUTIRAO = ROOT / "mutirao"
# Debian's MPICH 4.0 never leaves MPI_Finalize on several hosts, without Slurm and without mutirao, too.
MPIS = [mpi for mpi in found_mpis() if mpi.built and mpi.name != "mpich-4"]

pytestmark = [
    pytest.mark.on_any_mpi,
    pytest.mark.skipif(why_not() is not None, reason=f"Slurm: {why_not()}"),
    pytest.mark.parametrize("mpi", MPIS, ids=[mpi.name for mpi in MPIS])]


@pytest.fixture(scope="module")
def cluster(lab_possible, tmp_path_factory):
    folder = tmp_path_factory.mktemp("slurm")
    # As few processors as here are shared by waiting without spinning.
    environment = {"XDG_STATE_HOME": f"{folder}/home", "OMPI_MCA_mpi_yield_when_idle": "1"}
    with Lab.up(network_of([[0] * NODES] * NODES)) as lab:
        cluster = Slurm(lab, folder, environment)
        cluster.start()
        yield cluster


@pytest.fixture
def slurm(cluster):
    """Free for the next test, however this one ends."""
    yield cluster
    cluster.call("scancel", "--user=root")


def by_run(mpi, options, program):
    return [f"{MUTIRAO} run --mpi {mpi.name} {options} {program}"]


def by_run_and_mpirun(mpi, options, program):
    return by_run(mpi, f"--launcher {mpi.launcher} {options}", program)


def by_srun(mpi, options, program):
    meets = "pmix" if mpi.known.title == "Open MPI" else "pmi2"
    return [f'eval "$({MUTIRAO} env --mpi {mpi.name} {options})"', f"srun --mpi={meets} {program}"]


def by_mpirun(mpi, options, program):
    more = "--allow-run-as-root -x HOME" if mpi.known.title == "Open MPI" else ""
    return [f'eval "$({MUTIRAO} env --mpi {mpi.name} {options})"', f"{mpi.launcher} {more} {program}"]


OTHER_WAYS = [pytest.param(way, marks=pytest.mark.long) for way in (by_run_and_mpirun, by_srun, by_mpirun)]
each_way = pytest.mark.parametrize("started", [by_run, *OTHER_WAYS])


@each_way
def test_all_ranks_of_a_job_are_served(slurm, mpi, started):
    """And rank 0 alone tells."""
    report = slurm.folder / "report.json"
    report.unlink(missing_ok=True)
    said = slurm.batch(*started(mpi, f"{SETTINGS} --set explain=on --set report={report}",
                                f"{mpi.program('collective')} {WORDS}"), **mpi.environment())
    assert said.count("; its start took ") == 1, said
    told = json.loads(report.read_text())
    world = told["communicators"][0]
    assert (world["ranks"], world["hosts"], world["state"]) == (RANKS, NODES, "mutirao")
    assert told["start"]["by_launcher"] == (mpi.known.title == "Open MPI" or started in (by_run, by_run_and_mpirun))


def processes_of(job):
    """The job's on all nodes, with their command lines."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            if f"SLURM_JOB_ID={job}".encode() in (process / "environ").read_bytes().split(b"\0"):
                found[process] = (process / "cmdline").read_bytes().decode()
    return found


def served_ranks(job):
    """By node."""
    ranks = [process for process, line in processes_of(job).items()
             if line.split("\0")[0].endswith("/collective")]
    served = [rank for rank in ranks if f"{LIBRARIES}/mutirao/" in (rank / "maps").read_text()]
    return Counter(os.readlink(rank / "ns/net") for rank in served)


def left_on(slurm):
    """Shared memory of mutirao's, and ports that are listened on."""
    asked = (("sh", "-c", "ls /dev/shm | grep mutirao"), ("ss", "-Hltun"))
    return [[slurm.call(*command, host=node, check=False) for command in asked] for node in slurm.nodes]


@pytest.mark.long
@each_way
def test_a_cancelled_job_leaves_nothing_that_runs(slurm, mpi, started):
    """What its agents had in shared memory, nobody holds: the next job removes it."""
    short = by_run(mpi, SETTINGS, f"{mpi.program('collective')} {WORDS}")
    slurm.batch(*short)
    before = left_on(slurm)
    endless = f"{mpi.program('collective')} broadcast --settle-calls 1000000000"
    job = slurm.submit(*started(mpi, "", endless), **mpi.environment())
    wait_until(lambda: list(served_ranks(job).values()) == [RANKS // NODES] * NODES)
    wait_until(lambda: all(segments for segments, _ in left_on(slurm)))
    if started in (by_run, by_run_and_mpirun):
        assert "The job is running" in slurm.call(MUTIRAO, "explain", "--running")
    slurm.call("scancel", job)
    slurm.wait(job)
    wait_until(lambda: not processes_of(job))
    assert [ports for _, ports in left_on(slurm)] == [ports for _, ports in before]
    slurm.batch(*short)
    assert left_on(slurm) == before and not any(segments for segments, _ in before)


@pytest.mark.long
def test_tasks_of_an_array_keep_their_reports_apart(slurm, mpi):
    collectives = ("broadcast", "gather", "allgather")
    task = "$SLURM_ARRAY_TASK_ID"
    job = slurm.submit(
        f"collectives=({' '.join(collectives)})",
        *by_run(mpi, f"--report of-{task}.json", f"{mpi.program('collective')} ${{collectives[{task}]}}"),
        # explain follows when all have ended their runs
        f"ended=ended-$SLURM_ARRAY_JOB_ID; touch $ended-{task}",
        f"while [ $(ls $ended-* | wc -l) -lt {len(collectives)} ]; do sleep 0.1; done",
        f"{MUTIRAO} explain", nodes=1, options=["--array=0-2"])
    slurm.wait(job)
    for number, collective in enumerate(collectives):
        said = slurm.output(job, number)
        classes = json.loads((slurm.folder / f"of-{number}.json").read_text())["communicators"][0]["classes"]
        assert collective in [of_class["collective"] for of_class in classes]
        assert [name for name in collectives if f"\n  {name} of" in said] == [collective], said


@pytest.mark.long
def test_a_login_host_learns_what_ran_on_the_nodes(slurm, mpi):
    """Which have temporary folders of their own."""
    slurm.call("salloc", f"--nodes={NODES}", f"--ntasks={RANKS}", MUTIRAO, "run", "--mpi", mpi.name, *SETTINGS.split(),
               mpi.program("collective"), *WORDS.split(), TMPDIR="/dev/shm")
    assert f"{RANKS} ranks on {NODES} hosts" in slurm.call(MUTIRAO, "explain")


@pytest.mark.long
def test_jobs_that_take_nothing_of_their_submitter_along(slurm, mpi):
    where_mutirao_is = [f"export {name}={slurm.environment[name]}"
                        for name in ("PYTHONPATH", "MUTILAB_BUILD", "XDG_STATE_HOME") if name in slurm.environment]
    say = by_srun(mpi, "--set broadcast=flat", "/bin/sh -c 'echo $LD_PRELOAD $MUTIRAO_BROADCAST'")
    said = slurm.batch(*where_mutirao_is, *say, options=["--export=NONE"])
    assert said.count(f"{PRELOAD} flat\n") == RANKS, said
