"""The command line: the parser, and a module for each command. Imported only by what has a command line, too."""
