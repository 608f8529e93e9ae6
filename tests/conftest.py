"""What all tests need: a runtime folder of their own, so that their labs never meet a user's, and
programs that can be interrupted."""

import shutil
import signal
import tempfile

import pytest

from labs import NOT_HERE
from mutirao.errors import Failure
from mutirao.lab import Lab
from mutirao.network import HostNetwork


@pytest.fixture(scope="session", autouse=True)
def own_runtime_folder():
    """Short, since the path of a socket may have 107 characters only."""
    folder = tempfile.mkdtemp(prefix="mutirao-test-")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", folder)
        yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session", autouse=True)
def no_profile():
    """What a test measures depends on no earlier job, and is no news for the user's own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MUTIRAO_PROFILE", "off")
        yield


@pytest.fixture(scope="session", autouse=True)
def interruptible():
    """Also where the tests run in the background of a shell, which lets its children ignore that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def lab_possible(own_runtime_folder):
    """Skips where the kernel forbids namespaces; any other trouble is a failure."""
    try:
        Lab.up(HostNetwork.from_sites(["A", "B"], [[0, 0], [0, 0]])).down()
    except Failure as failure:
        if NOT_HERE in str(failure):
            pytest.skip(str(failure))
        raise
