"""What pictures of a mechanism show: its solids, loads and skeleton, seen by a camera, painted with NumPy."""
