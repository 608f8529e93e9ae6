"""Wrong input: one line that names it and what is near, and exit code 2."""

import argparse
import re

import pytest

from mutirao.cli import cli, studies
from mutirao.measure.words import place_of
from shared import refused

# Each row: the words, and what the line must name.
WRONG = [
    (["rnu"], ["'rnu'", "run"]),
    (["--foo"], ["unknown argument '--foo'"]),
    (["run"], ["no program"]),
    (["run", "no-such-program"], ["no-such-program"]),
    (["run", "--mpi", "openmpi5", "true"], ["'openmpi5'", "openmpi-5"]),
    (["run", "-n", "0", "true"], ["-n", "'0'", "1 to 999999"]),
    (["run", "-n"], ["-n", "expected one argument"]),
    (["run", "--hostfile", "no-such-file", "true"], ["--hostfile", "no-such-file"]),
    (["run", "--hostfile", "x", "--lab", "six-sites", "true"], ["--hostfile", "--lab"]),
    (["run", "--launcher", "mprun", "true"], ["'mprun'", "mpirun"]),
    (["run", "--launcher", "/no/such/launcher", "true"], ["/no/such/launcher"]),
    (["run", "--launcher-args", "--verbose", "true"], ["--launcher-args", "--"]),
    (["run", "--report", "/no/such/folder/r.json", "true"], ["/no/such/folder", "report"]),
    (["run", "--mpi", "/no/such/folder", "true"], ["/no/such/folder", "mpicc"]),
    (["run", "/"], ["'/'", "folder"]),
    (["compare"], ["compare: no program"]),
    (["compare", "--runs", "0", "true"], ["--runs", "1", "not 0"]),
    (["compare", "--runs", "some", "true"], ["--runs", "a whole number, not 'some'"]),
    (["compare", "--warmup", "-1", "true"], ["--warmup", "-1"]),
    (["compare", "--warm", "--set", "profile=off", "true"], ["--warm", "profile is off"]),
    (["compare", "--show-output", "--json", "true"], ["--show-output", "--json"]),
    (["compare", "--native", "true"], ["'--native'"]),
    (["doctor", "--build", "/no/such/mpicc"], ["/no/such/mpicc"]),
    (["doctor", "--build", "openmpi5"], ["'openmpi5'", "openmpi-5"]),
    (["env", "--set", "report=/no/such/folder/r.json"], ["report", "/no/such/folder"]),
    (["show", "--ranks", "4"], ["--ranks", "COLLECTIVE/ALGORITHM"]),
    (["show", "setings"], ["'setings'", "did you mean settings"]),
    (["run", "--lab", "six-sites", "--tcp", "tunde", "true"], ["'tunde'", "tuned"]),
    (["run", "--tcp", "tuned", "true"], ["--lab"]),
    (["run", "--nativ", "true"], ["--nativ", "--native"]),
    (["run", "--lab", "six-site", "true"], ["'six-site'", "six-sites", ".toml or CSV file, or a lab that is up"]),
    (["run", "--set", "reproducibility=bitwise", "--set", "allreduce=ring", "true"],
     ["allreduce: ring", "as reproducibility=bitwise asks"]),
    (["run", "--set", "broadcast", "true"], ["broadcast", "NAME=VALUE"]),
    (["run", "--set", "brodcast=flat", "true"], ["brodcast", "broadcast"]),
    (["run", "--set", "broadcast=binomail", "true"], ["binomail", "binomial"]),
    (["run", "--set", "broadcast=chain:segment_byte=9", "true"], ["segment_byte"]),
    (["run", "--set", "agent_interval_ms=0", "true"], ["0", "20..60000"]),
    (["run", "--set", "enabled=perhaps", "true"], ["perhaps"]),
    (["show", "broadcast/binomail"], ["binomail", "binomial"]),
    (["show", "brodcast/tree"], ["brodcast", "broadcast"]),
    (["show", "broadcast/tree", "--network", "five-sites"], ["'five-sites'", "six-sites"]),
    (["show", "broadcast/tree", "--network", "six-sites", "--ranks", "25"], ["25", "24"]),
    (["show", "broadcast/flat", "--ranks", "4", "--root", "4"], ["root", "3"]),
    (["show", "broadcast/flat", "--format", "svg", "--json"], ["--json", "svg"]),
    (["show", "scan/native", "--root", "1"], ["--root 1", "scan has no root"]),
    (["show", "brodcast"], ["'brodcast'", "broadcast", "algorithms", "COLLECTIVE/ALGORITHM"]),
    (["bench", "alreduce"], ["unknown collective 'alreduce'", "allreduce"]),
    (["bench", "scan", "--pause-s", "x"], ["--pause-s", "a number, not 'x'"]),
    (["bench", "scan", "--lab", "six-site"], ["'six-site'", "or a .toml or CSV file)"]),
    (["bench", "allreduce", "--roots", "1"], ["--roots 1", "allreduce has no root"]),
    (["bench", "barrier", "--bytes", "8"], ["--bytes 8", "no message"]),
    (["bench", "scan", "--set", "scan=native"], ["--only", "scan"]),
    (["bench", "scan", "--predicted"], ["--lab"]),
    (["bench", "scan", "--rounds", "3"], ["--rounds", "--choice"]),
    (["bench", "scan", "--choice", "--set", "start=wait"], ["--choice", "start"]),
    (["bench", "scan", "--choice", "--set", "scan=native"], ["--choice", "scan"]),
    (["bench", "scan", "--choice", "--only", "linaer"], ["linaer", "linear"]),
    (["bench", "scan", "--choice", "--rounds", "0"], ["--rounds", "1"]),
    (["bench", "scan", "--choice", "--predicted", "--lab", "six-sites"], ["--choice"]),
    (["bench", "--guidelines", "--rounds", "5"], ["--rounds 5", "6"]),
    (["bench", "--guidelines", "--bytes", "0"], ["--bytes 0"]),
    (["bench", "all"], ["--predicted"]),
    (["bench", "all", "--predicted", "--lab", "six-sites", "--only", "flat"], ["--only"]),
    (["bench", "scan", "--predicted", "--lab", "six-sites", "--tcp", "tuned"], ["--tcp"]),
    (["bench", "broadcast", "--predicted", "--lab", "six-sites", "-n", "25"], ["-n 25", "24"]),
    (["tune", "--collective", "brodcast"], ["'brodcast'", "broadcast"]),
    (["tune", "--set", "profile=off"], ["profile", "off"]),
    (["tune", "--set", "allreduce=ring"], ["allreduce", "forces"]),
    (["tune", "--jobs", "0"], ["--jobs", "0"]),
    (["tune", "--tcp", "tuned"], ["--lab"]),
    (["profile", "import", "no-such-file"], ["no-such-file"]),
    (["profile", "export", "--format", "json", "--fabric", "x"], ["--fabric", "a whole number, not 'x'"]),
    (["study", "six-sites", "--set", "agent=off"], ["six-sites", "--set"]),
    (["study", "reaction", "--set", "agent=inband"], ["inband", "in-band"]),
    (["study", "reaction", "--lab", "six-sites"], ["reaction", "--lab"]),
    (["study", "interfaces", "--only", "socket,pvm"], ["'socket'", "sockets"]),
    (["study", "allgather", "--only", "simulate"], ["'simulate'", "simulated"]),
    (["study", "all", "--trips", "9"], ["all", "--trips"]),
    (["study", "ping-pong", "--trips", "1"], ["--trips", "from 2", "'1'"]),
    (["study", "ping-pong", "--mpi", "mpich-4"], ["mpich-4", "mpich-5"]),
    (["study", "ping-pong", "--lab", "two-hosts"], ["ping-pong", "--lab"]),
    (["study", "loops", "--only", "sgd/C"], ["'sgd/C'", "sgd/A"]),
    (["study", "loops", "--pairs", "12-4"], ["--pairs", "4-12", "'12-4'"]),
    (["study", "loops", "--steps-scale", "0"], ["--steps-scale", "from 0.1", "'0'"]),
    (["study", "reaction", "--seeds", "0123"], ["reaction", "--seeds"]),
    (["study"], ["study is missing", "ping-pong"]),
    (["study", "demo", "--output", "/dev/null"], ["/dev/null", "no folder"]),
    (["help", "rnu"], ["'rnu'", "run"]),
    (["run", ""], ["no program"]),
    (["run", "--lab", "", "true"], ["--lab", "expected"]),
    (["run", "--native=1", "true"], ["--native", "'1'"]),
    (["run", "--native", "--report", "r.json", "true"], ["--report", "--native"]),
    (["run", "--set", "=3", "true"], ["NAME=VALUE"]),
    (["run", "--set", "MUTIRAO_BROADCAST=flat", "true"], ["MUTIRAO_", "broadcast?"]),
    (["run", "--set", "series=/no/such/folder/s", "true"], ["series", "/no/such/folder"]),
    (["run", "--set", "profile=/", "true"], ["profile", "folder"]),
    (["run", "-n", "２", "true"], ["'２'"]),
    (["run", "--launcher", "/etc/passwd", "true"], ["/etc/passwd", "no program"]),
    (["lab"], ["action is missing", "up, down"]),
    (["explain", "/"], ["/ cannot be read", "directory"]),
    (["explain", "--page", "no-such-file"], ["no-such-file"]),
    (["explain", "-o", "page.html"], ["--output", "--page"]),
    (["show", "broadcast", "--format", "svg"], ["--format", "COLLECTIVE/ALGORITHM"]),
    (["show", "broadcast/tree:tree=mst"], ["'tree'", "kind"]),
    (["show", "broadcast/flat", "--bytes", "1KB"], ["'1KB'", "64KiB"]),
    (["show", "broadcast/flat", "--steps", "--json"], ["--steps", "json"]),
    (["show", "broadcast/flat", "-o", "/no/such/folder/f"], ["/no/such/folder/f", "written"]),
    (["show", "settings", "broadcast"], ["'broadcast'"]),
    (["bench"], ["one collective", "allreduce"]),
    (["bench", "scan", "barrier"], ["one collective", "--choice"]),
    (["bench", "scan", "--with", "native"], ["--with", "--guidelines"]),
    (["bench", "scan", "--guidelines", "--roots", "0"], ["--roots", "--guidelines"]),
    (["bench", "scan", "--guidelines", "--choice"], ["--guidelines", "--choice", "not allowed"]),
    (["bench", "scan", "--repeat", "99999999999"], ["--repeat", "1000000"]),
    (["tune", "--set", "profile=/no/such/folder/p"], ["/no/such/folder"]),
    (["agent", "strat"], ["'strat'", "start"]),
    (["agent", "start"], ["--hosts, --key are missing"]),
    (["agent", "key", "/no/such/folder/k"], ["/no/such/folder/k"]),
    (["agent", "start", "--host", "hosts.txt"], ["'--host'", "--hosts"]),
    (["top", "--interval", "nan"], ["--interval", "'nan'"]),
    (["top", "--file", "no-such-file"], ["no-such-file"]),
    (["replay", "three-sites", "--page", "/no/such/folder/f"], ["/no/such/folder"]),
    (["new-algorithm"], ["COLLECTIVE, NAME are missing"]),
    (["new-algorithm", "allreduce", "mine", "--root", "/tmp"], ["--root /tmp", "no checkout", "it has no catalogue"]),
]
# Contents of files that are none of what a command reads, and the commands.
ODD = {"deep.json": "[" * 100_000, "cut.json": '{"communicators": ', "other.json": '{"a": 1}', "empty.json": ""}
READERS = [["explain"], ["explain", "--page"], ["top", "--once", "--file"], ["profile", "import"], ["profile", "show"],
           ["replay"], ["show", "broadcast/flat", "--network"]]


