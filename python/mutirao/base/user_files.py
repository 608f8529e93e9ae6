"""Files that the user names: read or written, or one line that says why that cannot be. All of it is wrong usage."""

import json
import os
from pathlib import Path
from typing import Any

from mutirao.base.errors import UsageError


def why(error: OSError | UnicodeDecodeError) -> str:
    return "it is no text (UTF-8)" if isinstance(error, UnicodeDecodeError) else str(error.strerror)


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")  # some editors put a mark first
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {why(error)}") from None


def parse_json(text: str, path: Path) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageError(f"{path}, line {error.lineno}: this is no JSON: {error.msg}") from None
    except RecursionError:
        raise UsageError(f"{path}: this is nested too deeply") from None


def read_json(path: Path) -> Any:
    return parse_json(read_text(path), path)


def write_file(path: Path, content: str | bytes) -> Path:
    try:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {why(error)}") from None
    return path


def print_or_write(text: str, file: Path | None) -> None:
    if file is None:
        print(text, end="")
    else:
        write_file(file, text)


def check_writable(what: str, path: Path) -> None:
    """Before something runs for hours."""
    if not path.parent.is_dir():
        raise UsageError(f"{what} {path}: there is no folder {path.parent}")
    if path.is_dir():
        raise UsageError(f"{what} {path}: it is a folder")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(f"{what} {path}: it cannot be written")
