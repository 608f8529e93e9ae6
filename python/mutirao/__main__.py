"""`python -m mutirao`."""

from mutirao.cli import entry

entry()
