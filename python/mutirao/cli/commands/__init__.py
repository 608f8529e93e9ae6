"""One module per command, each with register(subparsers, common); cli.COMMANDS lists them."""
