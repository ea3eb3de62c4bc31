"""The system that moves, a `Mechanism` or a `CustomSystem`, its initial state and its records."""
