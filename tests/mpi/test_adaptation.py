"""A communicator follows its network while the program runs: the data stays right, whoever measures,
and what happened is in the report. That changes are taken up is tested where there are any: in
test_changes_in_the_lab.py."""

import pytest

from ends import calls_of, chosen_in, silent_world_of, world_of
from shared import in_time

# Debian's follow their networks in all other tests, as every program does by default.
pytestmark = [pytest.mark.usefixtures("wheels_only"), pytest.mark.on_any_mpi]


# Noise alone then changes links and the tree in nearly every call: a hard test of the agreement.
@pytest.mark.parametrize("ranks_per_host, ranks", [(1, 4), (2, 5)])
@pytest.mark.parametrize("mode, settings", [
    ("every:8", {"adaptation": "every:8"}), ("auto", {"agent_interval_ms": "20"}),
    ("in-band", {"agent": "in-band", "agent_interval_ms": "20"})])
def test_ranks_agree_while_everything_changes(run, mode, settings, ranks_per_host, ranks):
    settings = {"start": "wait", "broadcast": "tree:kind=mst,segment_bytes=4096", "change_threshold_percent": "0",
                "ranks_per_host": str(ranks_per_host), **settings}

    def trial():
        world = silent_world_of(run("collectives_check", "broadcast", ranks=ranks, settings=settings))
        told, taken_up = world["adaptation"], world["adaptation"]["taken_up"]
        assert told["mode"] == mode and calls_of(world)[0] > 100
        if mode == "every:8":
            assert told["checks"] == -(-world["calls"] // 8) and told["adapting_ms"] > 0
        else:
            assert told["epochs"] >= 2
        # It is this machine's noise that changes the tree.
        new_trees = sum(change["new_tree"] for change in taken_up)
        return None if len(taken_up) > 5 and new_trees > 0 else (len(taken_up), new_trees)

    if mode == "every:8" and ranks_per_host == 1:
        in_time(trial)
    else:
        trial()  # the data is right, whatever was taken up
    if mode == "in-band" and ranks_per_host == 1:
        # In band a link is measured only while both ends are inside calls, so that takes longer.
        world = world_of(run("collective", "broadcast", "--repeat", 1000, ranks=4, settings=settings))  # checks its bytes
        assert world["adaptation"]["taken_up"]


@pytest.mark.parametrize("settings", [{"adaptation": "off"}, {"agent": "off"}],
                         ids=["adaptation off", "agent off"])
def test_nothing_is_followed_when_switched_off(run, settings):
    world = silent_world_of(run("collectives_check", "broadcast", ranks=3, settings={
        "broadcast": "chain", "ranks_per_host": "1", **settings}))
    assert world["adaptation"]["mode"] == "off"
    assert world["adaptation"]["taken_up"] == []
    assert calls_of(world)[0] > 0


@pytest.mark.parametrize("ranks", [pytest.param(3, marks=pytest.mark.long), 4])
def test_a_rank_that_comes_later_than_probes_wait_for_it_is_no_lost_host(run, ranks):
    """Rank 0 comes a second late, again and again: nobody reaches it meanwhile, and it reaches nobody."""
    world = world_of(run("out_of_step", "late_rank", ranks=ranks, settings={
        "adaptation": "every:1", "probe_timeout_ms": "300", "broadcast": "tree:kind=mst",
        "ranks_per_host": "1"}))
    broadcasts = [each for each in world["classes"] if each["collective"] == "broadcast"]
    assert chosen_in({"classes": broadcasts}) == {"tree:kind=mst"}