@pytest.mark.parametrize("words, named", WRONG, ids=[" ".join(words) for words, _ in WRONG])
def test_one_line_and_exit_code_2(typed, words, named):
    answer = typed(*words)
    refused(answer, *named)
    assert answer.stderr.startswith("mutirao: ")


def test_every_command_has_a_row():
    assert set(cli.COMMANDS) <= {words[0] for words, _ in WRONG}


@pytest.mark.parametrize("words", READERS, ids=" ".join)
def test_a_file_of_another_kind_is_named(typed, tmp_path, words):
    for name, content in ODD.items():
        (tmp_path / name).write_text(content)
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "folder.csv").mkdir()
    for name in (*ODD, "binary.csv", "folder.csv"):
        refused(typed(*words, f"./{name}"), name)


@pytest.mark.parametrize("name, content, words, named", [
    ("mutirao.toml", "ranks_per_hots = 3\n", "run true", ["ranks_per_hots", "ranks_per_host"]),
    ("mutirao.toml", "agent_interval_ms = 1\n", "run true", ["agent_interval_ms", "20..60000"]),
    ("mutirao.toml", "ranks_per_host = [3]\n", "run true", ["ranks_per_host"]),
    ("mutirao.toml", "ranks_per_host = \n", "run true", ["line 1"]),
    ("mutirao.toml", "# ours\nbroadcast = binomial  # a tree\n", "run true", ["line 2", 'broadcast = "binomial"']),
    ("other.json", "[]", "explain other.json", ["not a report of mutirao: what is in it is of another kind"]),
    ("bad.json", '{"a": 1}', "explain bad.json", ["bad.json is not a report of mutirao: it has no 'communicators'"]),
    ("bad.json", '{"a": 1}', "top --file bad.json", ["bad.json is not a dump of mutirao top --json: it has no 'network'"]),
    *(("bad.json", content, "profile import bad.json", ["bad.json is not an exported profile\n"])
      for content in ('{"a": 1}', "[{}]")),
    ("cut.json", '{"communicators": ', "explain cut.json", ["line 1: this is no JSON"]),
    ("program.csv", "#!/bin/sh\n", "run program.csv", ["not executable", "chmod"]),
    ("program.py", "#!/bin/sh\n", "run program.py", ["python program.py"]),
    ("sites.csv", "a,b\n0,1e9\n1e9,0\n", "run --lab sites.csv true", ["line 2, column 2", "1e9"])])
