"""Against Pinocchio's derivatives of constrained dynamics, along directions tangent to {phi = 0, J v = 0}."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr

pin = pytest.importorskip("pinocchio")

from bench.twins.pinocchio_twin import pinocchio_twin  # noqa: E402

from .mechanisms import moving, relative  # noqa: E402


@pytest.mark.parametrize("seed", range(5))
def test_welded_arms(seed: int) -> None:
    mech = sr.library.dual_arm()
    q, v, _ = moving(mech, seed)
    tau = np.random.default_rng([seed, 1]).normal(size=mech.nv)
    twin = pinocchio_twin(mech)
    peer = twin.to_peer(q, v, tau)
    settings = pin.ProximalSettings(1e-14, 0.0, 1)
    args = (twin.model, twin.data)
    a = pin.constraintDynamics(*args, *peer, twin.constraints, twin.constraint_data, settings)
    pin.computeConstraintDynamicsDerivatives(*args, twin.constraints, twin.constraint_data, settings)
    ours = mech.derivatives(q, v, tau)
    assert relative(mech.acceleration(q, v, tau), twin.from_peer(a)) < 1e-10
    lift = sr.linearize(mech, q, v, tau=tau).lift
    dq, dv = lift[: mech.nv], lift[mech.nv :]
    i = twin.v_index
    theirs = twin.data.ddq_dq @ dq[i] + twin.data.ddq_dv @ dv[i]
    assert relative((ours.a_q @ dq + ours.a_v @ dv)[i], theirs) < 1e-8
    assert relative(ours.a_tau[np.ix_(i, i)], twin.data.ddq_dtau) < 1e-8
