"""Runs of the steady program made up for the tests of what is made of them."""

from made_up import calls_of, report, ruling, said_of_adapting
from mutirao.base.errors import Failure
from mutirao.measure.measure import Measurement, Point
from mutirao_studies.paper_000.steady import SteadyRun


def adaptation(mode, check_ms=(), waited_ms=0.0, calls=()):
    return said_of_adapting(
        mode, adapting_ms=sum(check_ms), check_ms=list(check_ms), checks=len(check_ms),
        waited_ms=waited_ms, waits=1, taken_up=[
            {"call": call, "links": 1, "new_tree": True, "shown": [
                {"low": 12, "high": 16, "before_us": 5.0, "after_us": 50.0}]} for call in calls])


def steady_run(contender, begin_ms, completion_ms, bounds_ms=None, said=None):
    bounds_ms = bounds_ms or [1.0] * len(begin_ms)
    given = None
    if not contender.native:
        given = report(24, [calls_of(12, 24, ruling("tree:kind=mst"))])
        given["communicators"][0]["adaptation"] = said
    points = tuple(Point(24, 12, 1, 99.0, (completion,), bound)
                   for completion, bound in zip(completion_ms, bounds_ms, strict=True))
    # Rank 0 is in a call long before the root.
    return SteadyRun(Measurement(contender, points, given, 9.0, 99), tuple(begin_ms),
                     tuple(begin - 300 for begin in begin_ms), 712.5,
                     90_000.0 + sum(completion_ms))


class MadeUpSteadyJobs:
    """In the place of run_steady(): each call takes 1.25 times its bound, a hundred times that in the
    static modes from the first change on, and 200 ms more where the synchronous ones adapt."""

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
        every = int(mode.partition(":")[2] or 0)
        for call, bound in enumerate(bounds_ms, start=1):
            pace.stops.get(call, lambda: None)()
            late = 100 if mode == "off" and call >= first_change else 1
            checks = every and (call + pace.ahead - 1) % every == 0
            each.append(bound * 1.25 * late + 200 * checks)
        check_ms = [500.0] * ((pace.count + pace.ahead - 1) // every + 1) if every else ()
        said = adaptation(mode, check_ms, 4.0 * (mode == "auto"), (2, 5))
        return steady_run(contender, range(pace.count), each, bounds_ms, said)