def test_what_is_wrong_in_a_file_is_named(typed, tmp_path, name, content, words, named):
    (tmp_path / name).write_text(content)
    refused(typed(*words.split()), name, *named)


def test_a_program_of_this_folder_is_not_in_the_path(typed, tmp_path):
    (tmp_path / "program").write_text("#!/bin/sh\n")
    (tmp_path / "program").chmod(0o755)
    refused(typed("run", "program"), "'program'", "./program")


def test_a_study_that_does_not_begin_leaves_no_folder(typed, tmp_path):
    for study in ("loops", "allgather", "long", "interfaces", "ping-pong"):
        refused(typed("study", study, "--only", "nope"), "nope")
    assert not (tmp_path / "results").exists()


def test_environment_is_checked_before_anything_starts(typed):
    refused(typed("run", "true", MUTIRAO_AGENT_INTERVAL_MS="1"), "MUTIRAO_AGENT_INTERVAL_MS", "20..60000")


def test_explain_without_a_report(typed):
    refused(typed("explain"), "no report of a run yet", code=1)


def test_help_and_version_by_any_name(mutirao, typed):
    for words in ([], ["help"], ["--help"]):
        answer = mutirao() if words == [] else typed(*words)
        assert answer.returncode == 0 and "doctor" in answer.stdout and answer.stderr == ""
    assert typed("help", "run").stdout == typed("run", "--help").stdout != ""
    assert typed("version").stdout == typed("--version").stdout != ""


