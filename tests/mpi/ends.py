"""A program must end the same with and without mutirao: what the tests of unusual programs share."""

import re

# Values of the setting `start`; None leaves it unset.
STARTS = [None]  # once there is that setting: ["beside", "wait"]


def settings_of(start, **settings):
    """Each rank as a host of its own, so that nothing is left to the MPI library by itself."""
    return {"ranks_per_host": "1", **settings, **({"start": start} if start else {})}


def passed(finished):
    assert finished.returncode == 0, finished.errors
    assert finished.lines[-1].startswith("ok"), finished.lines
    return finished


def skip_reason(finished):
    """Why the program could not do what it is for with this MPI; empty if it did."""
    found = re.fullmatch(r"ok skipped: (.*)", finished.lines[-1])
    return found[1] if found else ""


def ends_as_natively(run, program, *words, settings, ranks=3, same_output=True):
    """Runs the program both ways and returns both ends, the native one first."""
    native = passed(run(program, *words, ranks=ranks, native=True))
    ours = passed(run(program, *words, ranks=ranks, settings=settings))
    if same_output:
        assert ours.lines == native.lines
    assert ours.errors == "" or native.errors, ours.errors  # nothing is printed unless asked
    return native, ours


def decided_calls(finished):
    communicators = finished.report["communicators"] if finished.report else []
    return sum(decision["calls"] for each in communicators for decision in each["decisions"])


def lines_of_ours(finished):
    return [line for line in finished.errors.splitlines() if line.startswith("mutirao:")]
