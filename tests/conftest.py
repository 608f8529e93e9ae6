"""What all tests need: a runtime folder of their own, so that their labs never meet a user's, and
programs that can be interrupted."""

import shutil
import signal
import tempfile

import pytest


@pytest.fixture(scope="session", autouse=True)
def own_runtime_folder():
    """Short, since the path of a socket may have 107 characters only."""
    folder = tempfile.mkdtemp(prefix="mutirao-test-")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", folder)
        yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session", autouse=True)
def interruptible():
    """Also where the tests run in the background of a shell, which lets its children ignore that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
