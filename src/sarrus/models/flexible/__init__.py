"""Flexible bodies: beams and finite-element models reduced to a few deflections."""
