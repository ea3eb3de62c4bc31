"""Runs in which surfaces touch, slide, stick and rebound."""
