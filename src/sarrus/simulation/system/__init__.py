"""The system that moves: a `Mechanism` or a `CustomSystem`, its initial state, and the record of its states."""
