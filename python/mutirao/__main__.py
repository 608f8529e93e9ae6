"""`python -m mutirao`."""

import sys

try:
    from mutirao.cli.cli import entry

    entry()
except KeyboardInterrupt:  # while modules are loaded
    sys.exit(130)
