"""What mutirao saved a program, or cost it, as its report tells: only what was measured, net of probes, of the
start, and of what calls waited for.

The library says the same in the one line at the end (src/mpi/account/report.cpp), in the same words.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import hypot

from mutirao.base.units import counted, duration

_LEAST_ERROR = 0.005  # of a ratio
_MOST_UNKNOWN_SHARE = 0.1
NOT_KNOWN = "whether it saved time is not known: "
AS_FAST = "as fast as the MPI library's own"
# What the start took of the program's time on rank 0.
START_PARTS = {"twin_ms": "to make private communicators", "agreed_ms": "in calls, for other ranks' votes",
               "waited_ms": "in MPI_Init, to learn the network (start=wait)", "finalize_ms": "in MPI_Finalize"}


@dataclass(frozen=True)
class Account:
    """Of calls, on each rank, against the MPI library's own; what is not known counts nothing."""

    took_us: float = 0.0
    saved_us: float = 0.0  # negative: lost
    error_us: float = 0.0  # half of the interval of that which holds it with 95%
    probes_us: float = 0.0  # lost by probes; negative: won
    unknown_calls: int = 0  # not native, and with nothing to compare with

    @property
    def net_us(self) -> float:
        """Of probes."""
        return self.saved_us - self.probes_us

    @property
    def clear(self) -> bool:
        """Which sign that has."""
        return abs(self.net_us) > self.error_us

    @property
    def verb(self) -> str:
        return "saved" if self.net_us >= 0 else "lost"

    def __str__(self) -> str:
        """Without a sign, and without a number that the error hides."""
        error = f"± {duration(self.error_us)}" if self.error_us > 0 else ""
        return f"{duration(abs(self.net_us))} {error}".rstrip() if self.clear else error


def account_of(told_of: Iterable[dict]) -> Account | None:
    """Of classes, or of forgotten communicators. None: nothing was compared with the MPI library's own."""
    told = [Account(**{name: each["account"][name] for name in Account.__dataclass_fields__})
            for each in told_of if each.get("account")]
    if not told:
        return None
    return Account(sum(each.took_us for each in told), sum(each.saved_us for each in told),
                   hypot(*(each.error_us for each in told)), sum(each.probes_us for each in told),
                   sum(each.unknown_calls for each in told))


def own_calls(classes: Iterable[dict]) -> int:
    """That ran by algorithms of mutirao's, on probe or not."""
    return sum(of_class.get("forgotten_calls", 0) + probe_calls([of_class])
               + sum(ruling["calls"] for ruling in of_class["rulings"]) for of_class in classes)


def probe_calls(classes: Iterable[dict]) -> int:
    """Of those, on probe; as far as they are remembered."""
    return sum(ruling.get("probe_calls", 0) for of_class in classes for ruling in of_class["rulings"])


def all_classes(report: dict) -> Iterator[dict]:
    """Of calls, on all communicators."""
    for communicator in report["communicators"]:
        yield from communicator.get("classes", ())


@dataclass(frozen=True)
class Total:
    """What all communicators of a run come to."""

    calls: int  # on communicators that are not native for good, whose calls nobody counts
    own_calls: int
    probe_calls: int  # of those
    account: Account | None
    start_us: float  # of the program's time on rank 0
    waited_us: float  # inside calls

    @property
    def net_us(self) -> float | None:
        """Saved on each rank, all costs taken off, or lost. None: it is not known."""
        return None if self._why_unknown else self.account.net_us - self.start_us - self.waited_us

    @property
    def times_faster(self) -> float | None:
        return None if self.net_us is None else 1 + self.net_us / self.account.took_us

    @property
    def faster(self) -> bool | None:
        """Than the MPI library's own, by more than the error. None: as fast, or it is not known."""
        if self.times_faster is None or abs(self.times_faster - 1) <= self._error:
            return None
        return self.times_faster > 1

    @property
    def verdict(self) -> str:
        """Against the MPI library's own, net of all that mutirao cost."""
        if self._why_unknown:
            return NOT_KNOWN + self._why_unknown
        if self.faster is None:
            return AS_FAST
        if self.faster:
            return (f"{_with_error(self.times_faster, self._error)} times faster in collectives,"
                    f" {duration(self.net_us)} saved on each rank (measured, net of what it cost)")
        return f"{duration(-self.net_us)} slower on each rank (measured, net of what it cost)"

    @property
    def line(self) -> str:
        """The verdict, and how many calls ran by what. Empty: there was no call that mutirao handles."""
        of_all = f"of {counted(self.calls, 'collective call')}"
        if self.own_calls > self.probe_calls:
            probes = f", {self.probe_calls} of them on probe" if self.probe_calls else ""
            return f"{self.verdict}; {self.own_calls} {of_all} ran by its algorithms{probes}"
        if self.own_calls:
            return (f"{self.calls - self.own_calls} {of_all} ran natively, by the MPI library;"
                    f" {self.tried_out}")
        if not self.calls:
            return ""
        which = "the 1 collective call" if self.calls == 1 else f"all {self.calls} collective calls"
        return f"{which} ran natively, by the MPI library"

    @property
    def tried_out(self) -> str:
        """What became of calls that were only tried out."""
        lost_us = self.account.probes_us if self.account else 0
        longer = f", which took {duration(lost_us)} longer" if lost_us > 0 else ""
        return f"{self.own_calls} tried out algorithms of mutirao's{longer}"

    @property
    def _error(self) -> float:
        """Of times_faster."""
        return max(self.account.error_us / self.account.took_us, _LEAST_ERROR)

    @property
    def _why_unknown(self) -> str:
        if self.account is None:
            return "nothing was compared with the MPI library's own"
        if self.account.took_us <= 0:
            return "no calls were measured"
        unknown = self.account.unknown_calls
        if unknown > _MOST_UNKNOWN_SHARE * (self.own_calls - self.probe_calls):
            return f"of {unknown} calls nothing says what the MPI library's own would have taken"
        return ""


def total_of(report: dict) -> Total:
    communicators = report["communicators"]
    ruled = [of_class for each in communicators if each["state"] == "mutirao"
             for of_class in each.get("classes", ())]
    forgotten = report.get("forgotten") or {}
    start = report.get("start") or {}
    return Total(forgotten.get("calls", 0)
                 + sum(each["calls"] for each in communicators if each["state"] != "native"),
                 forgotten.get("own_calls", 0) + own_calls(ruled),
                 forgotten.get("probe_calls", 0) + probe_calls(ruled), account_of([forgotten, *ruled]),
                 start_us(start),
                 1000 * (forgotten.get("waited_ms", 0)
                         + sum(each["adaptation"][name] for each in communicators
                               for name in ("waited_ms", "early_waited_ms", "adapting_ms"))))


def start_us(start: dict) -> float:
    return 1000 * sum(start.get(part, 0) for part in START_PARTS)


def _with_error(value: float, error: float) -> str:
    """Two digits of the error, and as many decimals of the value."""
    decimals = 1 if error >= 0.1 else 2
    return f"{value:.{decimals}f} ± {error:.{decimals}f}"
