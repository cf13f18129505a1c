"""``python -m closedchain.cli``: the command line without the installed command."""

from closedchain.cli import main

main()
