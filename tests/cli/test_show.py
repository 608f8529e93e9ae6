"""`mutirao show` in text: the tree at first, the steps if they are asked for."""

import re

import pytest

from mutirao.base.units import size_argument


def test_a_tree_names_every_rank_once_with_its_time(typed):
    answer = typed("show", "broadcast/tree", "--network", "six-sites", "--root", 12, "--bytes", "1KiB")
    assert answer.returncode == 0, answer.stderr
    heading, predicted, empty, root, *others = answer.stdout.splitlines()
    assert "1 KiB from rank 12 of 24" in heading and empty == ""
    assert re.fullmatch(r"predicted \d+\.\d ms, \d\.\d\d x the lower bound of \d+\.\d ms", predicted)
    assert root.startswith("rank 12, done after ")
    ranks = [int(re.search(r"rank (\d+), done after [\d.]+ (us|ms)$", line)[1]) for line in others]
    assert sorted([12, *ranks]) == list(range(24))


@pytest.mark.parametrize("algorithm, ranks, line", [
    ("reduce/flat", 4, "├─ rank 1, done after"), ("allreduce/ring", 4, "rank 3 sends to 0"),
    ("alltoall/linear", 3, "rank 0 sends to all others"), ("barrier/direct", 1, "rank 0 sends nothing"),
])
def test_to_whom_each_rank_sends(typed, algorithm, ranks, line):
    assert line in typed("show", algorithm, "--ranks", ranks).stdout


def test_steps(typed):
    answer = typed("show", "broadcast/flat", "--ranks", 3, "--steps")
    assert "rank 0  step 1  send output[0,24) to 2" in answer.stdout
    assert re.search(r"^predicted \d+\.\d us$", answer.stdout, re.MULTILINE)


def test_sizes():
    assert size_argument("64KiB") == 65536 and size_argument("24") == 24
