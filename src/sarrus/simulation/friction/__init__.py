"""Runs with dry friction: stretches in which every joint sticks or slides in one direction."""
