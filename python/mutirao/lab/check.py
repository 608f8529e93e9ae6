"""Does the lab's network keep what was asked of it? Round trips of all pairs of sites, and the
rates of trains of packets where those are limited."""

import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from mutirao.base.errors import Failure
from mutirao.lab.lab import Lab

_PROBE = [sys.executable, str(Path(__file__).with_name("probe.py"))]
# Faster ones are not told from each other by a busy machine's time stamps.
_MOST_CHECKED_MBIT = 200.0
_TRAINS, _REPETITIONS = 3, 5


def check_rates(lab: Lab) -> list[dict]:
    """Of all pairs of sites with a limit low enough to be checked, one after the other: from the first host of one to
    the last of the other, while nothing else is sent."""
    network = lab.current_network()
    rates = []
    for from_site in network.site_names:
        for to_site in network.site_names:
            sender, receiver = network.hosts_of(from_site)[0], network.hosts_of(to_site)[-1]
            asked = network.most_mbit(sender, receiver) if sender != receiver else 0
            if 0 < asked <= _MOST_CHECKED_MBIT:
                measured = statistics.median(_train(lab, sender, receiver) for _ in range(_TRAINS))
                rates.append({"from_site": from_site, "to_site": to_site, "asked_mbit": asked,
                              "measured_mbit": measured, "error": abs(measured / asked - 1)})
    return rates


def _train(lab: Lab, sender: int, receiver: int) -> float:
    hosts = lab.network.hosts
    taking = lab.exec(hosts[receiver], [*_PROBE, "take-train"], stdout=subprocess.PIPE, text=True)
    if taking.stdout.readline().strip() != "ready":
        raise Failure(f"the probe on {hosts[receiver]} did not start")
    lab.exec(hosts[sender], [*_PROBE, "send-train", lab.hosts[receiver].address]).wait()
    mbit = _answer_of(taking)
    if mbit is None:
        raise Failure(f"not all packets of a train came from {hosts[sender]} to {hosts[receiver]}")
    return mbit


def check_round_trips(lab: Lab) -> list[dict]:
    """Every site measures at the same time, so this takes as long as the slowest."""
    asked = lab.current_network()
    sites = asked.site_names
    asking = [asked.hosts_of(site)[0] for site in sites]
    answering = [asked.hosts_of(site)[-1] for site in sites]
    addresses = [lab.hosts[host].address for host in answering]
    clients = [lab.exec(asked.hosts[host], [*_PROBE, "measure", str(_REPETITIONS), *addresses],
                        stdout=subprocess.PIPE, text=True) for host in asking]
    found = []
    for from_site, first, client in zip(sites, asking, clients, strict=True):
        for to_site, last, measured_us in zip(sites, answering, _answer_of(client), strict=True):
            if measured_us is None:
                raise Failure(f"nothing came back to {from_site} from {to_site}")
            asked_us = asked.round_trip_us(first, last)
            if first != last:  # of a site with itself: between its first host and its last
                found.append({"from_site": from_site, "to_site": to_site, "asked_us": asked_us,
                              "measured_us": measured_us, "error_us": abs(measured_us - asked_us)})
    return found


def _answer_of(client: subprocess.Popen) -> Any:
    output, _ = client.communicate()
    if client.returncode != 0:
        raise Failure(f"a probe ended with exit code {client.returncode}")
    return json.loads(output)
