"""Which algorithms are worth a run by force: what mutirao-core has for the ranks and the network of their hosts. Of
those that do the very same there only one is run, and of an algorithm's pipelines two."""

import json
import math
import re
from collections.abc import Iterator, Sequence

from mutirao.base.errors import Failure, UsageError
from mutirao.catalogue import core_tool
from mutirao.catalogue.predicted import NATIVE
from mutirao.lab.network import HostNetwork, first_hosts

ONE_HOST = HostNetwork(["0"], ["0"], [[0.0]])
# A pipeline shows what it is worth from about 8 segments; a second one is four times as fine.
_SEGMENTS = (8, 32)
_CUT = re.compile(r"segment_bytes=(\d+)")


def arms_for(collective: str, network: HostNetwork, ranks: int, length_bytes: int, root: int) -> list[str]:
    """Candidates, as the setting of the collective takes them; the first is predicted to be the best."""
    per_host = math.ceil(ranks / network.host_count)
    with core_tool.network_file(first_hosts(network, ranks, per_host)) as path:
        call = ["--network", str(path), "--ranks", str(ranks), "--ranks-per-host", str(per_host),
                "--root", str(root), "--bytes", str(length_bytes)]
        listed = [row["candidate"] for row in core_tool.ask_json("predict", collective, *call)["candidates"]]
        first_of: dict[str, str] = {}
        for name in coarse([name for name in listed if name != NATIVE], length_bytes):
            first_of.setdefault(_schedules(f"{collective}/{name}", call), name)
    return list(first_of.values())


def coarse(names: Sequence[str], length_bytes: int) -> Iterator[str]:
    """All that run in one piece, and of each algorithm's pipelines those of its first parameters, in the coarsest
    segments that make 8 and 32."""
    sizes = sorted({int(size) for name in names for size in _CUT.findall(name)}, reverse=True)
    wanted = [next((size for size in sizes if size * count <= length_bytes), None) for count in _SEGMENTS]
    first: dict[str, str] = {}
    for name in names:
        cut = _CUT.search(name)
        whole = _CUT.sub("", name)
        if cut is None or (int(cut[1]) in wanted and first.setdefault(name.partition(":")[0], whole) == whole):
            yield name


def _schedules(name: str, call: Sequence[str]) -> str:
    """The same for what does the same; what is made of native calls has none."""
    try:
        return json.dumps(core_tool.ask_json("show", name, *call, "--format", "json")["schedules"])
    except (Failure, UsageError):
        return name
