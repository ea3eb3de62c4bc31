"""The factorization by entries against the dense one: rank, acceleration, multipliers, limit rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import sarrus as sr
from tests.oracles import raw_models as rw

from .conftest import Harness

Array = npt.NDArray[np.float64]
KINDS = list(rw.CLOSURES)


def both(
    harness: Harness, raw: rw.Raw, q: Array, v: Array, tau: Array, drive: Array, user: Array, limits: int
) -> tuple[tuple[Array, Array, int], tuple[Array, Array, int]]:
    """(a, lam, rank) by dense rows, then by entries."""
    shapes = [(raw[0]["nv"],), (raw[0]["nc"],)]
    dense = harness.call("forward_double", raw, [q, v, tau, drive, user, 0, limits], shapes)
    entries = harness.call("forward_entries", raw, [q, v, tau, drive, user, limits], shapes)
    return dense, entries  # type: ignore[return-value]


def agree(dense: tuple[Array, Array, int], entries: tuple[Array, Array, int], tol: float) -> None:
    """Same rank, a and lam up to tol of their size."""
    assert entries[2] == dense[2]
    for mine, theirs in zip(entries[:2], dense[:2], strict=True):
        assert np.max(np.abs(mine - theirs), initial=0.0) <= tol * (1.0 + np.max(np.abs(theirs), initial=0.0))


def compiled(mech: sr.Mechanism) -> rw.Raw:
    """The flat model of a mechanism without drives and user rows."""
    return {**mech.model.sizes, "one": 1}, mech.model.fields


def at(
    harness: Harness, mech: sr.Mechanism, q: Array, v: Array, seed: int = 0
) -> tuple[tuple[Array, Array, int], tuple[Array, Array, int]]:
    """Both at a state of a mechanism, under random forces, limit rows included."""
    tau = np.random.default_rng(seed).normal(size=mech.nv)
    return both(harness, compiled(mech), q, v, tau, np.zeros((0, 3)), np.zeros((0, 3 + mech.nv)), 1)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    "kinds", [(), ("revolute",), ("fixed", "spherical"), ("distance", "planar"), tuple(KINDS)]
)
def test_random_models(harness: Harness, seed: int, kinds: tuple[str, ...]) -> None:
    """Every joint, closure and row there is; with all closures there are more rows than coordinates."""
    raw = rw.random_model(seed, kinds, nodes=9)
    (q,), (v,) = rw.random_state(raw, seed)
    (drive,), (user,) = rw.random_inputs(raw, seed)
    tau = np.random.default_rng(seed).normal(size=raw[0]["nv"])
    agree(*both(harness, raw, q, v, tau, drive, user, 0), tol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_dependent_and_empty_rows(harness: Harness, seed: int) -> None:
    """A row twice, a row of zeros: least squares and least norm."""
    raw = rw.random_model(seed, ("revolute", "universal"), nodes=9)
    size, f = raw
    width = int(f["el_begin"][1])
    f["el_values"][width : 2 * width - 2] = f["el_values"][: width - 2]  # but for the kinds of its rows
    f["el_a"][1], f["el_b"][1] = f["el_a"][0], f["el_b"][0]
    f["el_sup_begin"][1], f["el_sup_end"][1] = f["el_sup_begin"][0], f["el_sup_end"][0]
    (q,), (v,) = rw.random_state(raw, seed)
    (drive,), (user,) = rw.random_inputs(raw, seed)
    user[:] = 0.0
    tau = np.random.default_rng(seed).normal(size=size["nv"])
    dense, entries = both(harness, raw, q, v, tau, drive, user, 0)
    assert dense[2] < min(size["nc"], size["nv"])
    agree(dense, entries, tol=1e-9)


@pytest.mark.parametrize("n", [1, 3, 20])
def test_row_of_four_bars(harness: Harness, n: int) -> None:
    mech = sr.library.n_four_bar(n)
    for theta, tol in ((0.3, 1e-11), (1.5, 1e-9), (np.pi / 2 - 1e-4, 1e-5)):
        q, v = theta * np.where(np.arange(mech.nv) % 2, 1.0, -1.0), mech.default[1]
        agree(*at(harness, mech, q, v), tol)


def test_flat_row_of_four_bars(harness: Harness) -> None:
    """All links in one line: n rows are lost, and their limits take their place."""
    mech = sr.library.n_four_bar(20)
    q = 0.5 * np.pi * np.where(np.arange(mech.nv) % 2, 1.0, -1.0)
    dense, entries = at(harness, mech, q, mech.default[1])
    assert dense[2] == 20
    agree(dense, entries, tol=1e-9)


def ladder(n: int) -> sr.Mechanism:
    """The same with hinges for pins: three of five rows say nothing new, two of them are zero."""
    hinge, links = sr.Revolute("z"), [f"link{i}" for i in range(n + 1)]
    rod = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)}
    spec = sr.MechanismSpec(gravity=(0.0, -9.81, 0.0), name="ladder")
    for i, link in enumerate(links):
        spec.body(link, joint=hinge, at=sr.Pose((float(i), 0.0, 0.0)), com=(0.0, 0.5, 0.0), **rod)
        if i < n:
            top = sr.Pose((0.0, 1.0, 0.0))
            spec.body(f"coupler{i}", parent=link, joint=hinge, at=top, com=(0.5, 0.0, 0.0), **rod)
    for i in range(n):
        ends = {"at_a": sr.Pose((0.0, 1.0, 0.0)), "at_b": sr.Pose((1.0, 0.0, 0.0))}
        spec.close(f"pin{i}", links[i + 1], f"coupler{i}", hinge, **ends)
    return spec.compile()


@pytest.mark.parametrize("theta", [0.3, 0.5 * np.pi])
def test_ladder_of_redundant_hinges(harness: Harness, theta: float) -> None:
    """Permanent redundancy, alone and together with a singular pose."""
    mech = ladder(12)
    alternate = np.where(np.arange(mech.nv) % 2, 1.0, -1.0)
    dense, entries = at(harness, mech, theta * alternate, 0.7 * alternate)
    assert dense[2] == (24 if theta < 1.0 else 12)
    agree(dense, entries, tol=1e-9)


def test_where_it_is_worth_it(harness: Harness) -> None:
    """Rows of loops, with redundancy or without; not a platform whose legs meet, nor a tree with one loop."""

    def worth(mech: sr.Mechanism) -> bool:
        raw = compiled(mech)
        return bool(harness.call("worth_entries", raw, [], [(raw[0]["nc"], raw[0]["nv"])])[-1])

    assert worth(sr.library.n_four_bar(10)) and worth(sr.library.n_four_bar(40)) and worth(ladder(12))
    assert not worth(sr.library.stewart()) and not worth(sr.library.dual_arm())


def test_heavy_and_light(harness: Harness) -> None:
    """Masses eight orders apart."""
    mech = sr.library.n_four_bar(20)
    raw = compiled(mech)
    masses = 10.0 ** np.random.default_rng(1).uniform(-4, 4, raw[0]["nn"])
    fields = dict(raw[1])
    fields["mass"] = fields["mass"] * masses
    fields["inertia"] = (fields["inertia"].reshape(-1, 6) * masses[:, None]).ravel()
    q, v = 0.3 * np.where(np.arange(mech.nv) % 2, 1.0, -1.0), mech.default[1]
    empty = np.zeros((0, 3)), np.zeros((0, 3 + mech.nv))
    dense, entries = both(harness, (raw[0], fields), q, v, np.zeros(mech.nv), *empty, 1)
    agree(dense, entries, tol=1e-10)
