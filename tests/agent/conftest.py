"""Agents as people run them: through the command line, under names and ports of their own."""

import os

import pytest

from shared import free_ports, text_of


@pytest.fixture
def hosts(tmp_path):
    """A host file of three hosts on this machine, on ports that are free now."""
    lines = [f"127.0.0.1 {port}" for port in free_ports(3)]
    path = tmp_path / "hosts"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def key(typed, tmp_path):
    text_of(typed("agent", "key", tmp_path / "key"))
    return tmp_path / "key"


@pytest.fixture
def agents(mutirao, typed, hosts, key, tmp_path):
    """Starts agents by their numbers; ends those that the test did not."""
    started = []

    def name(number):
        return f"test-{os.getpid()}-{tmp_path.name}-{number}"

    def start(number, *words):
        started.append(number)
        return mutirao("agent", "start", "--hosts", hosts, "--key", key, "--self", number,
                       "--name", name(number), *words)

    start.name = name
    yield start
    for number in started:
        typed("agent", "stop", "--name", name(number))
