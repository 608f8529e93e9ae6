"""Matrices of hosts: what is read from files, and the physical bound against brute force."""

import itertools
import random
import re

import pytest

from mutirao.base.errors import UsageError
from mutirao.lab.named_networks import load_network, load_preset, presets
from mutirao.lab.network import HostNetwork, read_csv

GOOD = [
    pytest.param("0,10\n20,0\n", ["S0", "S1"], id="numbers only"),
    pytest.param("# a comment\n\n0, 10 # and another\n20, 0\n", ["S0", "S1"], id="comments"),
    pytest.param("x,y\n0,10\n20,0\n", ["x", "y"], id="header"),
    pytest.param("site,x,y\nx,0,10\ny,20,0\n", ["x", "y"], id="header and names"),
    pytest.param(",x,y\nx,0,10\ny,20,0\n", ["x", "y"], id="empty corner"),
    pytest.param("x,0,10\ny,20,0\n", ["x", "y"], id="names of rows"),
]

# The place must be exact: text, what follows the file's name, words of the message.
BAD = [
    pytest.param("0,1\n1\n", ", line 2, column 2", "square", id="short row"),
    pytest.param("0,1,2\n1,0\n", ", line 1, column 3", "square", id="long row"),
    pytest.param("0,1,2\n1,0,3\n", ", line 1, column 3", "square", id="more columns than rows"),
    pytest.param("0,1\n1,0\n2,2\n", ", line 1, column 3", "square", id="more rows than columns"),
    pytest.param("0,-1\n1,0\n", ", line 1, column 2", "-1.*from 0", id="negative"),
    pytest.param("0,1\n,0\n", ", line 2, column 1", "''", id="empty first"),
    pytest.param("# c\n0,\n1,0\n", ", line 2, column 2", "''", id="empty last"),
    pytest.param("0,1\n1ms,0\n", ", line 2, column 1", "no round trip", id="unit in first"),
    pytest.param("0,fast\n1,0\n", ", line 1, column 2", "no round trip", id="word"),
    pytest.param("0,nan\n1,0\n", ", line 1, column 2", "no round trip", id="nan"),
    pytest.param("0,inf\n1,0\n", ", line 1, column 2", "no round trip", id="infinite"),
    pytest.param("s,x,y\nx,0,1\ny,-2,0\n", ", line 3, column 2", "-2", id="with names"),
    pytest.param("s,x,y\ny,0,1\nx,2,0\n", "", "y, x.*x, y", id="names in another order"),
    pytest.param("s,x,y,z\nx,0,1,2\n,1,0,2\nz,2,2,0\n", "", "x, , z", id="a name missing"),
    pytest.param("", "", "no matrix", id="nothing"), pytest.param("# nothing\n", "", "no matrix", id="a comment alone"),
    pytest.param("s,x,y,z\n0,1\n1,0\n", "", "square", id="more names than rows"),
    pytest.param("x,x\n0,1\n1,0\n", "", "named 'x'", id="a name twice"),
    pytest.param("\xff\xfe\x00\x01", "", "text", id="no text"), pytest.param(None, "", "No such file", id="no file"),
]


@pytest.mark.parametrize("text, names", GOOD)
def test_csv(tmp_path, text, names):
    file = tmp_path / "matrix.csv"
    file.write_text(text)
    network = read_csv(file)
    assert network.site_names == names
    assert network.latency_us == [[0, 5000], [10000, 0]]


@pytest.mark.parametrize("text, place, words", BAD)
def test_csv_error_names_the_place(tmp_path, text, place, words):
    file = tmp_path / "matrix.csv"
    if text is not None:
        file.write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError, match=f"{re.escape(f'{file}{place}')}.*{words}"):
        read_csv(file)


def test_sites_expand_to_hosts():
    network = HostNetwork.from_sites(["A", "B"], [[2, 30], [40, 0]], 2)
    assert network.hosts == ["h00", "h01", "h02", "h03"]
    assert network.sites == ["A", "A", "B", "B"]
    assert network.latency_us[0] == [0, 1000, 15000, 15000]  # the diagonal: inside the site
    assert network.latency_us[2] == [20000, 20000, 0, 0]
    assert network.round_trip_us(0, 3) == 35000
    for count, said in ((0, "at least 1"), (501, "1002 hosts")):
        with pytest.raises(UsageError, match=said):
            HostNetwork.from_sites(["A", "B"], [[0, 0], [0, 0]], count)


