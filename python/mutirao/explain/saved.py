"""What mutirao saved a program, or cost it, as its report tells (src/mpi/account/report.cpp): only what was measured, net
of probes, of the start, and of what calls waited for."""

from dataclasses import dataclass

from mutirao.base.units import duration

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


def account_of(told: dict) -> Account | None:
    """Of a class, or of all. None: nothing was compared with the MPI library's own."""
    account = told.get("account")
    return Account(**{name: account[name] for name in Account.__dataclass_fields__}) if account else None


def own_calls(of_class: dict) -> int:
    """That ran by algorithms of mutirao's, on probe or not."""
    return (of_class.get("forgotten_calls", 0) + probe_calls(of_class)
            + sum(ruling["calls"] for ruling in of_class["rulings"]))


def probe_calls(of_class: dict) -> int:
    """Of those, on probe; as far as they are remembered."""
    return sum(ruling.get("probe_calls", 0) for ruling in of_class["rulings"])


def total_of(report: dict) -> dict:
    """What all communicators of a run come to, net of all that mutirao cost, in the words of the library; where it says
    nothing, nothing."""
    return {"calls": 0, "own_calls": 0, "line": "", "net_us": None, "faster": None, **(report.get("total") or {})}


def start_us(start: dict) -> float:
    return 1000 * sum(start.get(part, 0) for part in START_PARTS)
