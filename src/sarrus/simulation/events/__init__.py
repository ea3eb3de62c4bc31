"""What is watched between steps: user events, singular poses and limits, located on an interpolant."""