def fastest_by_brute_force(latency_us, a, b):
    """Over every simple path."""
    others = [host for host in range(len(latency_us)) if host not in (a, b)]
    paths = ([a, *middle, b] for length in range(len(others) + 1)
             for middle in itertools.permutations(others, length))
    return min(sum(latency_us[x][y] for x, y in itertools.pairwise(path)) for path in paths)


@pytest.mark.parametrize("seed", range(20))
def test_bound_is_the_shortest_path_to_the_farthest_host(seed):
    """Caught: relaxing over columns before `via` is fixed; taking the row for the column."""
    draw = random.Random(seed)
    size = draw.randint(2, 5)
    latency_us = [[0 if a == b else draw.randint(1, 100) for b in range(size)]
                  for a in range(size)]
    network = HostNetwork([f"h{a}" for a in range(size)], ["S"] * size, latency_us)
    exact = [[0 if a == b else fastest_by_brute_force(latency_us, a, b) for b in range(size)]
             for a in range(size)]
    for root in range(size):
        assert network.bound_from(root) == max(exact[root])
    assert network.diameter == max(map(max, exact))


def test_presets():
    assert sorted(presets()) == ["four-sites", "nine-hosts", "six-sites", "slow-uplinks", "ten-regions", "thin-pipe",
                                 "two-clusters", "two-hosts", "two-hosts-100mbit", "two-hosts-1gbit", "two-sites"]
    for name in presets():
        network = load_preset(name)
        assert network.source
        assert len(network.latency_us) == network.host_count == len(set(network.hosts))
    # The bounds that were found by hand for the paper's Table 1.
    six = load_preset("six-sites")
    assert [six.bound_from(root) for root in (12, 0, 8)] == [350600, 349450, 361450]
    assert load_preset("slow-uplinks").uplinks == {"A": 10, "B": 20, "C": 50, "D": 100}
    ten = load_preset("ten-regions", 1)
    dallas, brazil = ten.sites.index("Dallas"), ten.sites.index("SaoPaulo")
    assert ten.latency_us[dallas][brazil] == 72000  # each direction keeps its own measurement
    assert ten.latency_us[brazil][dallas] == 72500


def test_a_network_of_ones_own(tmp_path):
    file = tmp_path / "own.toml"
    file.write_text('sites = ["A", "B"]\nround_trip_ms = [[0.2, 30], [30, 0.2]]\nhosts_per_site = 2\n')
    network = load_network(str(file))
    assert (network.name, network.sites, network.bound_from(0)) == ("own", ["A", "A", "B", "B"], 15000)
    assert load_network(str(file), 1).host_count == 2


@pytest.mark.parametrize("text, named", [
    ("sites = ", "own.toml"), ('sites = "A"', "sites must be a list"), ('sits = ["A"]', "did you mean sites"),
    ('sites = ["A", "B"]\nround_trip_ms = [[0, 1]]', "each of the 2 sites"),
    ('sites = ["A"]\nround_trip_ms = [[-1]]', "from 0 to 120000"),
    ('sites = ["A"]\nround_trip_ms = [[1]]\nhosts_per_site = "x"', "whole number"),
    ('sites = ["A"]\nround_trip_ms = [[1]]\nuplink_mbit = [1, 2]', "uplink_mbit"),
])
def test_what_is_wrong_with_one_is_said(tmp_path, text, named):
    file = tmp_path / "own.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match=named):
        load_network(str(file))


def test_the_narrowest_place_between_two_hosts():
    network = HostNetwork.from_sites(["A", "B", "C"], [[0] * 3] * 3, 2,
                                     [[40, 15, 0], [15, 0, 0], [0, 0, 0]],
                                     uplink_mbit=[10, 20, 0])
    found = {(a, b): network.most_mbit(a, b) for a in range(6) for b in range(6) if a != b}
    assert found[0, 1] == 40  # inside a site its uplink does not count
    assert found[0, 2] == found[2, 0] == 10
    assert found[2, 4] == found[5, 3] == 20
    assert found[2, 3] == found[4, 5] == 0
    network.uplink_mbit = [0, 0, 0]
    assert network.most_mbit(0, 2) == 15
