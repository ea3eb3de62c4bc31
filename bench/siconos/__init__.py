"""Runs with contacts that Siconos publishes with its tutorials, as machines of ours, beside their results."""
