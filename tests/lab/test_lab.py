"""The network of a running lab: what was asked is what packets meet."""

import json
import socket
from contextlib import closing

import pytest

from mutirao.base.errors import Failure, UsageError
from mutirao.lab.control import Connection
from mutirao.lab.lab import Lab, verify_run
from mutirao.lab.network import HostNetwork
from mutirao_studies.long_messages import kernel_has
from probes import HARDLY_LATE_MS, least_round_trip_ms, output_of, round_trip_ms, running

# Never early is exact; how late depends on the machine.
EARLY_MS = 0.2


def assert_round_trip(lab, a, b, asked_ms):
    measured_ms = least_round_trip_ms(lab, a, b, asked_ms)
    assert asked_ms - EARLY_MS <= measured_ms <= asked_ms + HARDLY_LATE_MS


@pytest.mark.parametrize("a, b, asked_ms", [
    ("h00", "h03", 30), ("h05", "h02", 200), ("h00", "h01", 0),
    ("control", "h00", 0), ("control", "h05", 80)])  # the control host is beside the first
def test_round_trips_are_as_asked(lab, a, b, asked_ms):
    assert_round_trip(lab, a, b, asked_ms)


def test_directions_are_separate(lab):
    lab.set_pair("h00", "h02", latency_ms=100, one_way_only=True)
    assert_round_trip(lab, "h00", "h02", 115)
    assert lab.current_network().latency_us[2][0] == 15000


def test_change_is_seen(lab):
    assert lab.set_pair("A", "B", latency_ms=60) == 8
    assert_round_trip(lab, "h01", "h02", 120)
    lab.set_latencies([[0.0] * 6] * 6)
    assert_round_trip(lab, "h05", "h02", 0)


def test_total_loss_cuts(lab):
    lab.set_pair("h00", "h02", loss=1)
    assert round_trip_ms(lab, "h00", "h02", repetitions=1) is None
    lost = lab.counters().dropped
    assert lost[0][2] >= 1
    assert lost[0][3] == 0
    lab.set_pair("h00", "h02", loss=0)
    assert_round_trip(lab, "h00", "h02", 30)


def test_jitter_keeps_order(lab):
    lab.set_pair("h00", "h02", jitter_ms=20)
    receive = ("import socket; s = socket.socket(type=socket.SOCK_DGRAM); s.bind(('', 7078)); s.settimeout(5);"
               "print('ready', flush=True); print([int(s.recv(9)) for _ in range(100)], flush=True)")
    send = ("import socket; s = socket.socket(type=socket.SOCK_DGRAM)\n"
            "for number in range(100): s.sendto(b'%d' % number, ('h02', 7078))")
    with running(lab, "h02", ["python3", "-c", receive]) as receiver:
        output_of(lab, "h00", ["python3", "-c", send])
        assert json.loads(receiver.stdout.readline()) == list(range(100))


def test_counters(lab):
    before = lab.counters()
    round_trip_ms(lab, "h00", "h02", repetitions=5)
    after = lab.counters()
    assert after.packets[0][2] - before.packets[0][2] == 5
    assert after.packets[2][0] - before.packets[2][0] == 5
    assert after.total_packets - before.total_packets == 10
    assert after.bytes[0][2] - before.bytes[0][2] == 5 * (8 + 20 + 14)
    assert after.overruns == before.overruns


@pytest.mark.parametrize("tcp, window, control", [
    ("plain", "131072", "cubic"), ("tuned", "33554432", "cubic"), ("bbr", "131072", "bbr")])
def test_tcp_profiles(lab_possible, three_sites, tcp, window, control):
    if not kernel_has(control):
        pytest.skip(f"the kernel has no {control}")
    with Lab.up(three_sites, tcp=tcp) as lab:
        assert lab.tcp == tcp
        read = ["cat", "/proc/sys/net/ipv4/tcp_rmem"]
        assert output_of(lab, "h04", read).split()[1] == window
        routes = output_of(lab, "h04", ["ip", "route"])
        assert ("initcwnd" in routes) == (tcp == "tuned")
        connect = ("import socket; s = socket.create_connection(('h04', 7080));"
                   "print(s.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).strip(b'\\0').decode())")
        listen = ("import socket; s = socket.create_server(('0.0.0.0', 7080)); print('ready', flush=True); s.accept()")
        with running(lab, "h04", ["python3", "-c", listen]):
            assert output_of(lab, "h00", ["python3", "-c", connect]).strip() == control


