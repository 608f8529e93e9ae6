"""What mutirao-core predicts of a collective's algorithms on a network, where nothing runs."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from mutirao.base.errors import UsageError
from mutirao.base.tables import BEST, BOUND, text_table
from mutirao.base.units import ms, ratio
from mutirao.catalogue import core_tool
from mutirao.catalogue.collectives import Collective
from mutirao.lab.network import HostNetwork, first_hosts, host_of_each

NATIVE, OWN_CHOICE = "native", "auto"
# As the library assumes of hosts, which it does not measure.
_ASSUMED_COSTS = {"send_overhead_us": 10.0, "receive_overhead_us": 10.0, "port_bytes_per_us": 1000.0}
_COLUMNS = ("in ms", "predicted", "x bound", "x native")
_BEST_COLUMNS = ("in ms", "best", "predicted", "latency", "bound", "x bound")


@dataclass(frozen=True)
class Prediction:
    """Of all candidates at one length and root, fastest first."""

    collective: Collective
    length_bytes: int
    root: int
    latency_bound_ms: float | None  # None: some rank cannot be reached
    bandwidth_bound_ms: float | None
    bound_ms: float | None  # no algorithm is predicted to be faster
    chosen: str
    reason: str
    predicted_ms: dict[str, float | None]  # by candidate; None: it cannot run here

    @property
    def best(self) -> str | None:
        """None: nothing is considered, as on one host."""
        name = next(iter(self.predicted_ms), None)
        return None if name is None or self.predicted_ms[name] is None else name

    def to_bound(self, name: str) -> float | None:
        return _quotient(self.predicted_ms[name], self.bound_ms)

    def to_native(self, name: str) -> float | None:
        return _quotient(self.predicted_ms[name], self.predicted_ms.get(NATIVE))

    def to_dict(self) -> dict:
        return {"length_bytes": self.length_bytes, "root": self.root, "bound_ms": self.bound_ms,
                "latency_bound_ms": self.latency_bound_ms,
                "bandwidth_bound_ms": self.bandwidth_bound_ms, "best": self.best,
                "chosen": self.chosen, "reason": self.reason,
                "candidates": [{"name": name, "predicted_ms": time_ms,
                                "to_bound": self.to_bound(name), "to_native": self.to_native(name)}
                               for name, time_ms in self.predicted_ms.items()]}

    def table(self) -> str:
        cells = [("lower bound", ms(self.bound_ms), "", "")] if self.bound_ms else []
        styles = {0: BOUND} if cells else {}
        for name, time_ms in self.predicted_ms.items():
            if name == self.chosen:
                styles[len(cells)] = BEST
            cells.append((name, "none" if time_ms is None else ms(time_ms),
                          ratio(self.to_bound(name)),
                          "" if name == NATIVE else ratio(self.to_native(name))))
        title = (self.collective.call(self.length_bytes, self.root) or self.collective.name)
        lines = [text_table(_COLUMNS, cells, f"{title}, predicted", styles),
                 f"chosen: {self.chosen}, {self.reason}"]
        if self.best and self.bound_ms:
            lines.append(f"best: {self.best}, {ratio(self.to_bound(self.best))} x the lower bound"
                         f" (by latency {ms(self.latency_bound_ms)} ms, by bandwidth"
                         f" {ms(self.bandwidth_bound_ms)} ms)")
        return "\n".join(lines)


def _quotient(value: float | None, by: float | None) -> float | None:
    return value / by if value is not None and by else None


def predict_all(collective: Collective, network: HostNetwork, ranks: int, lengths: Sequence[int],
                roots: Sequence[int], names: Sequence[str]) -> list[Prediction]:
    """Of the candidates named, beside the native one; without names of all that are considered."""
    per_host = math.ceil(ranks / network.host_count)
    hosts = host_of_each(ranks, network.host_count)
    if hosts != [rank // per_host for rank in range(ranks)]:
        raise UsageError(f"-n {ranks}: predictions are for at most one rank on each of"
                         f" {network.host_count} hosts, or as many on each")
    used = first_hosts(network, ranks, per_host)
    candidates = [name for name in names if name not in (NATIVE, OWN_CHOICE)]
    if candidates:
        candidates.append(NATIVE)
    return [_prediction(collective, used, per_host, length, root, candidates)
            for length in lengths for root in roots]


def _prediction(collective: Collective, network: HostNetwork, per_host: int, length_bytes: int,
                root: int, candidates: Sequence[str]) -> Prediction:
    answer = core_tool.predict(collective.name, network, root, length_bytes, candidates, per_host,
                               **_ASSUMED_COSTS)
    times_ms = {row["candidate"]: None if row["predicted_us"] is None
                else row["predicted_us"] / 1000 for row in answer["candidates"]}
    fastest_first = sorted(times_ms, key=lambda name: math.inf if times_ms[name] is None
                           else times_ms[name])
    bounds_ms = [None if answer[name] is None else answer[name] / 1000
                 for name in ("latency_bound_us", "bandwidth_bound_us", "bound_us")]
    return Prediction(collective, length_bytes, root, *bounds_ms,
                      answer["decision"]["candidate"], answer["decision"]["reason"],
                      {name: times_ms[name] for name in fastest_first})


def median_to_bound(predictions: Sequence[Prediction]) -> float | None:
    """Of the best candidates."""
    known = [each.to_bound(each.best) for each in predictions if each.best and each.bound_ms]
    return statistics.median(known) if known else None


def bests_to_dict(predictions: Sequence[Prediction]) -> dict:
    return {"median_to_bound": median_to_bound(predictions),
            "predictions": [{"collective": each.collective.name, **each.to_dict()}
                            for each in predictions]}


def best_table(predictions: Sequence[Prediction], network_name: str) -> str:
    """One line for each prediction: its best candidate against the lower bound."""
    cells = [(each.collective.calls(each.length_bytes, each.root), each.best or "none",
              ms(each.predicted_ms[each.best]) if each.best else "", ms(each.latency_bound_ms),
              ms(each.bound_ms), ratio(each.to_bound(each.best)) if each.best else "")
             for each in predictions]
    median = ratio(median_to_bound(predictions)) or "unknown"
    return (f"{text_table(_BEST_COLUMNS, cells, f'{network_name}, predicted')}\n"
            f"median: {median} x the lower bound")
