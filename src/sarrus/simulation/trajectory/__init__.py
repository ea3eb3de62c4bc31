"""The result of a run: states, what follows from them, files and tables."""
