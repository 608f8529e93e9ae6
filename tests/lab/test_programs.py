"""Programs on the hosts: how they are started, and that nothing outlives its reason to run."""

import os
import secrets
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from mutirao.base.errors import UsageError
from mutirao.lab.lab import Lab, lab_file
from probes import output_of
from shared import processes_with, wait_until

SECONDS = 20


def users_of_namespaces(names):
    """Processes in these network namespaces, and descriptors of any process that hold one."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            for link in (process / "ns" / "net", *(process / "fd").iterdir()):
                with suppress(OSError):
                    if os.readlink(link) in names:
                        found.append(link)
    return found


def network_namespace(lab, host):
    return output_of(lab, host, ["readlink", "/proc/self/ns/net"]).strip()


@pytest.mark.parametrize("script, code", [
    ("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 143), ("no-such-program-at-all", 127)])
def test_exit_code(lab, script, code):
    assert lab.exec("h03", ["sh", "-c", script], stderr=subprocess.DEVNULL).wait(SECONDS) == code


def test_called_like_ssh(lab):
    """By an address, with ssh's options, and words that a shell is to join."""
    command = [lab.agent, "-x", "-l", "somebody", "-q", lab.hosts[2].address, "hostname;", "echo",
               "$MUTILAB_HOST", "'a  b'"]
    output = subprocess.run(command, env={**os.environ, **lab.environment()}, check=True,
                            capture_output=True, text=True).stdout
    assert output == "h02\nh02 a  b\n"


def test_arguments_arrive_unchanged(lab):
    words = ["a  b", "$HOME", "'", '"', "*", ";", "\\", ""]
    printed = output_of(lab, "h00", ["printf", "%s\n", *words])
    assert printed.split("\n")[:-1] == words


def test_host_is_a_machine_of_its_own(lab):
    see = "hostname; ls /sys/class/net; getent hosts h05; ls /dev/shm"
    assert output_of(lab, "h01", ["sh", "-c", see]).split() == [
        "h01", "lo", "wan0", lab.hosts[5].address, "h05"]
    file = Path("/dev/shm") / f"test-{secrets.token_hex(6)}"
    output_of(lab, "h01", ["touch", str(file)])
    assert output_of(lab, "h01", ["ls", "/dev/shm"]) == f"{file.name}\n"  # outlives a program
    assert output_of(lab, "h02", ["ls", "/dev/shm"]) == ""
    assert not file.exists()


