"""The command line as people run it: a process of its own, with a state folder of its own."""

import subprocess

import pytest

from mutirao.base.paths import ROOT


@pytest.fixture
def mutirao(surroundings, tmp_path):
    def run(*words, **environment):
        return subprocess.run([ROOT / "mutirao", *map(str, words)], capture_output=True, text=True,
                              env={**surroundings, **environment}, cwd=tmp_path, timeout=120,
                              check=False)

    return run
