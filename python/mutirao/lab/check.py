"""Does the lab's network keep what was asked of it? UDP round trips of all pairs of sites, and the
rates of trains of packets where those are limited."""

import json
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mutirao.base.errors import Failure
from mutirao.lab.lab import Lab

_PROBE = [sys.executable, str(Path(__file__).with_name("udp_probe.py"))]
# Faster ones are not told from each other by a busy machine's time stamps.
_MOST_CHECKED_MBIT = 200.0
_TRAINS, _REPETITIONS = 3, 5


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


@dataclass(frozen=True)
class Rate:
    """From the first host of one site to the last of another, while nothing else is sent."""

    from_site: str
    to_site: str
    asked_mbit: float
    measured_mbit: float | None  # None: not all packets came

    @property
    def error(self) -> float | None:
        """As a share of what was asked."""
        return self.measured_mbit and abs(self.measured_mbit / self.asked_mbit - 1)


def check_rates(lab: Lab) -> list[Rate]:
    """Of all pairs of sites with a limit low enough to be checked, one after the other."""
    network = lab.current_network()
    rates = []
    for from_site in network.site_names:
        for to_site in network.site_names:
            sender, receiver = network.hosts_of(from_site)[0], network.hosts_of(to_site)[-1]
            asked = network.most_mbit(sender, receiver) if sender != receiver else 0
            if 0 < asked <= _MOST_CHECKED_MBIT:
                trains = [_train(lab, sender, receiver) for _ in range(_TRAINS)]
                measured = None if None in trains else statistics.median(trains)
                rates.append(Rate(from_site, to_site, asked, measured))
    return rates


def _train(lab: Lab, sender: int, receiver: int) -> float | None:
    hosts = lab.network.hosts
    taking = _started(lab, hosts[receiver], [*_PROBE, "take-train"])
    lab.exec(hosts[sender], [*_PROBE, "send-train", lab.hosts[receiver].address]).wait()
    return _answer_of(taking)


def check_round_trips(lab: Lab) -> list[RoundTrip]:
    """Every site measures at the same time, so this takes as long as the slowest."""
    asked = lab.current_network()
    sites = asked.site_names
    asking = [asked.hosts_of(site)[0] for site in sites]
    answering = [asked.hosts_of(site)[-1] for site in sites]
    responders = [_started(lab, asked.hosts[host], [*_PROBE, "answer"]) for host in answering]
    try:
        addresses = [lab.hosts[host].address for host in answering]
        clients = [lab.exec(asked.hosts[host], [*_PROBE, "measure", str(_REPETITIONS), *addresses],
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


def median_rate_error(rates: list[Rate]) -> float:
    """0 where no rate is limited."""
    errors = [rate.error for rate in rates]
    if None in errors:
        raise Failure("not every train of packets came through, so there is no median error")
    return statistics.median(errors) if errors else 0.0


def _started(lab: Lab, host: str, argv: list[str]) -> subprocess.Popen:
    probe = lab.exec(host, argv, stdout=subprocess.PIPE, text=True)
    if probe.stdout.readline().strip() != "ready":
        raise Failure(f"the probe on {host} did not start")
    return probe


def _answer_of(client: subprocess.Popen) -> Any:
    output, _ = client.communicate()
    if client.returncode != 0:
        raise Failure(f"a probe ended with exit code {client.returncode}")
    return json.loads(output)
