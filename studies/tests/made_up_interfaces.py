"""A result of the study of interfaces made up for the tests of what is made of it."""

from made_up import circumstances

NAMES = {"sockets": ("TCP sockets", "Sockets"), "via": ("VIA on libfabric", "libVIP"),
         "pvm": ("PVM 3.4", "PVM"), "lam": ("LAM/MPI 7.1", "MPI"), "openmpi-5": ("Open MPI 5.0.0", "")}
MESSAGE_BYTES = {10: 128, 25: 653, 50: 2528, 100: 10028}


def interfaces_result(return_s, workers=(2, 4, 8, 16), sides=(10, 25, 50, 100), names=NAMES):
    """`return_s` of (name, workers, side)."""
    def cell(name, count, side):
        messages = 2 * (800 // side) ** 2 + 2 * count
        each = return_s(name, count, side)
        return {"workers": count, "side": side, "return_s": [each, each * 3, each / 2],
                "launch_s": [0.25] * 3, "computed_s": [each / 4] * 3,
                "message_bytes": MESSAGE_BYTES[side], "messages": messages,
                "bytes": messages * MESSAGE_BYTES[side]}

    def killed(name):
        if name in ("lam", "openmpi-5"):
            return {"goes_on": False, "exit_code": 137, "said": "killed", "whole_s": 1.5}
        return {"goes_on": True, "noticed_ms": 1.25, "gone": 1}

    return {**circumstances("interfaces", "openmpi-5", "mpich-5"),
            "plan": {"workers": list(workers), "sides": list(sides), "repeat": 3, "points": 800,
                     "iterations": 1000},
            "network": None, "hosts": 1, "only": [], "left_out": [{"title": "gRPC", "reason": "not built: run it"}],
            "transports": [
                {"name": name, "title": NAMES[name][0], "in_paper": NAMES[name][1],
                 "killed": killed(name),
                 "cells": [cell(name, count, side) for side in sides for count in workers]}
                for name in names],
            "image": {"sha256": "ab" * 32, "png_base64": "iVBORw0KGgo="},
            "socket_overhead": [{"workers": 4, "message_bytes": 128, "exchanges": 9, "ratio": 1.02,
                                 "bare_us": [4.0], "transport_us": [4.08]}],
            "paper": {"citation": "cited", "differences": ["one difference"],
                      "table_2_s": {"Sockets": 3.754826}}}
