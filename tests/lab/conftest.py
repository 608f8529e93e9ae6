"""Labs for the tests."""

import pytest

from mutirao.errors import Failure
from mutirao.lab import Lab
from mutirao.network import HostNetwork

NOT_HERE = "cannot make network namespaces"


@pytest.fixture(scope="session")
def lab_possible(own_runtime_folder):
    """Skips where the kernel forbids namespaces; any other trouble is a failure."""
    try:
        Lab.up(HostNetwork.from_sites(["A", "B"], [[0, 0], [0, 0]])).down()
    except Failure as failure:
        if NOT_HERE in str(failure):
            pytest.skip(str(failure))
        raise


@pytest.fixture
def three_sites():
    """Two hosts each: h00, h01 in A, h02, h03 in B, h04, h05 in C."""
    return HostNetwork.from_sites(["A", "B", "C"], [[0, 30, 80], [30, 0, 200], [80, 200, 0]], 2)


@pytest.fixture
def lab(lab_possible, three_sites):
    with Lab.up(three_sites) as running:
        yield running
