"""Labs for the tests: one for a whole module, which each test finds as it came up."""

from itertools import combinations_with_replacement

import pytest

from mutirao.lab.lab import Lab
from mutirao.lab.network import HostNetwork


@pytest.fixture(scope="session")
def three_sites():
    """Two hosts each: h00, h01 in A, h02, h03 in B, h04, h05 in C."""
    return HostNetwork.from_sites(["A", "B", "C"], [[0, 30, 80], [30, 0, 200], [80, 200, 0]], 2)


@pytest.fixture(scope="module")
def lab_of_module(lab_possible, three_sites):
    with Lab.up(three_sites) as running:
        yield running


@pytest.fixture
def lab(lab_of_module):
    yield lab_of_module
    for sites in combinations_with_replacement("ABC", 2):
        lab_of_module.set_pair(*sites, bandwidth_mbit=0, loss=0, jitter_ms=0)
    lab_of_module.set_latencies(lab_of_module.network.latency_us)
