"""The same input gives the same bits: in a batch, from many threads, after a pickle, in another process."""

from __future__ import annotations

import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import numpy as np
import pytest

from tests.oracles import every_constraint as every
from tests.oracles import random_mechanisms as rm
from tests.oracles.description import Description
from tests.oracles.states import mechanism, tangent_velocity

CASES = {
    "tree": rm.tree(4, 6, rm.ALL_JOINTS[:-1]),
    "loop": rm.loops(2, ("spherical", "revolute"), n=6),
    "redundant": rm.duplicated(rm.loops(3, ("fixed",), n=6)),
    "planar": rm.planar_loop(1, 4),
    "singular": rm.stretched(0, 5),
}
BATCH = 37


def states(mech: Any, d: Description, n: int = BATCH) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Poses around d.q (the first one exactly there), velocities, forces."""
    rng = np.random.default_rng(7)
    dq = 0.2 * rng.normal(size=(n, mech.nv))
    dq[0] = 0.0
    q = np.stack([mech.integrate(d.q, x) for x in dq])
    v = rng.normal(size=(n, mech.nv))
    v[0] = tangent_velocity(mech, d.q, 3)
    return q, v, rng.normal(size=(n, mech.nv))


def everything(mech: Any, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> list[np.ndarray]:
    """Every array the mechanism gives for a state, or for a batch of them."""
    t, motion, energy = mech.terms(q, v), mech.forward_dynamics(q, v, tau), mech.energy(q, v)
    return [np.asarray(x) for x in (
        t.M, t.h, t.phi, t.J, t.b, t.gamma, motion.a, motion.constraint_force, motion.lam, motion.lam_unique,
        motion.rank, mech.acceleration(q, v, tau), mech.rnea(q, v, tau), mech.integrate(q, v),
        mech.difference(q, mech.integrate(q, v)), energy.kinetic, energy.potential, mech.mass_matrix(q),
        mech.jacobian(q, mech.body_names[-1]), mech.body_acceleration(q, v, tau, mech.body_names[-1]),
    )]  # fmt: skip


def same(x: list[np.ndarray], y: list[np.ndarray]) -> None:
    for a, b in zip(x, y, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("case", CASES)
def test_a_batch_is_a_loop(case: str) -> None:
    d = CASES[case]
    mech = mechanism(d)
    q, v, tau = states(mech, d)
    batch = everything(mech, q, v, tau)
    for k in range(BATCH):
        same([x[k] for x in batch], everything(mech, q[k], v[k], tau[k]))
    shaped = everything(mech, q[:6].reshape(2, 3, -1), v[:6].reshape(2, 3, -1), tau[:6].reshape(2, 3, -1))
    same([x.reshape(6, *x.shape[2:]) for x in shaped], [x[:6] for x in batch])


@pytest.mark.parametrize("case", CASES)
def test_the_tight_door_gives_the_bits_of_the_wide_one(case: str) -> None:
    d = CASES[case]
    mech = mechanism(d)
    for q, v, tau in zip(*states(mech, d), strict=True):
        np.testing.assert_array_equal(mech.acceleration(q, v, tau), mech.forward_dynamics(q, v, tau).a)


def test_two_hundred_threads() -> None:
    """One Mechanism, two hundred threads, all started together: the bits of one thread."""
    d = CASES["redundant"]
    mech = mechanism(d)
    q, v, tau = states(mech, d, 8)
    alone = [everything(mech, *s) for s in zip(q, v, tau, strict=True)]
    together = everything(mech, q, v, tau)
    gate = Barrier(200)

    def work(k: int) -> None:
        gate.wait()
        for _ in range(3):
            same(everything(mech, q[k % 8], v[k % 8], tau[k % 8]), alone[k % 8])
        same(everything(mech, q, v, tau), together)

    with ThreadPoolExecutor(200) as pool:
        list(pool.map(work, range(200)))


@pytest.mark.parametrize("case", CASES)
def test_pickle_keeps_the_bits(case: str) -> None:
    d = CASES[case]
    mech = mechanism(d)
    copy = pickle.loads(pickle.dumps(mech))
    q, v, tau = states(mech, d, 5)
    same(everything(copy, q, v, tau), everything(mech, q, v, tau))
    assert str(copy) == str(mech)
    assert copy.names == mech.names


def test_another_process_has_the_same_bits(tmp_path: Any) -> None:
    d = CASES["loop"]
    mech = mechanism(d)
    q, v, tau = states(mech, d, 3)
    (tmp_path / "in.pickle").write_bytes(pickle.dumps((mech, q, v, tau)))
    code = (
        "import pickle, sys; mech, q, v, tau = pickle.load(open(sys.argv[1], 'rb'));"
        "sys.stdout.buffer.write(mech.acceleration(q, v, tau).tobytes())"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "in.pickle")]
    done = subprocess.run(command, capture_output=True, check=True)
    assert done.stdout == mech.acceleration(q, v, tau).tobytes()


def test_nothing_given_is_changed() -> None:
    d = every.constrained("revolute", 0)
    mech = mechanism(d)
    q, v, tau = (x.copy() for x in states(mech, d, 4))
    kept = [x.copy() for x in (q, v, tau)]
    everything(mech, q, v, tau)
    same([q, v, tau], kept)
    for array in mech.model.fields.values():
        assert not array.flags.writeable


def test_results_are_fresh() -> None:
    """Writing into a result does not reach the mechanism or the next result."""
    d = CASES["loop"]
    mech = mechanism(d)
    v = np.zeros(mech.nv)
    first = everything(mech, d.q, v, v)
    kept = [x.copy() for x in first]
    for x in first:
        if x.flags.writeable:
            x[...] = 0
    same(everything(mech, d.q, v, v), kept)