def test_starts_where_its_caller_is(lab, tmp_path):
    process = lab.exec("h00", ["pwd"], stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    assert process.communicate()[0].strip() == str(tmp_path)


def test_from_host_to_host(lab):
    """As launchers that spread in a tree do."""
    assert output_of(lab, "h00", [str(lab.agent), "h04", "hostname"]) == "h04\n"


def test_unknown_host(lab):
    with pytest.raises(UsageError, match="unknown host .*known: h00, .*control"):
        lab.exec("h9", ["true"])
    failed = subprocess.run([lab.agent, "h9", "true"], capture_output=True, text=True,
                            env={**os.environ, **lab.environment()}, check=False)
    assert failed.returncode == 255
    assert failed.stderr == "mutirao-lab-agent: no host 'h9' in this lab\n"


def start_with_a_daemon(lab, token):
    """A program that has a daemon in a session of its own, both deaf to polite signals."""
    script = ("trap '' HUP; setsid sh -c 'trap \"\" TERM INT HUP; sleep 600; true' \"$0\" &"
              "sleep 600; true")
    process = lab.exec("h00", ["sh", "-c", script, token])
    # The agent's two, the program and the daemon.
    wait_until(lambda: len(processes_with(token)) >= 4)
    return process


@pytest.mark.parametrize("number, code", [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_stopping_an_agent_ends_all_it_started(lab, number, code, token):
    """Caught: an agent that is no subreaper leaves the daemon behind."""
    process = start_with_a_daemon(lab, token)
    process.send_signal(number)
    assert process.wait(SECONDS) == code
    assert processes_with(token) == []


@pytest.mark.long
def test_what_a_launcher_leaves_is_ended_after_a_while(lab, token):
    """Caught: a job that lasted as long as a daemon that hung. Elsewhere a daemon may outlive what started it."""
    script = "setsid sh -c 'trap \"\" TERM INT HUP; sleep 600; true' \"$0\" & sleep 0.2; exit 7"
    process = lab.exec("control", ["sh", "-c", script, token])
    assert process.wait(40) == 7
    assert processes_with(token) == []


def keeper_of(agent):
    """Of the agent's two processes the one that the program is a child of."""
    return int(Path(f"/proc/{agent.pid}/task/{agent.pid}/children").read_text().split()[0])


@pytest.mark.parametrize("victim", ["guard", "keeper"])
def test_killing_half_an_agent_ends_all_it_started(lab, victim, token):
    """Caught: one process alone, whose program dies with it but not what that had started."""
    inside = {network_namespace(lab, "h00")}
    idle = users_of_namespaces(inside)
    process = start_with_a_daemon(lab, token)
    os.kill(process.pid if victim == "guard" else keeper_of(process), signal.SIGKILL)
    assert process.wait(SECONDS) == (-9 if victim == "guard" else 137)
    wait_until(lambda: users_of_namespaces(inside) == idle)
    assert processes_with(token) == []


@pytest.mark.parametrize("end", [Lab.down, lambda lab: lab._process.kill()], ids=["down", "its router is killed"])
def test_a_lab_that_ends_leaves_nothing(lab_possible, three_sites, token, end):
    """Caught: agents that do not watch the lab leave programs, and so namespaces."""
    interfaces = os.listdir("/sys/class/net")
    lab = Lab.up(three_sites, name="to-be-killed")
    namespaces = {network_namespace(lab, host.name) for host in lab.hosts}
    assert len(namespaces) == 6
    process = start_with_a_daemon(lab, token)
    assert users_of_namespaces(namespaces)
    end(lab)
    assert process.wait(SECONDS) == 255
    wait_until(lambda: processes_with(token) == [])
    lab._process.wait()
    assert users_of_namespaces(namespaces) == []
    assert os.listdir("/sys/class/net") == interfaces
    lab.down()  # harmless
    Lab.up(three_sites, name="to-be-killed").down()  # nothing is in the way


def test_unnamed_lab_ends_with_its_creator(lab_possible, tmp_path):
    script = ("import os, sys\nfrom mutirao.lab.lab import Lab\n"
              "from mutirao.lab.network import HostNetwork\n"
              "lab = Lab.up(HostNetwork.from_sites(['A', 'B'], [[0, 0], [0, 0]]))\n"
              "print(lab.control_path, flush=True)\nos.kill(os.getpid(), 9)\n")
    python = str(Path(sys.modules["mutirao"].__file__).parents[1])
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                            env={**os.environ, "PYTHONPATH": python}, check=False).stdout
    path = output.strip()
    assert path.endswith(".sock")
    wait_until(lambda: not processes_with(path) and not Path(path).exists())


def test_a_launcher_that_is_late_to_group_a_child_is_not_told_so():
    """Open MPI 5's would warn of it in nearly every run in a lab."""
    script = ("import os, pathlib\n"
              "child = os.fork()\n"
              "if child == 0:\n"
              "    os.setpgid(0, 0)\n"
              "    os.execvp('sleep', ['sleep', '20'])\n"
              "while pathlib.Path(f'/proc/{child}/comm').read_text() != 'sleep\\n': pass\n"
              "try:\n"
              "    os.setpgid(child, child)\n"
              "finally:\n"
              "    os.kill(child, 9)\n")
    calm = {"LD_PRELOAD": str(lab_file("lib/libmutirao-calm.so"))}
    for more, refused in (({}, True), (calm, False)):
        done = subprocess.run([sys.executable, "-c", script], env={**os.environ, **more}, check=False,
                              capture_output=True, text=True, timeout=SECONDS)
        assert ("PermissionError" in done.stderr) == refused == (done.returncode != 0), done.stderr
