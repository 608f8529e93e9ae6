"""All that is known of a run as text: its program, its end and what mutirao's start cost it; then, communicator by
communicator, the network, each ruling, each candidate."""

from collections.abc import Iterator, Sequence

from mutirao.base.units import counted, duration
from mutirao.catalogue.predicted import NATIVE
from mutirao.explain.choices import choices_of, class_title, measured, predicted_us
from mutirao.explain.saved import AS_FAST, START_PARTS, account_of, own_calls, start_us, total_of
from mutirao.explain.trees import host_name, trees_shown


def forgotten(report: dict) -> Iterator[str]:
    if count := report.get("forgotten_communicators"):
        yield f"of {counted(count, 'more communicator')} only the sums are kept"


def head(report: dict, with_verdict: bool = False) -> Iterator[str]:
    """What ran, what came of it if asked, and what its start cost."""
    if report.get("no_report"):
        yield _run(report)
        yield "It ended before MPI_Finalize, so mutirao could write no report of it."
        return
    if with_verdict and (line := total_of(report)["line"]):
        yield f"mutirao: {line}"
    yield f"mutirao {report.get('mutirao', '?')} over {_first_line(report.get('mpi', '?'))}"
    if report.get("program"):
        yield f"program: {_run(report)}"
    if report.get("running"):
        yield "The job is running: this is how it stands now."
    yield from _start(report.get("start") or {})


def _run(run: dict) -> str:
    """The program, when it ended, and how if that was no success."""
    when = run.get("written", "").replace("T", " ").replace("Z", " UTC")
    failed = f", exit code {run['exit_code']}" if run.get("exit_code") else ""
    return f"{run.get('program', '?')}; {when}{failed}"


def _first_line(text: str) -> str:
    """MPI libraries describe themselves in several lines or clauses."""
    return " ".join(text.splitlines()[0].split(",")[0].split()) if text else "an unknown MPI"


def _start(start: dict) -> Iterator[str]:
    """What the start cost the program, or why the MPI library takes every call."""
    if start.get("native_reason"):
        yield f"All calls are left to the MPI library: {start['native_reason']}"
    elif start:
        parts = [f"{duration(start[name] * 1000)} {what}" for name, what in START_PARTS.items() if start.get(name)]
        yield f"start: {duration(start_us(start))}" + (f": {', '.join(parts)}" if parts else "")
        if start.get("introduced_ms"):
            by = "the launcher" if start.get("by_launcher") else "messages beside the calls"
            yield f"  beside the program: all ranks known here {duration(start['introduced_ms'] * 1000)} after MPI_Init, by {by}"


def in_full(report: dict) -> Iterator[str]:
    for communicator in report["communicators"]:
        yield ""
        yield from all_of(as_far_as_counted(communicator))


def as_far_as_counted(communicator: dict) -> dict:
    """Without the first calls of one that was then left to the MPI library: the others were not counted."""
    classes = communicator.get("classes", ())
    if communicator.get("state") == "native":
        classes = [each for each in classes if each["rulings"]]
    return {**communicator, "classes": classes}


def title(communicator: dict) -> str:
    line = f"{communicator.get('name') or 'communicator'}: {counted(communicator.get('ranks', 0), 'rank')}"
    if hosts := communicator.get("hosts", 0):
        line += f" on {counted(hosts, 'host')}"
    sites = len(set(communicator.get("sites") or ()))
    if sites > 1:
        line += f" in {sites} sites"
    return line + (", over BBR" if communicator.get("bbr") else "")


def who_took_calls(communicator: dict) -> str:
    reason, state = communicator.get("reason"), communicator.get("state")
    if state == "mutirao":
        return f"handled by mutirao: {reason}"
    so_far = "" if state == "native" else " so far"
    return f"left to the MPI library{so_far}: {reason or 'its ranks had not agreed'}"


def about(communicator: dict) -> Iterator[str]:
    """Who took its calls, how it followed its network, and what was known of that."""
    calls = "" if communicator.get("state") == "native" else f"; {counted(communicator.get('calls', 0), 'call')}"
    yield f"  {who_took_calls(communicator)}{calls}"
    if communicator.get("profile"):
        yield f"  profile: {communicator['profile']}"
    yield from _first_ruling(communicator)
    yield from _followed(communicator)


def all_of(communicator: dict) -> Iterator[str]:
    yield title(communicator)
    yield from about(communicator)
    for tree in trees_shown(communicator):
        yield f"  the tree {tree.what}; its links with their one-way latencies:"
        yield from (f"    {line}" for line in tree.lines(communicator))
    for of_class in by_collective(communicator.get("classes", ())):
        yield ""
        yield from _class(of_class)


def _first_ruling(communicator: dict) -> Iterator[str]:
    """From when on it was not the MPI library alone that took the calls."""
    if communicator.get("state") != "mutirao":
        return
    call = communicator.get("first_ruled_call")
    if call is None:
        yield "  no ruling for an algorithm of mutirao's: the MPI library took all calls"
    else:
        after = f"{duration(communicator.get('first_ruled_ms', 0) * 1000)} after MPI_Init"
        before = f"; the MPI library took the {counted(call, 'call')} before" if call else ""
        yield f"  first ruling from call {call + 1} on, {after}{before}"


