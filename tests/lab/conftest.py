"""Labs for the tests."""

import pytest

from mutirao.lab.lab import Lab
from mutirao.lab.network import HostNetwork


@pytest.fixture
def three_sites():
    """Two hosts each: h00, h01 in A, h02, h03 in B, h04, h05 in C."""
    return HostNetwork.from_sites(["A", "B", "C"], [[0, 30, 80], [30, 0, 200], [80, 200, 0]], 2)


@pytest.fixture
def lab(lab_possible, three_sites):
    with Lab.up(three_sites) as running:
        yield running
