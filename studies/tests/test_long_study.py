"""`study long` with jobs that are made up: natively three times the bound, with mutirao one and a half times."""

import pytest

from made_up import mpi_named, report
from mutirao.base.errors import UsageError
from mutirao.catalogue.collectives import COLLECTIVES
from mutirao.lab.network import HostNetwork
from mutirao.measure.measure import Measurement, Point, bound_us
from mutirao_studies import long_messages
from mutirao_studies.document import page_of
from mutirao_studies.windows import windows_bound_us
from pages import assert_stands_alone

_OWN_MS = 40.0


@pytest.fixture
def asked(monkeypatch, labs):
    jobs = []

    def measured(contender, workloads, ranks, lab=None, timeout_s=None):
        jobs.append((contender, workloads))
        points = []
        for work in workloads:
            [length], [root] = work.lengths_bytes, work.roots
            bound_ms = bound_us(lab.network, ranks, root, contender.collective, length) / 1000 or _OWN_MS
            took_ms = bound_ms * (3 if contender.native else 1.5) + work.pause_ms / 1000
            points.append(Point(length, root, 1, 9 * took_ms, (took_ms,) * work.repeat, bound_ms))
        return Measurement(contender, tuple(points), None if contender.native else report(ranks), 1.0, 1)

    monkeypatch.setattr(long_messages, "measure", measured)
    monkeypatch.setattr(long_messages, "find_mpi", mpi_named)
    return jobs


def test_times_are_told_as_multiples_of_the_bound(asked):
    result = long_messages.run_study(["openmpi-5"], only=["allreduce", "gather"])
    assert {row["collective"] for row in result["rows"]} == {"allreduce", "gather"}
    for row in result["rows"]:
        # 16 MiB take the lab itself a time, without delays.
        assert row["own_ms"] == pytest.approx(1.5 * _OWN_MS if row["length_bytes"] > 1 << 20 else 0)
        share = row["bound_ms"] / (row["bound_ms"] + row["own_ms"])
        assert long_messages.times_bound(row, "in a row", "native") == pytest.approx(3 * share)
        assert long_messages.times_bound(row, "in a row", "mutirao") == pytest.approx(1.5 * share)
        after = long_messages.times_bound(row, "after 10 s", "mutirao")
        assert after == pytest.approx((1.5 + 10 / row["bound_ms"]) * share)
    table = str(long_messages.tables(result)[0])
    assert "3.00" in table and "1.50" in table
    # Rooted collectives from the paper's root; a gather is asked with a rank's block.
    roots = {contender.collective: work.roots[0] for contender, workloads in asked for work in workloads}
    assert roots == {"allreduce": 0, "gather": 12}
    gathered = {work.lengths_bytes[0] for contender, workloads in asked for work in workloads
                if contender.collective == "gather"}
    assert max(gathered) == (16 << 20) // 24 // 8 * 8


def test_the_page_stands_alone_and_has_every_collective(asked):
    result = long_messages.run_study(["openmpi-5", "mpich-5"], quick=True)
    page = str(page_of(long_messages.document(result)))
    assert_stands_alone(page)
    for name in long_messages.NAMES:
        assert name in COLLECTIVES
        assert f"<td>{name}</td>" in page


def test_what_is_asked_for_is_measured_and_said_again(asked):
    plan = long_messages.Plan([4096], ["tuned"], 48, settled=True, native=False)
    result = long_messages.run_study(["openmpi-5"], only=["allgather", "broadcast"], plan=plan)
    assert [contender.all_settings["start"] for contender, _ in asked] == ["wait", "wait"]
    assert {tuple(work.lengths_bytes) for _, works in asked for work in works} == {(4096 // 48 // 8 * 8,), (4096,)}
    assert [row["tcp"] for row in result["rows"]] == ["cubic, tuned"] * 2
    assert result["ranks"] == 48
    said = long_messages.document(result).commands
    assert said.endswith("--lab six-sites --bytes 4KiB --tcp tuned --ranks 48 --settled --no-native")


def test_an_unknown_tcp_is_refused():
    with pytest.raises(UsageError, match="plain"):
        long_messages.Plan(tcp=["reno"])


def test_no_call_after_a_pause_is_faster_than_its_windows():
    # A host at 50 ms and one at 20 ms from the root, 80 ms from each other: ten packets, twenty 40 ms later.
    near = HostNetwork.from_sites(["root", "far", "near"], [[0, 100, 40], [100, 0, 160], [40, 160, 0]])
    packets = 1448
    for name, count, ends_ms in [("broadcast", 10, 50), ("broadcast", 11, 100), ("broadcast", 21, 150), ("reduce", 21, 150),
                                 ("allreduce", 10, 50), ("allreduce", 21, 150), ("gather", 29, 50), ("scatter", 46, 80),
                                 ("scan", 99, 0)]:
        assert windows_bound_us(near, 3, name, count * packets, 0) == pytest.approx(ends_ms * 1000), (name, count)
    # Four pairs of ranks instead of one.
    assert windows_bound_us(near, 6, "broadcast", 40 * packets, 0) == pytest.approx(50_000)
