"""What a Mechanism computes: poses, motions, forces, paths, steps, reports."""
