"""Copies of a mechanism with other numbers, and derivatives by its parameters."""
