"""The table "Where contacts count" of docs/contacts.md: what works, and what is refused by name."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sarrus as sr

from .machines import block

WORKS: dict[str, Callable[[sr.Mechanism, Any, Any], Any]] = {
    "contacts": lambda m, q, v: m.contacts(q, v),
    "gap_rates": lambda m, q, v: m.gap_rates(q, v),
    "near_contacts": lambda m, q, v: m.near_contacts(q, 0.1),
    "separate": lambda m, q, v: m.separate(q),
    "pickles": lambda m, q, v: pickle.loads(pickle.dumps(m)).contacts(q),
    "with_": lambda m, q, v: m.with_(mass={"block": 3.0}).contacts(q),
    "simulate": lambda m, q, v: sr.simulate(m, (0, 0.01), q, v),
    "energy": lambda m, q, v: sr.simulate(m, (0, 0.01), q, v).energy,
    "forward_dynamics": lambda m, q, v: m.forward_dynamics(q, v).contact_force,
    "acceleration": lambda m, q, v: m.acceleration(q, v, 0.0 * v),
    "equilibrium": lambda m, q, v: sr.equilibrium(m, q).contact_unique,
    "step_derivatives": lambda m, q, v: m.step_derivatives(q, v),
    "mech.step": lambda m, q, v: m.step(q, v).mode.contacts,
    "rollout": lambda m, q, v: sr.rollout(m, q, v, dt=1e-3, steps=2).mode,
    "assemble": lambda m, q, v: m.assemble(q),
    "project": lambda m, q, v: m.project(q, v),
}
REFUSED: dict[str, Callable[[sr.Mechanism, Any, Any], Any]] = {
    "inverse_dynamics": lambda m, q, v: m.inverse_dynamics(q, v, 0.0 * v),
    "derivatives": lambda m, q, v: m.derivatives(q, v),
    "hold": lambda m, q, v: m.hold(q, by=["block"]),
    "linearize": lambda m, q, v: sr.linearize(m, np.tile(q, (2, 1))),
    "sr.study": lambda m, q, v: sr.study(m, 0.01),
    "CUDA": lambda m, q, v: sr.rollout(m, q, v, dt=1e-3, steps=2, device="cuda"),
}


@pytest.fixture
def standing() -> tuple[sr.Mechanism, Any, Any]:
    mech, q = block(0.5)
    return mech, q, np.zeros(6)


@pytest.mark.parametrize("name", WORKS)
def test_what_knows_contacts(name: str, standing: tuple[sr.Mechanism, Any, Any]) -> None:
    assert WORKS[name](*standing) is not None


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_know_contacts_says_so(name: str, standing: tuple[sr.Mechanism, Any, Any]) -> None:
    with pytest.raises(sr.InputError, match="surfaces"):
        REFUSED[name](*standing)


def test_the_table_names_them_all() -> None:
    page = (Path(__file__).parents[3] / "docs" / "contacts.md").read_text(encoding="utf-8")
    table = page[page.index("## Where contacts count") :]
    assert [name for name in (*WORKS, *REFUSED) if name not in table] == []
