"""Laws of pairs from those of their surfaces."""

from __future__ import annotations

import pytest

import sarrus as sr
from sarrus.models.contacts.surfaces import ContactPair, Surface, law_of_pair


def law(own: float | None, a: float | None, b: float | None) -> tuple[float, float]:
    """Friction and restitution of a pair, all coefficients alike."""
    one, other = (Surface(n, n, sr.Sphere(1.0), friction=x, restitution=x) for n, x in (("a", a), ("b", b)))
    found = law_of_pair(ContactPair("a/b", "a", "b", own, own), one, other)
    return found[0], found[1]


def test_the_smaller_friction_and_the_larger_restitution() -> None:
    assert law(None, 0.3, 0.5) == law(None, 0.5, 0.3) == (0.3, 0.5)
    assert law(None, 0.3, None) == law(None, None, 0.3) == (0.3, 0.3)
    assert law(0.9, 0.3, 0.5) == law(0.9, None, None) == (0.9, 0.9)
    assert law(0.0, 0.3, 0.5) == (0.0, 0.0)


def test_moments_are_the_larger() -> None:
    one, other = (
        Surface(n, n, sr.Sphere(1.0), friction=0.1, torsion=x, rolling=0.5 - x)
        for n, x in (("a", 0.1), ("b", 0.3))
    )
    assert law_of_pair(ContactPair("a/b", "a", "b"), one, other)[2:] == (0.3, 0.4)


def test_a_law_that_nobody_says() -> None:
    with pytest.raises(
        sr.InputError, match=r"neither 'a' nor 'b' has a friction; .*friction=0.0 is a smooth"
    ):
        law(None, None, None)


def test_what_is_no_surface() -> None:
    with pytest.raises(sr.InputError, match="shape of surface 'a' must be one of"):
        Surface("a", "a", 1.0)  # type: ignore[arg-type]
    with pytest.raises(sr.InputError, match="at of surface 'a' must be a Pose"):
        Surface("a", "a", sr.Sphere(1.0), at=(0, 0, 0))  # type: ignore[arg-type]
    with pytest.raises(sr.InputError, match="restitution of contact 'a/b' must be between 0"):
        ContactPair("a/b", "a", "b", restitution=2.0)
