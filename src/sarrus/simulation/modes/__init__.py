"""Modes of a run: which rows act now, what ended the mode before, and the friction of what is at rest."""