def test_segmented_sends_arrive_whole(lab):
    """TCP with offload through the router: content and counted bytes."""
    size = 3_000_000
    receive = ("import hashlib, socket; s = socket.create_server(('0.0.0.0', 7079));"
               "print('ready', flush=True); c = s.accept()[0]; h = hashlib.sha256()\n"
               "while data := c.recv(1 << 20): h.update(data)\n"
               "print(h.hexdigest(), flush=True)")
    send = (f"import random, socket, hashlib; data = random.Random(1).randbytes({size});"
            "s = socket.create_connection(('h02', 7079)); s.sendall(data); s.close();"
            "print(hashlib.sha256(data).hexdigest())")
    before = lab.counters().bytes[0][2]
    with running(lab, "h02", ["python3", "-c", receive]) as receiver:
        sent = output_of(lab, "h00", ["python3", "-c", send])
        assert receiver.stdout.readline() == sent
    # 1460 to 1448 bytes a segment and at most 66 of headers, whatever went as one frame.
    assert size <= lab.counters().bytes[0][2] - before <= size * 1.06


def test_attach_finds_a_lasting_lab(lab_possible, three_sites):
    with Lab.up(three_sites, tcp="tuned", name="lasting") as first:
        first.set_pair("A", "C", latency_ms=1)
        again = Lab.attach("lasting")
        assert again.network == first.network
        assert again.tcp == "tuned"
        assert again.current_network().latency_us[0][4] == 1000
        with pytest.raises(UsageError, match="already up"):
            Lab.up(three_sites, name="lasting")
        with pytest.raises(UsageError, match="did you mean lasting"):
            Lab.attach("lastin")
    with pytest.raises(UsageError, match="no lab"):
        Lab.attach("lasting")


@pytest.mark.parametrize("request_line, reason", [
    ("matrix latency_us 1 2", "2 values for 36 links"),
    ("matrix latency_us " + "x " * 36, "out of range"),
    ("matrix colour 1", "unknown field"),
    ("pairs latency_us=-1 0:1", "out of range"),
    ("pairs latency_us=1 0:6", "no pair"),
    ("pairs latency_us=1 0:one", "no pair"),
    ("sites 0 0 1 1 2", "5 sites for 6 hosts"),
    ("sites 0 0 1 1 2 -1", "no number of a site"),
    ("sites 0 0 1 1 2 6", "no number of a site"),
    ("uplink 3 10", "no such site"),
    ("uplink A 10", "no such site"),
    ("uplink 0 fast", "out of range"),
    ("uplink 0", "out of range"),
    ("enter h99", "no host"),
    ("enter", "no host"),
    ("fly", "unknown command"),
    ("", "unknown command"),
])
def test_router_refuses_nonsense_and_lives(lab, request_line, reason):
    with closing(Connection(lab.control_path)) as connection:
        with pytest.raises(Failure, match=reason):
            connection.ask(request_line)
        assert connection.ask("ready") == ""


def test_half_a_line_and_silence_hold_up_nobody(lab):
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(lab.control_path))
        client.sendall(b"matrix latency_us 1 2 3")
        assert_round_trip(lab, "h00", "h03", 30)


def test_larger_lab_comes_up(lab_possible):
    network = HostNetwork.from_sites(["A", "B"], [[0, 10], [10, 0]], 60)
    with Lab.up(network) as lab:
        assert_round_trip(lab, "h000", "h119", 10)


def test_a_run_that_went_round_the_lab_is_refused():
    """Within the tolerance of the bound is possible; less is not, nor is a run without a packet."""
    verify_run(bound_us=350_600, measured_us=350_600, packets_before=10, packets_after=11)
    verify_run(bound_us=350_600, measured_us=349_000, packets_before=0, packets_after=500)
    with pytest.raises(Failure, match="bound"):
        verify_run(bound_us=350_600, measured_us=348_800, packets_before=0, packets_after=500)
    with pytest.raises(Failure, match="no packet"):
        verify_run(bound_us=350_600, measured_us=400_000, packets_before=500, packets_after=500)
