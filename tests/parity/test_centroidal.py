"""Centre of mass and centroidal momentum of trees of every joint against Pinocchio, to 1e-10."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracles import random_mechanisms as rm
from tests.oracles.states import mechanism, relative

adapter = pytest.importorskip("tests.oracles.pinocchio_adapter", exc_type=ImportError)

TOL = 1e-10


@pytest.mark.parametrize("seed", range(40))
def test_random_trees(seed: int) -> None:
    d = rm.tree(seed)
    if all(body.joint.kind == "fixed" for body in d.bodies):
        pytest.skip("nothing moves")
    mech, q = mechanism(d), d.q
    v, a = np.random.default_rng([seed, 21]).normal(size=(2, mech.nv))
    ours = {
        "c": mech.center_of_mass(q),
        "J": mech.center_of_mass_jacobian(q),
        "dc": mech.center_of_mass_velocity(q, v),
        "ddc": mech.center_of_mass_acceleration(q, v, a),
        "h": mech.centroidal_momentum(q, v),
        "rate": mech.centroidal_momentum_rate(q, v, a),
        "A": mech.centroidal_momentum_matrix(q),
        "rate_A": mech.centroidal_momentum_matrix_rate(q, v),
    }
    theirs = adapter.build(d).centroidal(q, v, a)
    for name, found in ours.items():
        assert relative(found, theirs[name]) < TOL, name
