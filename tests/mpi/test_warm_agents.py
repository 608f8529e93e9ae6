"""A job that finds standing agents on its hosts has the network and the tree from them: it measures
nothing, and follows what they see from then on."""

import json
import subprocess
import time

import pytest

from mutirao.agent import PROGRAM
from mutirao.lab import Lab
from mutirao.launch import launch
from mutirao.mpis import found_mpis
from mutirao.network import HostNetwork

WHEELS = [mpi for mpi in found_mpis() if mpi.built and mpi.known.environment]
SITES = [[0, 30, 80], [30, 0, 50], [80, 50, 0]]


@pytest.fixture(params=WHEELS, ids=lambda mpi: mpi.name)
def mpi(request):
    return request.param


def dump(lab, host):
    asked = lab.exec(host, [str(PROGRAM), "dump"], stdout=subprocess.PIPE,
                     stderr=subprocess.DEVNULL)
    told, _ = asked.communicate()
    return json.loads(told) if asked.returncode == 0 else None


def wait_for_trees(lab, hosts, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        views = [dump(lab, host) for host in hosts]
        versions = [view["complete"] for view in views if view and view.get("complete")]
        if len(versions) == len(hosts) and len({each["hash"] for each in versions}) == 1:
            if len(versions[0]["tree"]) == len(hosts) - 1:
                return versions
        time.sleep(0.2)
    pytest.fail(f"no tree of all hosts within {seconds} s: {views}")


@pytest.fixture
def warm_lab(tmp_path):
    network = HostNetwork.from_sites(["A", "B", "C"], SITES, 2)
    (tmp_path / "hosts").write_text("".join(f"{host}\n" for host in network.hosts))
    key = tmp_path / "key"
    key.touch(mode=0o600)
    key.write_text("5a" * 32 + "\n")
    with Lab.up(network) as lab:
        agents = [lab.exec(host, [str(PROGRAM), "run", "--hosts", str(tmp_path / "hosts"), "--self",
                                  str(number), "--key", str(key)],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                  for number, host in enumerate(network.hosts)]
        try:
            wait_for_trees(lab, network.hosts)
            yield lab
        finally:
            for agent in agents:
                agent.terminate()
                agent.wait()


def test_a_job_finds_the_tree(mpi, warm_lab):
    finished = launch(mpi, [str(mpi.program("broadcast")), "--repeat", "2"], 6, lab=warm_lab,
                      capture=True, timeout_s=60, settings={}, hold=False)
    assert finished.returncode == 0, finished.errors
    world = finished.report["communicators"][0]
    assert world["reason"] == "network known to the hosts' agents", finished.report
    assert world["adaptation"]["mode"] == "auto"
    assert world["ghs_messages"] == 0 and world["setup_ms"]["probe"] == 0
    asked = warm_lab.network.latency_us
    for a in range(6):
        for b in range(6):
            if asked[a][b] > 10_000:
                assert asked[a][b] * 0.99 < world["latency_us"][a][b] < asked[a][b] + 5_000
