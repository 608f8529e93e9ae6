"""The command line as people run it: a process of its own, with a state folder of its own; and in the tests'
process, where not the process is what is tested."""

import os
import signal
import subprocess

import pytest

from mutirao import cli
from mutirao.paths import ROOT


@pytest.fixture
def surroundings(tmp_path):
    """The environment: no settings from outside, and a state folder for this test alone."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MUTIRAO_")}
    return {**kept, "XDG_STATE_HOME": str(tmp_path / "state")}


@pytest.fixture
def mutirao(surroundings, tmp_path):
    def run(*words, **environment):
        return subprocess.run([ROOT / "mutirao", *map(str, words)], capture_output=True, text=True,
                              env={**surroundings, **environment}, cwd=tmp_path, timeout=120,
                              check=False)

    return run


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
            code = cli.main(list(map(str, words)))
        return subprocess.CompletedProcess(words, code, *capfd.readouterr())

    return run
