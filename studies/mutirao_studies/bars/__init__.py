"""The bars of docs/results.md that can still be lost, each measured in the default configuration: `make bars`."""
