"""Steps in full coordinates: options, methods and the Python callbacks of the compiled run."""
