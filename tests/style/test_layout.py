"""The rules of layout that a compiler does not check: who may include what, and sizes."""

import ast
import re
import subprocess

from mutirao.base.paths import ROOT

MOST_FUNCTION_LINES = 60
# From the bottom up.
MPI_LAYERS = ("base", "executor", "watch", "job", "account", "decide", "communicator", "collectives", "interpose")
CODE = (".cpp", ".h", ".c", ".py")


def tracked(*suffixes):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True,
                            capture_output=True, check=True).stdout.split()
    return [path for path in listed if path.endswith(suffixes) and (ROOT / path).is_file()]


def includes(path):
    return re.findall(r'#include\s*[<"]([^>"]+)[>"]', (ROOT / path).read_text())


def c_functions(text):
    """(name, first line, lines) of what looks like a function: a line with a parameter list that
    opens a brace, to the closing brace of the same indentation."""
    lines = text.splitlines()
    opening = re.compile(r"^(\s*)(?!.*\b(?:namespace|class|struct|enum|if|for|while|switch|else|do|"
                         r"return)\b).*\b(\w+)\(.*\)[^;]*\{$")
    for first, line in enumerate(lines):
        if line.endswith("{") and (found := opening.match(line)):
            closing = f"{found[1]}}}"
            last = next((i for i in range(first, len(lines)) if lines[i].startswith(closing)), first)
            yield found[2], first + 1, last - first + 1


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno - node.lineno + 1


def test_only_the_mpi_folder_and_mpi_programs_include_mpi():
    wrong = [path for path in tracked(".cpp", ".h", ".c") if "mpi.h" in includes(path)
             and not path.startswith(("src/mpi/", "bench/", "tests/mpi/", "examples/"))]
    assert wrong == []


def test_the_core_knows_nothing_above_it_and_no_clock_socket_or_environment():
    forbidden = re.compile(r"\b(getenv|environ|steady_clock|system_clock|clock_gettime|"
                           r"random_device)\b|\bsocket\(")
    for path in tracked(".cpp", ".h"):
        if path.startswith("src/core/"):
            assert all(not name.startswith(("mpi/", "tool/", "simulate/", "lab/", "sys/"))
                       for name in includes(path) if "/" in name), path
            code = re.sub(r"//.*", "", (ROOT / path).read_text())
            found = forbidden.search(code)
            assert path.endswith("_test.cpp") or not found, f"{path}: {found[0]}"


def layer(path):
    return MPI_LAYERS.index(path.split("/")[-2])


def test_includes_between_the_layers_of_src_mpi_point_down():
    wrong = [f"{path} includes {name}" for path in tracked(".cpp", ".h") if path.startswith("src/mpi/")
             for name in includes(path) if name.startswith("mpi/") and layer(name) > layer(path)]
    assert wrong == []


def test_no_function_is_too_long():
    long = []
    for path in tracked(*CODE):
        functions = python_functions if path.endswith(".py") else c_functions
        long += [f"{path}:{line} {name}: {lines} lines"
                 for name, line, lines in functions((ROOT / path).read_text())
                 if lines > MOST_FUNCTION_LINES]
    assert long == []


def test_the_checks_see_a_fault():
    body = "\n".join(["    work();"] * 70)
    assert [each[2] for each in c_functions(f"int long_one(int a) {{\n{body}\n}}\n")] == [72]
    assert [each[0] for each in python_functions("def f():\n    pass\n")] == ["f"]


def test_no_path_of_one_machine():
    home = re.compile(r"/(?:work|root|home)/\w")
    wrong = [path for path in tracked(*CODE, ".sh", ".md", ".toml", ".txt", ".cmake")
             if path != "tests/style/test_layout.py" and home.search((ROOT / path).read_text(errors="replace"))]
    assert wrong == []
