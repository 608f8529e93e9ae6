"""The Mandelbrot program over every transport that is installed here: the same right image, a worker
that is killed, an end by Ctrl-C. Sockets are never skipped."""

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from mutirao.base.errors import Failure, UsageError
from mutirao.base.paths import BUILD, ROOT
from mutirao_studies.paper_002 import interfaces, transports
from mutirao_studies.paper_002.paper_002 import MESSAGE_BYTES
from mutirao_studies.paper_002.transports import Task, known_transports, run_task
from shared import lab_of, network_of, processes_with, wait_until

TRANSPORTS = known_transports(("openmpi-5", "mpich-5"))
BY_NAME = {transport.name: transport for transport in TRANSPORTS}
SOCKETS = BY_NAME["sockets"]
POINTS, ITERATIONS, SIDE = 40, 60, 10
SECONDS = 40


def each_transport(wanted=lambda transport: True):
    chosen = [transport for transport in TRANSPORTS if wanted(transport)]
    return pytest.mark.parametrize("transport", chosen, ids=[each.name for each in chosen])


def skip_unless_here(transport):
    if transport is not SOCKETS and (why := transport.missing()):
        pytest.skip(f"{transport.title}: {why}")


def escapes_after(c, iterations):
    z = 0j
    for done in range(iterations):
        if z.real * z.real + z.imag * z.imag > 4:
            return 1 + done % 255
        z = z * z + c
    return 0


def expected_image(points, iterations):
    step = 3.0 / points
    return bytes(escapes_after(complex(-2.25 + column * step, -1.5 + row * step), iterations)
                 for row in range(points) for column in range(points))


@pytest.fixture
def image():
    """Where a program of any user can write it."""
    with tempfile.TemporaryDirectory(prefix="mutirao-test-") as folder:
        os.chmod(folder, 0o777)
        yield Path(folder, "image.pgm")


# Three, and 3 ms one way from the first to the last.
hosts = lab_of(network_of([[0, 1, 3], [1, 0, 2.5], [3, 2.5, 0]]))


def run(transport, image, workers=3, lab=None, **asked):
    with transport.ready(lab) as runner:
        task = Task(workers, **{"side": SIDE, "points": POINTS, "iterations": ITERATIONS, **asked})
        return run_task(transport, runner, task, SECONDS, image)


@each_transport()
def test_image_is_the_set(transport, image):
    skip_unless_here(transport)
    said = run(transport, image)
    assert interfaces.points_of_pgm(image.read_bytes()) == expected_image(POINTS, ITERATIONS)
    assert (said["messages"], said["gone"], len(said["computed_s"])) == (2 * 16 + 2 * 3, 0, 3)


@pytest.mark.parametrize("across_hosts", [False, True])
@each_transport(lambda transport: not transport.ends_with_a_worker)
def test_task_of_a_killed_worker_is_given_to_another(request, transport, image, across_hosts):
    skip_unless_here(transport)
    said = run(transport, image, lab=request.getfixturevalue("hosts") if across_hosts else None, fall_after=4)
    assert interfaces.points_of_pgm(image.read_bytes()) == expected_image(POINTS, ITERATIONS)
    assert said["gone"] == 1 and 0 <= said["noticed_ms"] < 5000


@each_transport(lambda transport: transport.ends_with_a_worker)
def test_mpi_job_ends_with_its_worker(transport, image):
    skip_unless_here(transport)
    with pytest.raises(Failure, match="exit code"):
        run(transport, image, fall_after=4)
    assert not image.exists()


@pytest.mark.parametrize("side", MESSAGE_BYTES)
def test_message_sizes(image, side):
    said = run(SOCKETS, image, workers=2, side=side, points=100)
    tasks = (100 // side) ** 2
    assert said["message_bytes"] == MESSAGE_BYTES[side]
    assert said["messages"] == 2 * tasks + 2 * 2
    assert said["bytes"] == said["messages"] * MESSAGE_BYTES[side]


def test_a_worker_killed_from_outside(image):
    """And that the workers are gone when the master is."""
    program = BUILD / "bin" / "mandelbrot-sockets"
    process = subprocess.Popen([program, "--workers", "2", "--side", "10", "--points", "100",
                                "--iterations", "200000", "--image", image],
                               stdout=subprocess.PIPE, text=True)
    workers = wait_until(lambda: len(found := children_of(process.pid)) == 2 and found)
    wait_until(lambda: all(processor_ticks_of(worker) >= 3 for worker in workers))  # they compute
    os.kill(int(workers[0]), signal.SIGKILL)
    said, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 0 and '"gone":1' in said
    assert interfaces.points_of_pgm(image.read_bytes()).count(0) > 100
    wait_until(lambda: not any(os.path.exists(f"/proc/{worker}") for worker in workers))


def children_of(process):
    return Path(f"/proc/{process}/task/{process}/children").read_text().split()


def processor_ticks_of(process):
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11])


def test_all_workers_killed_is_an_error(image):
    with pytest.raises(Failure, match="all workers are gone"):
        run(SOCKETS, image, workers=1, fall_after=2)


@each_transport(lambda transport: transport.name != "lam")
def test_across_the_lab(hosts, transport, image):
    """The same image, and no sooner than messages can be there and back."""
    skip_unless_here(transport)
    before = hosts.counters().total_packets
    said = run(transport, image, workers=2, lab=hosts)
    assert interfaces.points_of_pgm(image.read_bytes()) == expected_image(POINTS, ITERATIONS)
    bound_s = interfaces.bound_s(hosts.network, Task(2, SIDE, POINTS, ITERATIONS))
    assert said["return_s"] >= bound_s == pytest.approx(14 / (500 + 1e6 / 6000))
    assert hosts.counters().total_packets - before >= said["messages"]


