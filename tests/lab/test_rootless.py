"""The same lab for people who are not root, through a user namespace."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mutirao
from shared import NOT_HERE
from mutirao.lab.lab import lab_file

NOBODY = 65534

SCRIPT = """
import json, subprocess, sys
from mutirao.lab.lab import Lab
from mutirao.lab.network import HostNetwork
sys.path.insert(0, sys.argv[1])
from probes import least_round_trip_ms, output_of

with Lab.up(HostNetwork.from_sites(["A", "B"], [[0, 40], [40, 0]], 2), tcp="tuned") as lab:
    print(json.dumps({
        "rootless": lab.information["rootless"],
        "interfaces": output_of(lab, "h01", ["ls", "/sys/class/net"]).split(),
        "window": output_of(lab, "h01", ["cat", "/proc/sys/net/ipv4/tcp_rmem"]).split()[1],
        "onward": output_of(lab, "control", [str(lab.agent), "h03", "hostname"]).strip(),
        "round_trip_ms": least_round_trip_ms(lab, "h00", "h03", 40)}))
"""


@pytest.fixture
def copy_for_anybody():
    """What the lab needs, where another user can read it: a checkout may lie in a closed home."""
    folder = Path("/tmp") / f"mutirao-rootless-{os.getpid()}"
    shutil.copytree(Path(mutirao.__file__).parent, folder / "mutirao")
    shutil.copytree(Path(__file__).parent, folder / "tests")
    for part in ("bin/mutirao-lab-router", "bin/mutirao-lab-agent", "lib/libmutirao-calm.so"):
        (folder / part).parent.mkdir(exist_ok=True)
        shutil.copy(lab_file(part), folder / part)
    (folder / "runtime").mkdir()
    os.chown(folder / "runtime", NOBODY, NOBODY)
    yield folder
    shutil.rmtree(folder)


def run_as_nobody(command, **arguments):
    return subprocess.run(command, user=NOBODY, group=NOBODY, extra_groups=[], check=False,
                          capture_output=True, text=True, cwd="/", **arguments)


def python_for_nobody():
    for python in (sys.executable, "/usr/bin/python3"):
        try:
            found = run_as_nobody([python, "-c", "import tomllib"])
        except OSError:
            continue
        if found.returncode == 0:
            return python
    pytest.skip("no Python 3.11 that a user other than root may run")


@pytest.mark.skipif(os.geteuid() != 0, reason="not root: every test of the lab is this one")
def test_lab_without_root(copy_for_anybody):
    folder = copy_for_anybody
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(folder), "HOME": "/",
                   "MUTILAB_BUILD": str(folder), "XDG_RUNTIME_DIR": str(folder / "runtime")}
    ended = run_as_nobody([python_for_nobody(), "-c", SCRIPT, str(folder / "tests")],
                          env=environment)
    if NOT_HERE in ended.stderr:
        pytest.skip(ended.stderr.splitlines()[-1])
    assert ended.returncode == 0, ended.stderr
    seen = json.loads(ended.stdout)
    assert 39.8 <= seen.pop("round_trip_ms") <= 60
    assert seen == {"rootless": True, "interfaces": ["lo", "wan0"], "window": "33554432",
                    "onward": "h03"}


def test_says_what_is_missing(tmp_path):
    """Where neither root nor a user namespace is to be had: one line, and nothing left."""
    if os.geteuid() != 0:
        pytest.skip("only root can take the right to make user namespaces away for a moment")
    limits = ["bash", "-c", "echo 0 > /proc/sys/user/max_user_namespaces &&"
              " exec setpriv --bounding-set -sys_admin --inh-caps -sys_admin \"$@\"", "-"]
    router = [str(lab_file("bin/mutirao-lab-router")), "lasting", str(tmp_path / "s"), "plain", "a", "control"]
    # In a user namespace of its own, so that the limit is nobody else's.
    ended = subprocess.run(["unshare", "-Ur", *limits, *router], capture_output=True, text=True,
                           check=False)
    if "unshare failed" in ended.stderr or "Permission denied" in ended.stderr:
        pytest.skip(f"cannot set this up here: {ended.stderr.strip()}")
    assert ended.returncode == 1, ended.stderr
    assert NOT_HERE in ended.stdout
    assert len(ended.stdout.splitlines()) == 1
    assert not (tmp_path / "s").exists()
