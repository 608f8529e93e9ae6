"""When, where and on what something was measured."""

import os
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from mutirao import __version__


@cache
def _load_before() -> float:
    """Before the first of this process: what others find, it has made itself."""
    return os.getloadavg()[0]


@dataclass(frozen=True)
class Circumstances:
    """Begins with the study."""

    study: str
    quick: bool
    mpi_names: Sequence[str]
    begin_s: float = field(default_factory=time.monotonic)
    load_before: float = field(default_factory=_load_before)

    def to_dict(self) -> dict:
        """When all is measured."""
        return {"study": self.study, "mutirao": __version__, "quick": self.quick, "mpis": list(self.mpi_names),
                "made": time.strftime("%Y-%m-%d %H:%M %z"), "seconds": round(time.monotonic() - self.begin_s),
                "machine": {"processors": os.cpu_count(), "system": platform.platform(terse=True),
                            "load_before": round(self.load_before, 2)}}


def busy_remarks(result: dict) -> list[str]:
    processors, load = result["machine"]["processors"], result["machine"]["load_before"]
    if not processors or load <= processors / 2:
        return []
    return [f"The machine was busy before (load {load:g} on {processors}"
            " processors): times may be longer than on a quiet one"]
