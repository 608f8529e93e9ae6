#!/usr/bin/env python3
"""What `make lines` prints: how large the project is, by what its lines are for."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FEW_LINES = 30


def is_test(path: str) -> bool:
    name = path.rpartition("/")[2]
    return path.startswith(("tests/", "studies/tests/")) or "_test." in name or name.startswith("test_")


def is_product_cpp(path: str) -> bool:
    """What is built into the libraries and tools; src/simulate serves tests and replays."""
    return path.startswith("src/") and not path.startswith("src/simulate/") and not is_test(path)


def is_product_python(path: str) -> bool:
    return path.startswith("python/mutirao/")


def is_study(path: str) -> bool:
    return path.startswith("studies/") and not is_test(path)


def main() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    lines = {path: len((ROOT / path).read_bytes().splitlines()) for path in listed.stdout.splitlines()
             if (ROOT / path).is_file()}

    def sum_of(wanted) -> int:
        return sum(count for path, count in lines.items() if wanted(path))

    for value, what in [
        (sum(lines.values()), "lines that are tracked"),
        (sum_of(is_product_cpp), "of C++ without tests and simulations"),
        (sum_of(is_product_python), "of Python and pages without studies, replays and bars"),
        (sum_of(is_study), "of studies, replays and bars"),
        (sum_of(is_test), "of tests"),
        (len(lines), "files"),
        (sum(path.startswith("src/") for path in lines), "files in src"),
        (sum(count < FEW_LINES for count in lines.values()), f"files of fewer than {FEW_LINES} lines"),
    ]:
        print(f"{value:7,}  {what}")


if __name__ == "__main__":
    main()
