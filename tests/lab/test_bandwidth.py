"""Limited bandwidth, by plain TCP streams: their rate is that of the narrowest place on their way."""

import subprocess
import sys

import pytest

from mutirao.base.errors import UsageError
from mutirao.cli.commands.lab import changes
from mutirao.lab.network import HostNetwork
from shared import in_time, lab_of
from probes import address_of, least_round_trip_ms

WIRE_BYTES_OF_PAYLOAD = (1448 + 66) / 1448
WARM_UP_S, MEASURED_S = 0.6, 1.2

# Counts what comes in after the stream has found its rate.
_RECEIVER = """
import socket, sys, time
listening = socket.create_server(("0.0.0.0", 7079))
print("ready", flush=True)
stream = listening.accept()[0]
begin = time.monotonic() + float(sys.argv[1])
end = begin + float(sys.argv[2])
counted, last = 0, begin
while (now := time.monotonic()) < end:
    size = len(stream.recv(1 << 16))
    if now >= begin:
        counted += size
        last = time.monotonic()
print(counted * 8e-6 / (last - begin), flush=True)
"""

_SENDER = """
import socket, sys
try:
    stream = socket.create_connection((sys.argv[1], 7079))
    while True:
        stream.sendall(bytes(1 << 16))
except (BrokenPipeError, ConnectionResetError):
    pass
"""


def stream_mbit(lab, *pairs):
    """What streams between these pairs of hosts take of the wire, all at the same time."""
    receivers = []
    for _, to in pairs:
        receivers.append(lab.exec(to, [sys.executable, "-c", _RECEIVER, str(WARM_UP_S),
                                       str(MEASURED_S)], stdout=subprocess.PIPE, text=True))
        assert receivers[-1].stdout.readline() == "ready\n"
    senders = [lab.exec(a, [sys.executable, "-c", _SENDER, address_of(lab, b)]) for a, b in pairs]
    rates = [float(receiver.communicate(timeout=60)[0]) * WIRE_BYTES_OF_PAYLOAD
             for receiver in receivers]
    for sender in senders:
        sender.wait(60)
    return rates


def assert_rate(lab, asked_mbit, *pairs):
    """Within 10% in one trial of a few: a busy machine may keep a stream from its rate."""
    def off():
        total = sum(stream_mbit(lab, *pairs))
        return None if abs(total / asked_mbit - 1) <= 0.1 else total

    in_time(off)


# Two hosts a site: h00, h01 behind 10 Mbit/s, h02, h03 behind 30, h04, h05 without a limit.
uneven = lab_of(HostNetwork.from_sites(["A", "B", "C"], [[0, 8, 12], [8, 0, 10], [12, 10, 0]], 2,
                                       uplink_mbit=[10, 30, 0]))


def test_a_stream_gets_the_rate_of_its_link(lab):
    lab.set_pair("h00", "h02", bandwidth_mbit=8)
    assert_rate(lab, 8, ("h00", "h02"))


@pytest.mark.parametrize("asked_mbit, pairs", [
    (30, [("h02", "h04")]), (10, [("h02", "h00")]),  # that of the narrower uplink
    # The hosts of a site share its uplink: what leaves, and what enters; each direction has its own.
    (10, [("h00", "h02"), ("h01", "h04")]), (30, [("h04", "h02"), ("h05", "h03")]),
    (20, [("h00", "h04"), ("h05", "h01")])])
def test_streams_get_the_rate_of_uplinks(uneven, asked_mbit, pairs):
    assert_rate(uneven, asked_mbit, *pairs)


def test_inside_a_site_there_is_no_uplink(uneven):
    in_time(lambda: None if stream_mbit(uneven, ("h00", "h01"))[0] > 60 else "no faster")


def test_an_idle_uplink_delays_by_one_packet_at_most(uneven):
    """A probe of 43 bytes takes 0.03 ms at 10 Mbit/s."""
    for a, b, asked_ms in (("h00", "h02", 8), ("h03", "h01", 8), ("h04", "h01", 12)):
        measured_ms = least_round_trip_ms(uneven, a, b, asked_ms)
        assert asked_ms - 0.2 <= measured_ms
        in_time(lambda: (found := least_round_trip_ms(uneven, a, b, asked_ms)) > asked_ms + 1
                and found)


def test_an_uplink_changes_while_programs_run(uneven):
    assert uneven.current_network().uplinks == {"A": 10, "B": 30}
    uneven.set_uplink("B", 5)
    assert_rate(uneven, 5, ("h02", "h05"))
    assert {"from": "B", "to": "others", "what": "uplink in Mbit/s", "before": 30, "now": 5,
            "links": 1} in changes(uneven)
    with pytest.raises(UsageError, match="unknown site 'h00'"):
        uneven.set_uplink("h00", 5)
    with pytest.raises(UsageError, match="from 0 to"):
        uneven.set_uplink("A", -5)
    uneven.set_uplink("B", 30)
