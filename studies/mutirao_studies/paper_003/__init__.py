"""Paper 003: messages between two ranks in C, Java and Python."""
