"""How a program is launched in a lab, without one."""

import pytest

from made_up import NoLab, mpi_named
from mutirao.lab.lab import LabHost
from mutirao.run import launch
from mutirao.run.mpis import AboutLibrary, Mpi


class LabInName(NoLab):
    agent, interface, control = "agent", "wan0", LabHost("control", "10.0.0.9")
    hosts = [LabHost("h0", "10.0.0.1"), LabHost("h1", "10.0.0.2")]
    calm_library = "calm.so"

    def environment(self):
        return {}


@pytest.mark.parametrize("native, expected", [(False, ["libmutirao.so", "calm.so"]), (True, ["calm.so"])])
def test_what_is_preloaded(monkeypatch, tmp_path, native, expected):
    monkeypatch.setattr(Mpi, "about", AboutLibrary(fits=True))
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    mpi = mpi_named("mpich-5", tmp_path)
    command = launch._lab_command(mpi, ["program"], 2, native, {}, LabInName(), tmp_path)
    [word] = [word for word in command if word.startswith("LD_PRELOAD=")]
    assert [path.rpartition("/")[2] for path in word.partition("=")[2].split(":")] == expected


@pytest.mark.parametrize("said, starts", [("", 2), ("not enough slots", 1)])
def test_a_launcher_that_fails_and_says_nothing_is_tried_once_more(monkeypatch, tmp_path, said, starts):
    started = tmp_path / "started"
    launcher = ["sh", "-c", f'echo started >> {started}; printf "{said}" >&2; exit 213']
    finished = launch.launch(mpi_named("mpich-5", tmp_path), ["program"], 2, native=True, capture=True,
                             launcher=launcher)
    assert finished.returncode == 213 and len(started.read_text().splitlines()) == starts
