"""Runs of the steady program made up for the tests of what is made of them."""

from made_up import decision, report
from mutirao.errors import Failure
from mutirao.measure import Measurement, Point
from mutirao.studies.steady import SteadyRun


def adaptation(mode, adapting_ms=0.0, waited_ms=0.0, calls=()):
    return {"mode": mode, "adapting_ms": adapting_ms, "waited_ms": waited_ms, "checks": 4,
            "waits": 1, "epochs": 9, "taken_up": [
                {"call": call, "links": 1, "new_tree": True, "shown": [
                    {"low": 12, "high": 16, "before_us": 5.0, "after_us": 50.0}]}
                for call in calls]}


def steady_run(contender, begin_ms, completion_ms, bounds_ms=None, said=None, stopped_ms=712.5):
    bounds_ms = bounds_ms or [1.0] * len(begin_ms)
    given = None
    if not contender.native:
        given = report(24, [decision(12, 24, "tree:tree=mst")])
        if said:
            given["communicators"][0]["adaptation"] = said
    points = tuple(Point(24, 12, 1, 99.0, (completion,), bound)
                   for completion, bound in zip(completion_ms, bounds_ms, strict=True))
    return SteadyRun(Measurement(contender, points, given, 9.0, 99), tuple(begin_ms), stopped_ms,
                     90_000.0 + sum(completion_ms))


class MadeUpSteadyJobs:
    """In the place of run_steady(): each call takes 1.25 times its bound and 200 ms more in
    synchronous modes, a hundred times that in the static ones from the first change on."""

    def __init__(self, failing=()):
        self.failing = failing
        self.asked = []

    def __call__(self, contender, pace, lab, bounds_ms, on_begin=None, timeout_s=None):
        settings = contender.settings
        self.asked.append((contender.name, dict(settings), pace, list(bounds_ms)))
        if contender.name in self.failing:
            raise Failure(f"{contender.name} did not want to")
        mode = settings["adaptation"]
        first_change = min(pace.stops, default=pace.count + 1)
        each = []
        for call, bound in enumerate(bounds_ms, start=1):
            pace.stops.get(call, lambda: None)()
            late = 100 if mode == "off" and call >= first_change else 1
            each.append(bound * 1.25 * late + 200 * mode.startswith("every"))
        said = {"off": adaptation("off"), "auto": adaptation("auto", 1.5, 2.5, (2, 5))}.get(
            mode, adaptation(mode, 200.0 * pace.count, 0.0, (1,)))
        return steady_run(contender, range(pace.count), each, bounds_ms, said)
