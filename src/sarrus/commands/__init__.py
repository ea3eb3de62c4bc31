"""What the commands of the command line do; `sarrus.cli` gives them their arguments."""
