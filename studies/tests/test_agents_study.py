"""What the study of standing agents makes of their counters, and shows; the agents are made up."""

import pytest

from made_up import NoLab, circumstances, mpi_named, report
from mutirao.base.progress import Steps
from mutirao.measure import measure
from mutirao.run.launch import CompletedRun
from mutirao_studies.paper_000 import agents
from shown import shown

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


JOB = {"reason": "network known to the hosts' agents", "native_reason": "", "twin_ms": 3711.25,
       "waited_ms": 1204.5, "introduced_ms": 0.0, "first_ruled_call": 0, "first_ruled_ms": 2.25}


def made_up_result():
    cost = dict.fromkeys(agents.COSTS, 1.0)
    unruled = {**JOB, "first_ruled_call": None, "first_ruled_ms": None}
    return {**circumstances("agents", "openmpi-5"), "mpi_title": "Open MPI 5", "window_s": 60.0, "cold_start_s": 4.4,
            "hosts": [cost, cost, {**cost, "processor_percent": 9.0}], "jobs": [JOB, unruled, JOB]}


def test_what_is_shown():
    lines, page = shown(agents.document(made_up_result()), "4.4 s", "3711.25", in_page=[
        "processor, % of a core: the median of the hosts; at most 0.5 wanted"])
    processor = next(line for line in lines if line.startswith("processor"))
    assert processor.split()[-3:] == ["1.00", "9.00", "0.5"]
    rows = {line[:27].rstrip(): line[27:].split() for line in lines}
    assert rows["making the communicator"] == ["3711.25"] * 3
    assert ["1204.50"] * 3 in [line.split()[-3:] for line in lines]
    assert ["1", "none", "1"] in [line.split()[-3:] for line in lines]
    assert 'class="tile bad"><b>1.00' in page


def test_a_job_waits(monkeypatch):
    asked = {}

    def fake_launch(_mpi, _argv, _ranks, *, settings, **_options):
        asked.update(settings=settings)
        return CompletedRun(0, [], "", 1.0, [], report(24))

    monkeypatch.setattr(measure, "launch", fake_launch)
    job = agents._job(mpi_named("openmpi-5"), NoLab(), Steps(1))
    assert asked == {"settings": {"start": "wait", "profile": "off"}}
    assert (job["waited_ms"], job["first_ruled_ms"]) == (4705.75, 411.5)
