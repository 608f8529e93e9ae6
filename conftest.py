"""What all tests need: a runtime folder of their own, so that their labs never meet a user's, and
programs that can be interrupted. Of tests that differ by their `shape` only one is run, chosen by a
seed; so of those that differ by which of Open MPI's, or of MPICH's, versions they run on, and of those marked
`on_any_mpi` by which of all; and none marked `long`. With --everything all are, each shape on any MPI where any does."""

import os
import random
import secrets
import signal
import subprocess
import tempfile
from collections import defaultdict

import pytest

from mutirao.base.errors import Failure
from mutirao.base.paths import ROOT
from mutirao.cli import cli
from mutirao.lab.lab import Lab
from mutirao.lab.network import HostNetwork
from shared import NOT_HERE


def pytest_addoption(parser):
    parser.addoption("--everything", action="store_true", help="every shape, and what takes long")
    parser.addoption("--seed", type=int, help="which shapes are run; random unless given")


def pytest_configure(config):
    if config.option.seed is None:
        told = getattr(config, "workerinput", {})
        config.option.seed = told.get("seed", random.SystemRandom().randrange(10**6))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """All workers are to collect the same tests."""
    node.workerinput["seed"] = node.config.option.seed


def pytest_terminal_summary(terminalreporter, config):
    if not config.option.everything:
        terminalreporter.write_line(f"shapes chosen by --seed {config.option.seed}")


@pytest.hookimpl(trylast=True)  # what is asked for by name is all there is to choose from
def pytest_collection_modifyitems(config, items):
    everything = config.option.everything
    alike = defaultdict(list)
    for item in items:
        if not _is_skipped(item) and (everything or not item.get_closest_marker("long")):
            alike[_but_for_what_is_chosen(item, everything)].append(item)
    chosen = {random.Random(f"{config.option.seed} {name}").choice(group)
              for name, group in alike.items()}
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = [item for item in items if item in chosen]


def _params_of(item):
    return item.callspec.params if hasattr(item, "callspec") else {}


def _known_mpi(item):
    params = _params_of(item)
    return getattr(params.get("mpi", params.get("wheel")), "known", None)


def _is_skipped(item):
    """What skips itself is not to be chosen."""
    known = _known_mpi(item)
    return known and not known.environment and "wheels_only" in item.fixturenames


def _but_for_what_is_chosen(item, everything):
    name, shape, known = item.nodeid, str(_params_of(item).get("shape", "")), _known_mpi(item)
    any_does = item.get_closest_marker("on_any_mpi")
    if everything:
        return name.replace(known.name, "") if any_does and shape else name
    name = name.replace(shape, "")
    return name.replace(known.name, "" if any_does else known.title) if known else name


@pytest.fixture(scope="session", autouse=True)
def undisturbed():
    """A runtime folder whose path is short, since that of a socket may have 107 characters only. What a test measures
    depends on no earlier job, and is no news for the user's own. Open MPI 5 would look two seconds for its networks
    whenever a program starts, and take none of them on one host."""
    with tempfile.TemporaryDirectory(prefix="mutirao-test-") as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", folder)
        patch.setenv("MUTIRAO_PROFILE", "off")
        for framework in ("btl", "mtl"):
            patch.setenv(f"OMPI_MCA_{framework}", "^ofi")
        yield


@pytest.fixture(scope="session", autouse=True)
def interruptible():
    """Also where the tests run in the background of a shell, which lets its children ignore that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def lab_possible(undisturbed):
    """Skips where the kernel forbids namespaces; any other trouble is a failure."""
    try:
        Lab.up(HostNetwork.from_sites(["A", "B"], [[0, 0], [0, 0]])).down()
    except Failure as failure:
        if NOT_HERE in str(failure):
            pytest.skip(str(failure))
        raise


@pytest.fixture
def token():
    """By which the processes of this test are known."""
    return f"test-{secrets.token_hex(6)}"


@pytest.fixture
def surroundings(tmp_path):
    """The environment: no settings from outside, and a state folder for this test alone."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MUTIRAO_")}
    return {**kept, "XDG_STATE_HOME": str(tmp_path / "state")}


@pytest.fixture
def typed(surroundings, tmp_path, monkeypatch, capfd):
    """The command in this very process, which takes less time than one of its own: a traceback fails the test."""
    for name in os.environ.keys() - surroundings.keys():
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_STATE_HOME", surroundings["XDG_STATE_HOME"])
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.chdir(tmp_path)

    def run(*words, **environment):
        with monkeypatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            try:
                code = cli.main(list(map(str, words)))
            except SystemExit as end:  # of --help
                code = end.code
        return subprocess.CompletedProcess(words, code, *capfd.readouterr())

    return run


@pytest.fixture
def mutirao(surroundings, tmp_path):
    """The command line as people run it: a process of its own, with a state folder of its own."""
    def run(*words, **environment):
        return subprocess.run([ROOT / "mutirao", *map(str, words)], capture_output=True, text=True,
                              env={**surroundings, **environment}, cwd=tmp_path, timeout=120,
                              check=False)

    return run