def test_lam_stays_on_one_host(hosts):
    with pytest.raises(Failure, match="refuses root"), BY_NAME["lam"].ready(hosts):
        pass


@pytest.mark.parametrize("words, told, lines", [
    (["--hosts", "a,b"], "--hosts and --remote-shell go together", 1),
    (["--hosts", "a", "--remote-shell", "ssh"], "--hosts names 1 hosts for 2 workers", 1),
    (["--address", "here"], "'here' is no IPv4 address", 1),
    (["--hosts", "a,b", "--remote-shell", "/bin/false"], "", 0)])  # a worker that cannot begin has said why
def test_places_that_cannot_be(words, told, lines):
    answer = subprocess.run([BUILD / "bin" / "mandelbrot-sockets", "--workers", "2", "--side", "10", *words],
                            capture_output=True, text=True, timeout=SECONDS)
    assert answer.returncode in (1, 2) and told in answer.stderr and len(answer.stderr.splitlines()) == lines


def test_virtual_machines_do_not_meet(image):
    """A daemon that runs already, of this user or another, is left alone."""
    pvm = BY_NAME["pvm"]
    skip_unless_here(pvm)
    with pvm.ready(None) as first:
        assert run(pvm, image)["gone"] == 0
        assert run_task(pvm, first, Task(2, SIDE, POINTS, ITERATIONS), SECONDS)["gone"] == 0


def test_shared_memory_of_their_own():
    """What a killed rank leaves there goes with its job."""
    command = transports.with_own_shared_memory(["sh", "-c", "ls /dev/shm; echo > /dev/shm/$0; ls /dev/shm",
                                                 f"mutirao-test-{os.getpid()}"])
    if command[0] == "sh":
        pytest.skip("the system allows no mounts of one's own")
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said == f"mutirao-test-{os.getpid()}\n"
    assert not Path(f"/dev/shm/mutirao-test-{os.getpid()}").exists()


def test_study_goes_on_without_what_fails(monkeypatch):
    """And shows the same image of all others; what is asked for by name must be there."""
    @contextlib.contextmanager
    def broken(_lab):
        raise Failure("its daemon does not start")
        yield

    missing = interfaces.Transport("grpc", "gRPC", broken, lambda: "not built: run it")
    failing = interfaces.Transport("pvm", "PVM 3.4", broken, lambda: "")
    monkeypatch.setattr(interfaces, "known_transports", lambda _names: (SOCKETS, missing, failing))
    plan = interfaces.Plan((2,), (10,), 2, POINTS, ITERATIONS)
    result = interfaces.run_study(["openmpi-5"], plan=plan)
    assert [tuple(row.values()) for row in result["left_out"]] == [
        ("gRPC", "not built: run it"), ("PVM 3.4", "its daemon does not start")]
    (sockets,) = result["transports"]
    assert len(sockets["cells"][0]["return_s"]) == 2 and sockets["killed"]["gone"] == 1
    monkeypatch.setattr(interfaces, "known_transports", lambda _names: (missing, failing))
    with pytest.raises(Failure, match="gRPC left out: not built: run it\nPVM 3.4 left out: its"):
        interfaces.run_study(["openmpi-5"], plan=plan)
    with pytest.raises(UsageError, match="gRPC: not built"):
        interfaces.run_study(["openmpi-5"], only=["grpc"])


@pytest.mark.parametrize("place, moment_s", [((), 0.4), ((), 2.5), (("--lab", "nine-hosts"), 1.0)])
def test_ctrl_c_leaves_nothing(tmp_path, place, moment_s):
    """While daemons start, and while the program runs; in short paths, for sockets' sake."""
    here = [name for name in ("pvm", "sockets", "via", "zeromq") if not BY_NAME[name].missing()]
    folder = tempfile.mkdtemp(prefix="mutirao-test-")
    study = subprocess.Popen(
        [ROOT / "mutirao", "study", "interfaces", "--only", ",".join(here), *place, "--output", tmp_path],
        env={**os.environ, "TMPDIR": folder}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(lambda: len(processes_with(f"TMPDIR={folder}", "environ")) > 1)
    time.sleep(moment_s)
    study.send_signal(signal.SIGINT)
    # Python, not yet at its first line of ours, lets the signal end it: for a shell the same.
    assert study.wait(SECONDS) in (130, -signal.SIGINT)
    assert processes_with(f"TMPDIR={folder}", "environ") == []
    assert os.listdir(folder) == []
    os.rmdir(folder)


@pytest.mark.skipif(not (BUILD / "bin" / "mandelbrot-grpc").is_file(), reason="no gRPC to leave out: scripts/setup.sh --studies")
def test_grpc_without_protobuf_is_left_out(tmp_path):
    """Debian's libgrpc++-dev comes without it."""
    subprocess.run(["cmake", "-G", "Ninja", "-S", ROOT, "-B", tmp_path, "-DMUTIRAO_TESTS=OFF",
                    "-DCMAKE_DISABLE_FIND_PACKAGE_Protobuf=ON"], check=True, capture_output=True)
    targets = subprocess.run(["ninja", "-C", tmp_path, "-t", "targets", "all"], check=True, capture_output=True,
                             text=True).stdout
    assert "bin/mandelbrot-sockets" in targets and "mandelbrot-grpc" not in targets
