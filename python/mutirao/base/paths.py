"""Where things lie: in the checkout (build, environments) or beside an installed package, and in the user's
state folder."""

import os
import re
import socket
import tempfile
from contextlib import suppress
from pathlib import Path

from mutirao.base.errors import Failure

# Packages that are installed bring what was built along.
_PACKAGE = Path(__file__).resolve().parents[1]
_BROUGHT = _PACKAGE / "built"
INSTALLED = _BROUGHT.is_dir()
ROOT = _BROUGHT if INSTALLED else _PACKAGE.parents[1]
# The lab and developers can point at another build folder; not MUTIRAO_, which names settings.
BUILD = Path(os.environ.get("MUTILAB_BUILD") or (_BROUGHT if INSTALLED else ROOT / "build"))
ENVIRONMENTS = ROOT / ".env"
LIBRARIES = BUILD / "lib"
PRELOAD = LIBRARIES / "libmutirao.so"
CORE_TOOL = BUILD / "bin" / "mutirao-core"


def state_folder() -> Path:
    """Made on first use; holds what one command leaves for the next, e.g. the last run's report. Where the home cannot be
    written it is of this machine alone."""
    base = os.environ.get("XDG_STATE_HOME", "")
    # The XDG specification: a relative path counts as unset.
    root = Path(base) if os.path.isabs(base) else Path.home() / ".local" / "state"
    for folder in (root / "mutirao", Path(tempfile.gettempdir()) / f"mutirao-{os.getuid()}"):
        with suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if os.access(folder, os.W_OK) and (folder.is_relative_to(root) or folder.stat().st_uid == os.getuid()):
                return folder
    raise Failure(f"nothing can be kept in {root}, nor in the folder for temporary files: let XDG_STATE_HOME name one that"
                  " can be written")


def own_name() -> str:
    """Of this process, on all hosts that share the state folder."""
    return f"{socket.gethostname()}-{os.getpid()}"


def job_folder() -> tempfile.TemporaryDirectory:
    """Of a job whose rank 0 may run on another host: what hosts share, if anything, is the home."""
    return tempfile.TemporaryDirectory(prefix="job-", dir=state_folder(), ignore_cleanup_errors=True)


def last_report() -> Path:
    """In a Slurm job that job's own, since the tasks of a job array run at once."""
    job = os.environ.get("SLURM_JOB_ID")
    return state_folder() / (f"last-run-{job}.json" if job else "last-run.json")


def last_reports() -> list[Path]:
    """Where the report of a run is kept: for this Slurm job, if it is one, and for those who ask outside."""
    return list(dict.fromkeys([last_report(), state_folder() / "last-run.json"]))


def preloadable(path: Path) -> bool:
    """LD_PRELOAD separates its entries by spaces and colons and knows no quotes."""
    return not re.search(r"[\s:]", str(path))
