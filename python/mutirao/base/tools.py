"""Asks the programs that the build makes; what they refuse in one line becomes ours."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from mutirao.base.errors import Failure, UsageError


def built(program: Path, needs: str = "") -> Path:
    if not program.is_file():
        raise Failure(f"{program.name} is not built: run make build" + (f"; it needs {needs}" if needs else ""))
    return program


def ask(program: Path, command: Sequence[str | Path], **options) -> str:
    """What the program prints, which the command runs here or elsewhere. `options` are those of subprocess.run."""
    answer = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if answer.returncode != 0:
        raise refusal(program, answer.stderr, answer.returncode)
    return answer.stdout


def refusal(program: Path, errors: str, exit_code: int) -> Exception:
    lines = errors.strip().splitlines()
    line = lines[-1].removeprefix(f"{program.name}: ") if lines else ""
    return UsageError(line) if exit_code == 2 else Failure(line or f"{program.name} ended with exit code {exit_code}")