def test_help_has_all_commands_under_headings(typed):
    told = typed("--help").stdout.split("commands:", 1)[1]
    groups = dict(re.findall(r"^  ([a-z ]+):\n((?: {4}.*\n)+)", told, re.MULTILINE))
    assert list(groups) == list(cli.GROUPS)
    for heading, names in cli.GROUPS.items():
        assert tuple(re.findall(r"^ {4}(\S+)", groups[heading], re.MULTILINE)) == names


@pytest.mark.parametrize("words", [["study", "six-sites", "--quick"], ["study", "--help"], ["replay"]], ids=" ".join)
def test_where_there_are_no_studies_one_line_says_where_they_are(typed, monkeypatch, words):
    monkeypatch.setattr(studies, "_PACKAGE", "studies_of_nobody")
    refused(typed(*words), f"./mutirao {words[0]} in a clone", code=1)


@pytest.mark.parametrize("lab, ranks, said", [("two-hosts", 3, "3 ranks on 2 emulated hosts, up to 2 on each\n"),
                                              ("two-sites", 4, "4 ranks on the first 4 of 8 emulated hosts\n")])
def test_ranks_that_share_or_leave_hosts_are_right_and_said(capsys, lab, ranks, said):
    place_of(argparse.Namespace(lab=lab, tcp=None, mpi=None, ranks=ranks))
    assert said in capsys.readouterr().err
