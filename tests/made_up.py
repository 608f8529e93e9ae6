"""Measurements made up for the tests of what is made of them."""

from pathlib import Path

from mutirao.base.errors import Failure
from mutirao.lab.lab import Counters
from mutirao.lab.named_networks import load_preset
from mutirao.measure.measure import Contender, Measurement, Point
from mutirao.run.mpis import KNOWN, Mpi


class MpiInName(Mpi):
    """Of which nothing is there."""

    built = True

    def program(self, name):
        return name


def mpi_named(name):
    known = next(row for row in KNOWN if row.name == name)
    return MpiInName(known, f"{known.major}.9.9", *(Path("/none") / part for part in ("mpicc", "mpirun", known.soname)))


def contender_named(name, **settings):
    return Contender(name, mpi_named("openmpi-5"), None if name == "native" else {"broadcast": name, **settings})


def circumstances(study, *mpis):
    """Of a result."""
    return {"study": study, "mutirao": "0", "quick": False, "mpis": list(mpis), "made": "today", "seconds": 9,
            "machine": {"processors": 2, "system": "x", "load_before": 0.1}}


def counters(hosts, packets, to_control=0, overruns=0):
    """`packets` from each host to each other one; the last row and column are the control host."""
    def between(a, b):
        return 0 if a == b else to_control if hosts in (a, b) else packets

    matrix = [[between(a, b) for b in range(hosts + 1)] for a in range(hosts + 1)]
    nothing = [[0] * (hosts + 1) for _ in range(hosts + 1)]
    return Counters(matrix, matrix, nothing, overruns, 0.0, 0.0)


START = {"native_reason": "", "twin_ms": 2093.25, "waited_ms": 4705.75, "introduced_ms": 0.0}


def report(hosts, classes=(), sites=None):
    """As mutirao writes it."""
    latency_us = [[0 if a == b else 1000 + a + b for b in range(hosts)] for a in range(hosts)]
    return {"mutirao": "0", "mpi": "x", "start": dict(START), "forgotten_communicators": 0,
            "communicators": [communicator(
                "MPI_COMM_WORLD", hosts, hosts=hosts, calls=40, state="mutirao", reason="network measured",
                first_ruled_call=0, first_ruled_ms=411.5, sites=sites or [0] * hosts,
                tree=[[a, a + 1] for a in range(hosts - 1)], latency_us=latency_us,
                adaptation=said_of_adapting("auto"), classes=list(classes))]}


def communicator(name, ranks, **more):
    """Of which nothing more is known."""
    return {"name": name, "ranks": ranks, "hosts": 0, "calls": 1, "state": "not yet", "reason": "", "sites": [],
            "tree": [], "latency_us": [], "adaptation": said_of_adapting("off", epochs=0, horizon_calls=0),
            "classes": [], **more}


def said_of_adapting(mode, **more):
    return {"mode": mode, "epochs": 9, "horizon_calls": 4, "waits": 0, "waited_ms": 0.0,
            "early_waits": 0, "early_waited_ms": 0.0, "checks": 0, "adapting_ms": 0.0,
            "check_ms": [], "taken_up": [], **more}


def calls_of(root, length_bytes, *rulings, collective="broadcast", native_calls=0, **more):
    """Of one class, ruled as ruling() says; calls ruled to be native count as such."""
    natively = sum(each["calls"] for each in rulings if each["chosen"] == "native")
    return {"collective": collective, "root": root, "length_bytes": length_bytes,
            "first_call": 0, "native_calls": native_calls + natively, "rulings": [
                {**each, "calls": 0 if each["chosen"] == "native" else each["calls"]}
                for each in rulings], "forgotten_rulings": 0, "forgotten_calls": 0, **more}


def ruling(chosen, considered=(), first_call=0, **more):
    """`considered`: what each candidate is predicted to take."""
    return {"first_call": first_call, "calls": 4, "chosen": chosen, "reason": "because",
            "probe_calls": 0, "settled": True,
            "considered": [{"candidate": name, "predicted_us": us} for name, us in dict(considered).items()], **more}


def took(candidate, median_us, low_us, high_us):
    return {"candidate": candidate, "median_us": median_us, "low_us": low_us, "high_us": high_us, "samples": 3}


class MadeUpJobs:
    """In the place of measure(): every time is a multiple of the bound, known by its digits."""

    def __init__(self, failing=()):
        self.failing = failing
        self.number = 0

    def __call__(self, contender, workloads, ranks, lab=None, on_point=None, timeout_s=None):
        if contender.name in self.failing:
            raise Failure(f"{contender.name} did not want to")
        network = load_preset("six-sites")
        points = []
        for work in workloads:
            for root in work.roots:
                for consecutive in work.consecutive:
                    self.number += 1
                    base = network.bound_from(root) / 1000 * (1.25 + self.number / 1000)
                    points.append(Point(24, root, consecutive, round(base * 9, 3), tuple(
                        round(base + i * 0.137, 3) for i in range(work.repeat)),
                        network.bound_from(root) / 1000))
        asked = (contender.settings or {}).get("broadcast")
        ran = "tree:kind=shortest_path" if asked == "auto" else asked
        classes = [calls_of(root, 16, ruling(ran)) for root in range(0, 24, 4)]
        sites = [host // 4 for host in range(24)]
        return Measurement(contender, tuple(points),
                           None if contender.native else report(24, classes, sites), 31.5, 9876)


class JobsThatTake:
    """In the place of measure(): what one call takes is known, by who makes it and its length in bytes."""

    def __init__(self, call_ms):
        self.call_ms = call_ms
        self.jobs = []

    def __call__(self, contender, workloads, ranks, lab=None, on_point=None, timeout_s=None):
        self.jobs.append(contender)
        points = [Point(length, root, 4, 9.0, (4 * self.call_ms(contender, length),) * work.repeat)
                  for work in workloads for length in work.lengths_bytes for root in work.roots]
        return Measurement(contender, tuple(points), None, 1.0)


class NoLab:
    """In the place of a lab. What is set is kept; between one look at its counters and the next a packet has gone from
    each host to each other one."""

    name = "made up"

    def __init__(self, network=load_preset("six-sites")):
        self.network, self.looks, self.latencies, self.pairs = network, 0, [], []

    def __enter__(self):
        return self

    def __exit__(self, *_exception):
        pass

    def set_latencies(self, latency_us):
        self.latencies.append(latency_us)

    def set_pair(self, a, b, latency_ms):
        self.pairs.append((a, b, latency_ms))

    def counters(self):
        self.looks += 1
        return counters(self.network.host_count, self.looks)