def _followed(communicator: dict) -> Iterator[str]:
    """How the communicator followed its network while the program ran."""
    adaptation = communicator.get("adaptation") or {}
    mode = adaptation.get("mode", "off")
    if mode == "off":
        return
    if mode.startswith("every:"):
        yield (f"  adapted inside every {mode.removeprefix('every:')}. call: links measured"
               f" {counted(adaptation['checks'], 'time')},"
               f" {duration(adaptation['adapting_ms'] * 1000)} in all")
    else:
        where = "inside its own calls" if mode == "in-band" else "beside the program"
        horizon = adaptation.get("horizon_calls")  # nothing where another rank decides
        told = "" if horizon is None else (f", told {counted(horizon, 'call')} ahead" if horizon
                                           else ", told in the call that they begin with")
        yield (f"  follows its network {where}: {counted(adaptation['epochs'], 'epoch')}{told};"
               f" this rank {_waited(adaptation)}")
    taken_up = adaptation.get("taken_up") or []
    if not taken_up:
        yield "  no change of the network taken up"
    for change in taken_up:
        yield f"  known in call {change['call'] + 1}: {change_line(change, communicator)}"


def _waited(adaptation: dict) -> str:
    waits = adaptation["early_waits"] + adaptation["waits"]
    if not waits:
        return "never waited for one"
    total_ms = adaptation["early_waited_ms"] + adaptation["waited_ms"]
    return (f"waited for one {counted(waits, 'time')}, {adaptation['early_waits']} of them at the start,"
            f" {duration(total_ms * 1000)} in all")


def change_line(change: dict, communicator: dict) -> str:
    shown = change.get("shown") or []
    parts = [f"{host_name(communicator, link['low'])} - {host_name(communicator, link['high'])}"
             f" {_latency(link['before_us'])} ->"
             f" {_latency(link['after_us'])}" for link in shown]
    if change["links"] > len(shown):
        parts.append(counted(change["links"] - len(shown), "more link"))
    if change["new_tree"]:
        parts.append("a new spanning tree")
    return ", ".join(parts)


def _latency(latency_us: float | None) -> str:
    return "unusable" if latency_us is None else duration(latency_us)


def by_collective(classes: Sequence[dict]) -> list[dict]:
    """Those of a collective together."""
    order = list(dict.fromkeys(each["collective"] for each in classes))
    return sorted(classes, key=lambda each: order.index(each["collective"]))


def _class(of_class: dict) -> Iterator[str]:
    """All calls of one collective with one root that are as long, to the next power of two, or of any
    length where ranks do not know of each other's."""
    yield f"  {class_title(of_class)}"
    if of_class["native_calls"]:
        yield f"    {counted(of_class['native_calls'], 'call')} by the MPI library"
    if of_class.get("forgotten_rulings"):
        yield f"    {counted(of_class['forgotten_rulings'], 'ruling')} after the first not remembered"
    choices = choices_of(of_class)
    for choice, later in zip(choices, [*choices[1:], None]):
        yield f"    {_held(choice) if of_class['rulings'] else 'chosen: native'}"
        if choice.get("reason"):
            yield f"      why: {choice['reason']}"
        if later is None and not choice.get("settled", True):
            yield "      not settled: others were still to be tried"
        if later is None or predicted_us(choice).keys() != predicted_us(later).keys():
            yield from _candidates(choice)
    yield from _saved(of_class)


def _held(ruling: dict) -> str:
    line = f"from call {ruling['first_call'] + 1} on: {ruling['chosen']}"
    if ruling["chosen"] != NATIVE:  # those calls are the MPI library's
        line += f", {counted(ruling['calls'], 'call')}"
    if ruling.get("probe_calls"):
        line += f", beside {counted(ruling['probe_calls'], 'call')} on probe"
    return line


def _candidates(ruling: dict) -> Iterator[str]:
    """Each with what it was predicted to take, and what its calls took where they were tried."""
    if ruling.get("bound_us"):
        yield f"      no algorithm can be predicted under {duration(ruling['bound_us'])}"
    predicted, took = predicted_us(ruling), measured(ruling)
    native_us = predicted.get(NATIVE)
    width = max(map(len, predicted), default=0)
    for name, us in predicted.items():
        line = f"      {name:<{width}}  predicted {duration(us):>9}"
        if native_us and us and name != NATIVE:
            line += f"  {us / native_us:.2f} x native"
        yield line + _took(took.get(name), took.get(NATIVE))


def _took(row: dict | None, native: dict | None) -> str:
    if row is None:
        return ""
    text = (f"  measured {duration(row['median_us'])} ({duration(row['low_us'])} to"
            f" {duration(row['high_us'])})")
    if native and row is not native:
        text += f", {row['median_us'] / native['median_us']:.2f} x native"
    return text


def _saved(of_class: dict) -> Iterator[str]:
    account = account_of(of_class)
    if account is None:
        return
    if account.clear and not own_calls(of_class):
        longer = "shorter" if account.net_us >= 0 else "longer"
        yield f"    ranks wait {longer} in these since other kinds of calls changed: {account} on each rank"
    elif account.clear:
        yield f"    {account.verb} on each rank, measured, net of probes: {account}"
    elif account.error_us:
        yield f"    {AS_FAST}, measured, net of probes: {account} on each rank"
    if account.unknown_calls:
        yield (f"    of {counted(account.unknown_calls, 'call')} nothing says what the MPI library's own would"
               " have taken")
