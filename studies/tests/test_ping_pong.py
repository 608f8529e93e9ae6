"""`mutirao study ping-pong`: what is read, what is made of it, what is skipped; then the programs."""

import os
import subprocess
from dataclasses import replace

import pytest

from made_up import circumstances
from mutirao.base.errors import Failure, UsageError
from mutirao.lab.lab import Lab
from mutirao.lab.named_networks import load_preset
from mutirao.run.launch import launch
from mutirao_studies.paper_003 import ping_pong, ping_pong_ways
from mutirao_studies.paper_003.ping_pong import SITUATIONS, plan_for
from mutirao_studies.paper_003.ping_pong_document import claim_lines, document, over, ratios_to_c
from mutirao_studies.paper_003.ping_pong_times import combined, ratio, ratios, read_times, times_of
from mutirao_studies.paper_003.ping_pong_ways import BY_KEY, WAYS, Change, Work
from shown import shown

SECONDS = 60


def test_the_first_round_trip_stands_apart_and_all_are_halved():
    lines = ["noise", "ping-pong 1 9000 4000 2000 6000", "ping-pong 8 1 2 3 4"]
    one, eight = read_times(lines, [1, 8], 4)
    assert one == {"length_bytes": 1, "count": 3, "first_us": 4.5, "median_us": 2.0, "low_us": 1.0, "high_us": 3.0}
    assert eight["length_bytes"] == 8 and eight["median_us"] == 0.0015


@pytest.mark.parametrize("lines, said", [
    ([], "0 of 3 round trips of 1 bytes"), (["ping-pong 1 5 6"], "2 of 3"),
    (["ping-pong 1 5 x 6"], "cannot read"), (["ping-pong"], "cannot read")])
def test_what_is_not_told_is_refused(lines, said):
    with pytest.raises(Failure, match=said):
        read_times(lines, [1], 3)


def row(length_bytes, us, by=1.0):
    return {"length_bytes": length_bytes, "count": 9, "first_us": 3 * us, "median_us": us, "low_us": us / by,
            "high_us": us * by}


def test_ratios_are_as_far_apart_as_the_intervals_allow():
    value = ratio(row(1, 6.0, 2), row(1, 3.0, 1.5))
    assert (value.value, value.low, value.high) == (2.0, pytest.approx(3 / 4.5), 6.0)


def test_each_round_has_a_ratio_of_its_own():
    """Catches a machine that was busy while one of the two ran: here in the second of three rounds both
    were ten times slower, and in the third one way only."""
    way = [[row(1, 6.0)], [row(1, 66.0)], [row(1, 60.0)]]
    base = [[row(1, 3.0)], [row(1, 30.0)], [row(1, 3.0)]]
    value = ratios(way, base)[1]
    assert (value.value, value.low, value.high) == (2.2, 2.0, 20.0)
    [together] = combined(way)
    assert [together[name] for name in ("median_us", "low_us", "high_us", "count")] == [60, 6, 66, 27]
    assert isinstance(together["length_bytes"], int)
    assert combined(way[:1]) == way[0] and ratios(way[:1], base[:1])[1].value == 2.0


def test_the_ways_take_turns(monkeypatch):
    """C first in each round; what fails once is left out, and not tried again."""
    tried = []

    def run(way, work, *_others, **_options):
        tried.append(way.key)
        if way.key == "direct-intel" and len(tried) > 4:
            raise Failure("it broke")
        return [times_of(length, [9000] * work.trips) for length in work.sizes_bytes]

    monkeypatch.setattr(ping_pong_ways.Way, "run", run)
    monkeypatch.setattr(ping_pong, "_QUICK_SITUATIONS", ("one-host",))
    monkeypatch.setattr(ping_pong, "CAUSES", ())
    result = ping_pong.run_study(["intel"], quick=True, trips=100)
    once = ["c-intel", "foreign-intel", "arrays-intel", "direct-intel"]
    assert tried == [*once, *once, *once[:3], *once[:3]]
    assert (result["rounds"], result["trips"]) == (4, 25)
    [situation] = result["situations"]
    assert [way["key"] for way in situation["ways"]] == once[:3]
    assert result["left_out"] == [{"title": "Java, Intel MPI, direct buffers", "reason": "it broke"}]


SIZES = (1, 1024, 1 << 20)


def made_up_way(key, factor):
    times = [row(length, factor * us, 1.1)
             for length, us in zip(SIZES, (10.0, 20.0, 900.0), strict=True)]
    return ping_pong._described(BY_KEY[key], [{"times": times, "overruns": 0}])


