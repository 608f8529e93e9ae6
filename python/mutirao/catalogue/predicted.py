"""What mutirao-core predicts of a collective's algorithms on a network, where nothing runs. A prediction is what JSON
has of one length and root: all candidates, fastest first, beside the bounds that none can be predicted to be under."""

import math
import statistics
from collections.abc import Sequence

from mutirao.base.errors import UsageError
from mutirao.base.tables import BEST, BOUND, text_table
from mutirao.base.units import ms, ratio
from mutirao.catalogue import core_tool
from mutirao.catalogue.collectives import COLLECTIVES, Collective
from mutirao.lab.network import HostNetwork, first_hosts, host_of_each

NATIVE, OWN_CHOICE = "native", "auto"
# As the library assumes of hosts, which it does not measure.
_ASSUMED_COSTS = {"send_overhead_us": 10.0, "receive_overhead_us": 10.0, "port_bytes_per_us": 1000.0}
_COLUMNS = ("in ms", "predicted", "x bound", "x native")
_BEST_COLUMNS = ("in ms", "best", "predicted", "latency", "bound", "x bound")


def predict_all(collective: Collective, network: HostNetwork, ranks: int, lengths: Sequence[int],
                roots: Sequence[int], names: Sequence[str]) -> list[dict]:
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
                root: int, candidates: Sequence[str]) -> dict:
    """A time is None where the candidate cannot run here, a bound where some rank cannot be reached, the best where
    nothing is considered, as on one host."""
    answer = core_tool.predict(collective.name, network, root, length_bytes, candidates, per_host,
                               **_ASSUMED_COSTS)
    bounds_ms = {f"{name}_ms": _quotient(answer[f"{name}_us"], 1000)
                 for name in ("bound", "latency_bound", "bandwidth_bound")}
    times_ms = {row["candidate"]: _quotient(row["predicted_us"], 1000) for row in answer["candidates"]}
    rows = [{"name": name, "predicted_ms": time_ms, "to_bound": _quotient(time_ms, bounds_ms["bound_ms"]),
             "to_native": _quotient(time_ms, times_ms.get(NATIVE))}
            for name, time_ms in sorted(times_ms.items(), key=lambda each: math.inf if each[1] is None else each[1])]
    return {"collective": collective.name, "length_bytes": length_bytes, "root": root, **bounds_ms,
            "best": rows[0]["name"] if rows and rows[0]["predicted_ms"] is not None else None,
            "chosen": answer["decision"]["candidate"], "reason": answer["decision"]["reason"], "candidates": rows}


def _quotient(value: float | None, by: float | None) -> float | None:
    return value / by if value is not None and by else None


def table(prediction: dict) -> str:
    cells = [("lower bound", ms(prediction["bound_ms"]), "", "")] if prediction["bound_ms"] else []
    styles = {0: BOUND} if cells else {}
    for row in prediction["candidates"]:
        if row["name"] == prediction["chosen"]:
            styles[len(cells)] = BEST
        cells.append((row["name"], "none" if row["predicted_ms"] is None else ms(row["predicted_ms"]),
                      ratio(row["to_bound"]), "" if row["name"] == NATIVE else ratio(row["to_native"])))
    title = COLLECTIVES[prediction["collective"]].calls(prediction["length_bytes"], prediction["root"])
    lines = [text_table(_COLUMNS, cells, f"{title}, predicted", styles),
             f"chosen: {prediction['chosen']}, {prediction['reason']}"]
    if prediction["best"] and prediction["bound_ms"]:
        lines.append(f"best: {prediction['best']}, {ratio(prediction['candidates'][0]['to_bound'])} x the lower bound"
                     f" (by latency {ms(prediction['latency_bound_ms'])} ms, by bandwidth"
                     f" {ms(prediction['bandwidth_bound_ms'])} ms)")
    return "\n".join(lines)


def median_to_bound(predictions: Sequence[dict]) -> float | None:
    """Of the best candidates."""
    known = [each["candidates"][0]["to_bound"] for each in predictions if each["best"] and each["bound_ms"]]
    return statistics.median(known) if known else None


def best_table(predictions: Sequence[dict], network_name: str) -> str:
    """One line for each prediction: its best candidate against the lower bound."""
    cells = []
    for each in predictions:
        best = each["candidates"][0] if each["best"] else {"predicted_ms": None, "to_bound": None}
        cells.append((COLLECTIVES[each["collective"]].calls(each["length_bytes"], each["root"]), each["best"] or "none",
                      ms(best["predicted_ms"]), ms(each["latency_bound_ms"]), ms(each["bound_ms"]),
                      ratio(best["to_bound"])))
    median = ratio(median_to_bound(predictions)) or "unknown"
    return (f"{text_table(_BEST_COLUMNS, cells, f'{network_name}, predicted')}\n"
            f"median: {median} x the lower bound")
