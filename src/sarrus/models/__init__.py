"""The description of a mechanism, and Model: what it becomes for the kernel."""