def made_up_result():
    ways = [made_up_way("c-mpich-5", 1), made_up_way("c-intel", 1), made_up_way("arrays-intel", 2),
            made_up_way("direct-intel", 0.5), made_up_way("arrays-express", 9),
            made_up_way("arrays-openmpi-4", 1)]
    causes = [{"question": cause.question, "base": cause.base, "changed": cause.changed,
               "situation": cause.situation, "way": cause.way, "trips": 9,
               "rows": [{"base": row(length, 30), "changed": row(length, 44000)}
                        for length in cause.sizes_bytes]} for cause in ping_pong.CAUSES]
    return {**circumstances("ping-pong"), "only": [],
            "versions": ["MPICH 5.9.9", "Java 25"], "trips": 10, "rounds": 1, "sizes_bytes": list(SIZES),
            "situations": [{"key": each.key, "title": each.title, "preset": each.preset,
                            "ways": ways} for each in SITUATIONS.values()],
            "causes": causes,
            "left_out": [{"title": "C, Open MPI 4", "reason": "it is <not> there"}]}


def test_each_way_is_set_beside_c_on_its_own_library():
    result = made_up_result()
    situation = result["situations"][0]
    by_key = {way["key"]: way for way in situation["ways"]}
    assert over(ratios_to_c(situation, by_key["direct-intel"]), 1, 8192).value == 0.5
    assert over(ratios_to_c(situation, by_key["arrays-express"]), 1, 8192).value == 9
    assert ratios_to_c(situation, by_key["arrays-openmpi-4"]) == {}  # its C did not run
    small, large = (line for line in claim_lines(result) if line.startswith("one host"))
    assert small == "one host: 0.50 to 9.00 in 3 ways of Java; within 25% of the paper's: 1"
    assert large.endswith("within 5% of the paper's: 0")


def test_what_is_shown():
    lines, _ = shown(document(made_up_result()), "C, Open MPI 4 left out: it is <not> there", "MPJ Express",
                     "Delayed acknowledgements", "44000")
    assert ["C,", "MPICH", "5", "10.0", "20.0", "900.0"] in map(str.split, lines)


def test_situations_asked_for_are_measured_alone_with_their_causes():
    plan = plan_for(False, None, None, ["100mbit"])
    assert [situation.key for situation in plan.situations] == ["100mbit"]
    assert {cause.question for cause in plan.causes} == {"Nagle's algorithm", "Delayed acknowledgements"}
    assert [each.key for each in plan_for(True, None, None, ["unlimited"]).situations] == ["unlimited"]
    commands = document({**made_up_result(), "only": ["1gbit", "unlimited"]}).commands
    assert "--only 1gbit,unlimited --trips" in commands


def c_way(mpi):
    return replace(BY_KEY["c-mpich-5"], mpi=mpi.name)


@pytest.mark.parametrize("key", [way.key for way in WAYS])
def test_each_way_on_this_host(mpi, key):
    """Every language checks messages itself."""
    way = BY_KEY[key]
    try:
        times = way.run(Work((1, 3, 65536), 4), None, Change(), SECONDS)
    except (Failure, UsageError) as reason:
        if any(word in str(reason) for word in ("not installed", "setup", "make build")):
            pytest.skip(str(reason).splitlines()[0])
        raise
    assert [each["length_bytes"] for each in times] == [1, 3, 65536]
    assert all(each["median_us"] > 0 for each in times)


@pytest.mark.parametrize("index", [0, 4095])
def test_a_wrong_byte_ends_the_c_program(mpi, tmp_path, index):
    """A library between program and MPI changes one byte of what arrives."""
    source, library = tmp_path / "wrong.c", tmp_path / "wrong.so"
    source.write_text(f"""#include <mpi.h>
int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status* status) {{
    const int code = PMPI_Recv(data, count, type, from, tag, comm, status);
    ((char*)data)[{index}] ^= 64;
    return code;
}}
""")
    subprocess.run([mpi.wrapper, "-shared", "-fPIC", "-o", library, source], check=True,
                   env={**os.environ, **mpi.environment()})
    argv = [str(mpi.program("ping_pong")), "--sizes", "4096", "--trips", "3"]

    # Only on one rank, or the second error would undo the first. Words go to a file: Hydra may end
    # an aborted job before it has passed on what the ranks wrote.
    words = tmp_path / "words"
    one = ["sh", "-c", f'case "$PMI_RANK$OMPI_COMM_WORLD_RANK" in 0*) LD_PRELOAD={library};'
           f' export LD_PRELOAD;; esac; exec "$@" 2>>{words}', "sh"]
    wrong = launch(mpi, [*one, *argv], 2, native=True, capture=True, timeout_s=SECONDS)
    assert wrong.returncode
    assert f"wrong bytes came back (4096 bytes, at {index})" in words.read_text()


def test_across_two_hosts_the_cable_is_felt(mpi, lab_possible):
    with Lab.up(load_preset("two-hosts-100mbit")) as lab:
        measured = ping_pong._measure_way(c_way(mpi), lab, Work((1, 65536), 5))
    assert measured["times"][1]["median_us"] >= 65536 * 8 / 100
