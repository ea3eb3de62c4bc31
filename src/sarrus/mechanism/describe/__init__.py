"""What a description takes in, as declared or as drawn, and how it becomes a model or data."""
