"""Does the lab's network keep what was asked of it? UDP round trips of all pairs of sites."""

import json
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from mutirao.errors import Failure
from mutirao.lab import Lab

_PROBE = Path(__file__).with_name("udp_probe.py")


@dataclass(frozen=True)
class RoundTrip:
    """Between two hosts, one of each site (of a site with itself: its first and its last)."""

    from_site: str
    to_site: str
    asked_us: float
    measured_us: float | None  # None: no answer

    @property
    def error_us(self) -> float | None:
        return None if self.measured_us is None else abs(self.measured_us - self.asked_us)


def check_round_trips(lab: Lab, repetitions: int = 5) -> list[RoundTrip]:
    """Every site measures at the same time, so this takes as long as the slowest."""
    asked = lab.current_network()
    sites = asked.site_names
    asking = [asked.hosts_of(site)[0] for site in sites]
    answering = [asked.hosts_of(site)[-1] for site in sites]
    python = [sys.executable, str(_PROBE)]
    responders = [_responder(lab, asked.hosts[host], python) for host in answering]
    try:
        addresses = [lab.hosts[host].address for host in answering]
        clients = [lab.exec(asked.hosts[host], [*python, "measure", str(repetitions), *addresses],
                            stdout=subprocess.PIPE, text=True) for host in asking]
        medians = [_answer_of(client) for client in clients]
    finally:
        for responder in responders:
            responder.terminate()
            responder.wait()
            responder.stdout.close()
    return [RoundTrip(sites[a], sites[b], asked.round_trip_us(asking[a], answering[b]),
                      medians[a][b])
            for a in range(len(sites)) for b in range(len(sites))
            if asking[a] != answering[b]]


def median_error_us(results: list[RoundTrip]) -> float:
    errors = [result.error_us for result in results]
    if not errors or None in errors:
        raise Failure("not every pair of sites answered, so there is no median error")
    return statistics.median(errors)


def _responder(lab: Lab, host: str, python: list[str]) -> subprocess.Popen:
    responder = lab.exec(host, [*python, "answer"], stdout=subprocess.PIPE, text=True)
    if responder.stdout.readline().strip() != "ready":
        raise Failure(f"the probe on {host} did not start")
    return responder


def _answer_of(client: subprocess.Popen) -> list[float | None]:
    output, _ = client.communicate()
    if client.returncode != 0:
        raise Failure(f"a probe ended with exit code {client.returncode}")
    return json.loads(output)
