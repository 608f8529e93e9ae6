"""reproducibility=bitwise: the program compares with sums that it adds up itself, in the order of the
ranks. Natively some differ, which shows that it sees the order."""

import pytest

from ends import calls_of, passed
from shared import in_time

pytestmark = pytest.mark.on_any_mpi

REDUCTIONS = ["reduce", "allreduce", "reduce_scatter_block", "reduce_scatter", "scan", "exscan"]


@pytest.mark.parametrize("ranks", [4, 7])
def test_natively_the_order_is_another(run, wheels_only, ranks):
    def trial():
        finished = run("collectives_check", "in_order", "allreduce", ranks=ranks, native=True)
        assert finished.returncode != 0
        # Launchers may lose what a rank has just written.
        return None if "doubles in the ranks' order" in finished.errors else finished.errors

    in_time(trial)


@pytest.mark.parametrize("ranks_per_host", [0, 1, 3])
@pytest.mark.parametrize("ranks", [4, 7])
def test_bitwise_is_one_order_on_every_network_from_the_first_call_on(run, wheels_only, ranks,
                                                                      ranks_per_host):
    finished = passed(run("collectives_check", "in_order", *REDUCTIONS, ranks=ranks,
                          settings={"reproducibility": "bitwise", "ranks_per_host": str(ranks_per_host)}))
    assert int(finished.lines[-1].split()[1]) > 100_000
    ours, _ = calls_of(finished.report["communicators"][0])
    assert ours > 0


def test_another_order_cannot_be_forced_meanwhile(run):
    finished = run("collectives_check", "in_order", "allreduce", ranks=2,
                   settings={"reproducibility": "bitwise", "allreduce": "ring"})
    assert finished.returncode != 0
    assert "MUTIRAO_ALLREDUCE: ring does not combine operands from the first rank on" in finished.errors
