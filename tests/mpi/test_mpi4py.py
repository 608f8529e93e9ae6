"""mpi4py's own tests of blocking collectives, which know nothing of mutirao: natively, by mutirao's choice,
and with the algorithms of the catalogue forced, one of each collective at a time."""

import fcntl
import importlib.metadata
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from mutirao.base.paths import BUILD
from mutirao.catalogue.core_tool import algorithms
from mutirao.run.launch import launch
from shapes import Shape, runs

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("wheels_only")]

SHAPE = Shape(3, 2)
MODULES = "test_cco_(buf|vec|obj)"


def rounds():
    """What to force, so that each algorithm for so many ranks has its turn."""
    rows = defaultdict(list)
    for row in algorithms():
        if runs(row, SHAPE):
            rows[row["collective"]].append(row["name"])
    return [{collective: names[turn % len(names)] for collective, names in rows.items()}
            for turn in range(max(map(len, rows.values())))]


@pytest.fixture(scope="session")
def tests_folder():
    """Of the version that is installed; its wheel leaves them out."""
    name = f"mpi4py-{importlib.metadata.version('mpi4py')}"
    folder = BUILD / name
    with (BUILD / "mpi4py.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            with tempfile.TemporaryDirectory(dir=BUILD) as scratch:
                subprocess.run([sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", "download",
                                "--no-deps", "--no-binary", ":all:", "--no-build-isolation", "-d", scratch,
                                name.replace("-", "==")], check=True)
                shutil.unpack_archive(next(Path(scratch).glob("*.tar.gz")), scratch)
                (Path(scratch) / name).rename(folder)
    return folder / "test"


@pytest.fixture
def passed(mpi, tests_folder):
    def run(**options):
        argv = [sys.executable, str(tests_folder / "main.py"), "--no-builddir", "-q", "-i", MODULES]
        finished = launch(mpi, argv, SHAPE.ranks, capture=True, timeout_s=900, **options)
        assert finished.returncode == 0, finished.errors[-4000:]
        assert len(re.findall(r"^Ran [1-9]", finished.errors, re.MULTILINE)) == SHAPE.ranks
        return finished

    return run


def test_natively(passed):
    passed(native=True)


@pytest.mark.parametrize("start", ["soon", "wait"])
def test_chosen_freely(passed, start):
    passed(settings=SHAPE.settings(start=start))


@pytest.mark.parametrize("forced", rounds(), ids=lambda forced: forced["allgather"])
def test_forced(passed, forced):
    calls = Counter()
    for communicator in passed(settings=SHAPE.settings(**forced)).report["communicators"]:
        for each in communicator["classes"]:
            for ruling in each["rulings"]:
                calls[each["collective"], ruling["chosen"].split(":")[0]] += ruling["calls"]
    assert all(calls[algorithm] > 0 for algorithm in forced.items()), calls
