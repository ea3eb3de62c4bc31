"""Collision geometry of files as surfaces and pairs that may touch, in and out."""
