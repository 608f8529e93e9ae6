"""A runtime folder of the tests' own, so that their labs never meet a user's."""

import shutil
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
