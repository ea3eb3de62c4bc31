"""Bodies and their joints, lowered to a tree of primitive nodes, and the arrays of the flat model."""

from .tree import Node, Place, Tree

__all__ = ["Node", "Place", "Tree"]  # here pickles of 0.1.0 look for them
