"""``python -m closedchain`` is the command line."""

from closedchain.cli import main

main()
