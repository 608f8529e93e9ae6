"""`mutirao top`: what a frame shows, that it fits every window, and how it behaves in a terminal."""

import fcntl
import json
import math
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import pytest

from mutirao.agent.seen import View
from mutirao.base.errors import Failure
from mutirao.base.paths import ROOT
from mutirao.cli.commands.top import change_of, frame, ranked, sparkline
from shared import json_of, refused, text_of

NEAR_US, FAR_US, WORSE_US = 500.0, 20_000.0, 180_000.0
STARTED_S = 1_700_000_000.0
TREE = [[0, 1], [0, 2], [0, 3], [3, 4]]


def agent_dump(**changed):
    """As mutirao-agent tells it: host 0 of six in two sites; host 5 cannot be reached, and link 1-3 has got worse."""
    def latency(a, b):
        if a == b:
            return 0.0
        if 5 in (a, b):
            return None
        if {a, b} == {1, 3}:
            return WORSE_US
        return NEAR_US + a + b if (a < 3) == (b < 3) else FAR_US + a + b

    latency_us = [[latency(a, b) for b in range(6)] for a in range(6)]
    links = [{"host": other, "channel_up": other != 5, "over_tcp": False,
              "announced_us": latency_us[0][other],
              "latency_us": None if other == 5 else {
                  "value": latency_us[0][other] * 1.02, "error": 31.5, "forecaster": "sliding_mean"},
              "bandwidth_bytes_per_us": None, "tcp_connect_us": None,
              "recent_us": [500.0 + 10 * i for i in range(8)] if other < 3 else []}
             for other in range(1, 6)]
    status = {"time_s": STARTED_S + 200.0, "started_s": STARTED_S, "processor_s": 0.5,
              "resident_bytes": 9 << 20, "series_stopped": "", "links": links,
              "events": [{"time_s": STARTED_S + 80.0, "text": "host 5 is out of reach"},
                         {"time_s": STARTED_S + 197.0, "text": "link 1-3: 20.0 ms, now 180 ms"}],
              "counters": {"probes_sent": 812, "probes_late": 3, "udp_bytes_sent": 200_000,
                           "udp_bytes_received": 180_000, "tcp_bytes_sent": 50_000,
                           "tcp_bytes_received": 45_000, "frames_accepted": 1204,
                           "rejected_forged": 2, "rejected_junk": 5}}
    network = {"version": 7, "version_hash": "00ff", "latency_us": latency_us,
               "last_known_us": latency_us, "tree": TREE}
    return {"name": "mutirao-0-daemon", "pid": 77, "alive": True, "self": 0, "host_count": 6,
            "job": "0", "changes": 9, "network": network,
            "status": {**status, **changed}}


def seen(dump, first=None, columns=110, rows=60):
    return "\n".join(text for text, _ in frame(dump, first, columns, rows))


def test_all_of_it_is_shown():
    text = seen(agent_dump())
    for part in ("mutirao-0-daemon", "host 0 of 6", "tree version 7", "9.0 MiB", "0.25% of a core",
                 "10.0 kbit/s sent, 9.0 received", "channels: 4 of 5 up", "1204 accepted, 7 rejected", "sliding_mean", "31.5 us", "measured by host 1",
                 "out of reach: 5", "link 1-3: 20.0 ms, now 180 ms", "2 min ago"):
        assert part in text


def test_hosts_by_their_names():
    names = ["alpha", "beta", "gamma", "delta", "epsilon", "a-host-with-a-long-name.of.a.site"]
    text = seen(agent_dump() | {"names": names})
    assert "beta-delta" in text and "host delta" in text and "host alpha of 6" in text
    assert "1-3 " in seen(agent_dump())  # where they are not known


def test_narrow_windows_keep_the_history():
    """Rather than the forecaster's name."""
    narrow, wide = (seen(agent_dump(), columns=columns) for columns in (70, 110))
    history = sparkline([500.0 + 10 * i for i in range(8)])
    assert history in narrow and history in wide
    assert "sliding_mean" in wide and "sliding_mean" not in narrow


@pytest.mark.parametrize("columns", [1, 20, 80, 119, 120, 200])
@pytest.mark.parametrize("rows", [1, 2, 5, 8, 13, 24, 50, 200])
def test_fits_every_window(columns, rows):
    lines = seen(agent_dump(), columns=columns, rows=rows).split("\n")
    assert max(map(len, lines)) <= columns
    assert len(lines) <= max(rows, 7)  # what says whose frame it is stays


def test_what_changed_comes_first_then_the_tree_then_the_longest():
    """Catches links of hosts out of reach, which would fill the list."""
    before, now = View(agent_dump()), agent_dump()
    now["network"]["latency_us"][2][4] = FAR_US * 3
    assert ranked(View(now), before) == [(2, 4), (0, 3), (3, 4), (0, 2), (0, 1), (1, 3), (1, 4), (2, 3), (0, 4), (1, 2)]
    assert [line.split()[0] for line in seen(now, before).splitlines() if "%" in line and "-" in line.split()[0]] == ["2-4"]


