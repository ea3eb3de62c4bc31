"""`python -m sarrus` is the command `sarrus`."""

from sarrus.cli import main

main()
