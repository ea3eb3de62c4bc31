"""What declarations are made of: poses, rotations, axes, expressions of parameters, pickles by name."""