def test_changes_since_the_first_frame():
    first, now = View(agent_dump()), agent_dump()
    now["network"]["latency_us"][1][3] = 1.5 * WORSE_US
    now["network"]["latency_us"][0][1] = None
    assert [change_of(View(now), first, link) for link in ((1, 3), (0, 1), (0, 2))] == [pytest.approx(50), math.inf, 0]
    assert "+50%" in seen(now, first) and "changed" in seen(now, first)


def with_tree(tree, **changed):
    dump = agent_dump() | changed
    return {**dump, "network": {**dump["network"], "tree": tree}}


@pytest.mark.parametrize("dump, parts", [
    (with_tree([], alive=False), ["the agent has ended", "no tree yet", "none yet"]),
    (agent_dump(series_stopped="database is full"), ["database is full"]),
    (agent_dump() | {"status": None}, ["tree version 7"]),  # in its first second
    # In two parts, of which not only that of the lowest host is drawn.
    (with_tree([[3, 4], [0, 1], [1, 2]]), ["spanning tree", *(f"─ host {host}" for host in (1, 2, 4)), "\nhost 3"]),
    # What would move the cursor.
    (agent_dump(events=[{"time_s": STARTED_S, "text": "a\x1b[2Jb\nc"}]), ["a?[2Jb?c"])])
def test_what_is_unusual_is_shown(dump, parts):
    text = seen(dump)
    assert [part for part in parts if part not in text] == []


def test_sparklines():
    assert sparkline([1.0, 2.0, 3.0]) == "▁▅█"
    assert sparkline([100.0, 100.1, 100.0]) == "▁▁▁"  # noise
    assert sparkline([1.0, None, 5.0]) == "▁x█"
    assert sparkline([]) == "" and sparkline([0.0]) == "▁" and len(sparkline([1.0] * 99)) == 24


@pytest.mark.parametrize("wrong, said", [
    *((each, "not what an agent") for each in ({}, [], {"network": 1}, agent_dump() | {"status": {"links": []}})),
    (agent_dump() | {"network": None}, "ended while it wrote")])
def test_another_versions_dump(wrong, said):
    with pytest.raises(Failure, match=said):
        seen(wrong)


@pytest.fixture
def dump_file(tmp_path):
    path = tmp_path / "dump.json"
    path.write_text(json.dumps(agent_dump()))
    return path


def test_once(typed, dump_file):
    shown = text_of(typed("top", "--once", "--file", dump_file, COLUMNS="80", LINES="30"))
    assert "\x1b" not in shown and "q quit" not in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert json_of(typed("top", "--json", "--file", dump_file)) == agent_dump()


@pytest.mark.parametrize("words, said", [
    ([], "needs a terminal"), (["--once", "name"], "either an agent or --file"),
    (["--interval", "0"], "0.1 to 3600")])
def test_wrong_words(typed, dump_file, words, said):
    refused(typed("top", "--file", dump_file, *words), said)


class Window:
    """A terminal of 24 rows and 80 columns with `mutirao top` in it."""

    def __init__(self, words, environment):
        self.master, self.slave = pty.openpty()
        self.resize(24, 80)
        self.before = termios.tcgetattr(self.slave)
        self.process = subprocess.Popen([ROOT / "mutirao", "top", *map(str, words)],
                                        stdin=self.slave, stdout=self.slave, stderr=self.slave,
                                        env=environment)
        self.text = ""

    def resize(self, rows, columns):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def wait_for(self, pattern, seconds=30):
        """What was written since the last call, up to the pattern."""
        end = time.monotonic() + seconds
        while not (found := re.search(pattern, self.text)):
            assert time.monotonic() < end, f"no {pattern} in {self.text!r}"
            if select.select([self.master], [], [], 0.2)[0]:
                self.text += os.read(self.master, 65536).decode(errors="replace")
        self.text = self.text[found.end():]

    def type(self, key):
        os.write(self.master, key.encode())

    def end(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self.slave)


@pytest.fixture
def window(surroundings, dump_file):
    environment = {**surroundings, "TERM": "xterm"}
    for name in ("COLUMNS", "LINES", "NO_COLOR"):
        environment.pop(name, None)
    opened = Window(["--file", dump_file, "--interval", "30"], environment)
    yield opened
    opened.end()


def test_keys_and_sizes_in_a_terminal(window):
    """Another size is drawn long before the next frame is due. Catches sizes that are asked for once."""
    window.wait_for("q quit")
    window.type("\x1b[A")  # an arrow key is no command
    window.resize(40, 130)
    window.wait_for("recent +forecaster")
    window.type("q")
    window.wait_for(re.escape("\x1b[?1049l"))
    assert window.process.wait(20) == 0
    assert termios.tcgetattr(window.slave) == window.before


@pytest.mark.parametrize("signal_number, code", [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_a_signal_leaves_a_usable_terminal(window, signal_number, code):
    window.wait_for("q quit")
    window.process.send_signal(signal_number)
    window.wait_for(re.escape("\x1b[?1049l"))
    assert window.process.wait(20) == code
    assert termios.tcgetattr(window.slave) == window.before
