"""What the study of standing agents makes of their counters, and shows; the agents are made up."""

import pytest

from mutirao.studies import agents

COUNTERS = ("udp_bytes_sent", "udp_bytes_received", "tcp_bytes_sent", "tcp_bytes_received")


def status(time_s, processor_s, counts):
    return {"time_s": time_s, "processor_s": processor_s, "resident_bytes": 5 * 2**20,
            "counters": dict(zip(COUNTERS, counts, strict=True))}


def test_costs_are_rates_between_two_looks():
    """Catches rates since the agent's start, and bytes taken for bits."""
    cost = agents.cost_between(status(100, 7.0, (10_000, 20_000, 3_000, 4_000)),
                               status(110, 7.5, (11_000, 22_000, 3_250, 4_500)))
    assert cost == pytest.approx({"processor_percent": 5.0, "resident_mib": 5.0, "udp_kbit_s": 2.4,
                                  "tcp_kbit_s": 0.6, "kbit_s": 3.0, "sent_kbit_s": 1.0})


def test_what_is_shown(capsys):
    cost = dict.fromkeys(agents.COSTS, 1.0)
    setup = {"attach": 0.15, "hosts": 4400.0, "probe": 0.0, "ghs": 0.0}
    agents.print_tables({
        "mpi_title": "Open MPI 5", "window_s": 60.0, "cold_start_s": 4.4,
        "machine": {"processors": 2, "load_before": 0.1},
        "hosts": [cost, cost, {**cost, "processor_percent": 9.0}],
        "jobs": [{"reason": "network known to the hosts' agents", "setup_ms": setup}] * 3})
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    processor = next(line for line in lines if line.startswith("processor"))
    assert processor.split()[-3:] == ["1.00", "9.00", "0.5"]
    assert any("4.4 s" in line for line in lines)
