"""Why some ways of `study ping-pong` take longer: the same job once more with one thing changed."""

import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from mutirao.base.errors import Failure
from mutirao.lab.lab import Lab
from mutirao_studies.paper_003.ping_pong_ways import BY_KEY, Change, Work

ONE_HOST, CABLE, UNLIMITED = "one-host", "100mbit", "unlimited"
_TIMEOUT_S = 120.0


@dataclass(frozen=True)
class Cause:
    question: str
    base: str  # what the job does by itself, and instead
    changed: str
    situation: str
    way: str
    sizes_bytes: Sequence[int]
    before: Change
    change: Change
    trips: int


_TRIPS, _TRIPS_UNTIL_HOT = 200, 4000
_QUICK_SHARE = 20
_AS_IT_IS = Change()


def _rows(question: str, base: str, changed: str, situation: str, sizes_bytes: Sequence[int],
          changes: Iterable[tuple[str, Change]], trips: int = _TRIPS,
          before: Change = _AS_IT_IS) -> list[Cause]:
    return [Cause(question, base, changed, situation, way, sizes_bytes, before, change, trips)
            for way, change in changes]


_SMALL = (1, 1024)
_HELD_BACK = (1, 256, 1024, 4096)
_NAGLE = {"FI_TCP_NODELAY": "0"}
_INTERPRETED = Change(java=("-Xint",))
_ROOM_BYTES = 1 << 20

CAUSES = (
    *_rows("Nagle's algorithm", "TCP_NODELAY", "Nagle", CABLE, _HELD_BACK,
           [("c-mpich-5", Change(_NAGLE)),
            ("c-openmpi-5", Change({"OMPI_MCA_btl_tcp_use_nagle": "1"})),
            ("c-intel", Change(_NAGLE))]),
    *_rows("Delayed acknowledgements", "Nagle", "Nagle, acknowledged at once", CABLE, _HELD_BACK,
           [("c-mpich-5", Change(_NAGLE, acknowledges_at_once=True))], before=Change(_NAGLE)),
    *_rows("How ranks wait", "sleeping", "spinning", UNLIMITED, _SMALL,
           [("c-mpich-5", Change(spins=True)), ("c-openmpi-5", Change(spins=True)),
            ("arrays-express", Change(spins=True))]),
    *_rows("What the binding copies", "array as long as the message", "array of 1 MiB", ONE_HOST,
           _SMALL,
           [("arrays-intel", Change(program=("--room", str(_ROOM_BYTES)))),
            ("arrays-openmpi-4", Change(program=("--room", str(_ROOM_BYTES))))]),
    *_rows("Translation", "compiled when hot", "interpreted only", ONE_HOST, _SMALL,
           [("foreign-mpich-5", _INTERPRETED), ("arrays-openmpi-4", _INTERPRETED),
            ("arrays-express", _INTERPRETED)], _TRIPS_UNTIL_HOT),
)

def quick_causes(causes: Sequence[Cause]) -> list[Cause]:
    """One way for each question, and fewer round trips."""
    first = {cause.question: cause for cause in reversed(causes)}
    return [replace(cause, trips=cause.trips // _QUICK_SHARE) for cause in first.values()][::-1]


def measure_cause(cause: Cause, lab: Lab | None) -> dict:
    base, changed = (_times(cause, change, lab) for change in (cause.before, cause.change))
    return {"question": cause.question, "base": cause.base, "changed": cause.changed,
            "situation": cause.situation, "way": cause.way, "trips": cause.trips,
            "rows": [{"base": before, "changed": after} for before, after in zip(base, changed, strict=True)]}


def _times(cause: Cause, change: Change, lab: Lab | None) -> list[dict]:
    if lab:
        _set_acknowledging(lab, change.acknowledges_at_once)
    return BY_KEY[cause.way].run(Work(cause.sizes_bytes, cause.trips), lab, change, _TIMEOUT_S)


def _set_acknowledging(lab: Lab, at_once: bool) -> None:
    """On the one route of each host, whose other properties stay."""
    script = ("route=$(ip route | sed 's/ quickack [01]//')"
              f" && ip route change $route quickack {int(at_once)}")
    for host in lab.hosts:
        answer = lab.exec(host.name, ["sh", "-c", script], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
        said = answer.communicate()[0].strip()
        if answer.returncode:
            raise Failure(f"cannot set how {host.name} acknowledges: {said}")
