"""A dump of an agent as mutirao-agent tells it, made up: host 0 of six in two sites, of which host 5
cannot be reached, and link 1-3 has got worse."""

NEAR_US, FAR_US, WORSE_US = 500.0, 20_000.0, 180_000.0
STARTED_S = 1_700_000_000.0
TREE = [[0, 1], [0, 2], [0, 3], [3, 4]]


def agent_dump(**changed):
    def latency(a, b):
        if a == b:
            return 0.0
        if 5 in (a, b):
            return None
        if {a, b} == {1, 3}:
            return WORSE_US
        return NEAR_US + a + b if (a < 3) == (b < 3) else FAR_US + a + b

    latency_us = [[latency(a, b) for b in range(6)] for a in range(6)]
    links = [{"host": other, "channel_up": other != 5, "over_tcp": False,
              "announced_us": latency_us[0][other],
              "latency_us": None if other == 5 else {
                  "value": latency_us[0][other] * 1.02, "error": 31.5, "forecaster": "sliding_mean"},
              "bandwidth_bytes_per_us": None, "tcp_connect_us": None,
              "recent_us": [500.0 + 10 * i for i in range(8)] if other < 3 else []}
             for other in range(1, 6)]
    status = {"time_s": STARTED_S + 200.0, "started_s": STARTED_S, "processor_s": 0.5,
              "resident_bytes": 9 << 20, "series_stopped": "", "links": links,
              "events": [{"time_s": STARTED_S + 80.0, "text": "host 5 is out of reach"},
                         {"time_s": STARTED_S + 197.0, "text": "link 1-3: 20.0 ms, now 180 ms"}],
              "sensors": [{"name": "available_processor_share", "value": 0.97, "forecast": None},
                          {"name": "free_memory_bytes", "value": 3.5 * (1 << 30),
                           "forecast": None}],
              "counters": {"probes_sent": 812, "probes_late": 3, "udp_bytes_sent": 200_000,
                           "udp_bytes_received": 180_000, "tcp_bytes_sent": 50_000,
                           "tcp_bytes_received": 45_000, "frames_accepted": 1204,
                           "rejected_forged": 2, "rejected_junk": 5}}
    network = {"version": 7, "version_hash": "00ff", "latency_us": latency_us,
               "last_known_us": latency_us, "tree": TREE}
    complete = {"number": 7, "hash": "00ff", "latency_us": latency_us, "tree": TREE}
    return {"name": "mutirao-0-daemon", "pid": 77, "alive": True, "self": 0, "host_count": 6,
            "job": "0", "changes": 9, "network": network, "complete": complete,
            "status": {**status, **changed}}
