"""The command line of mutirao: set up, run, look at and explain."""

__version__ = "0.1.0"
