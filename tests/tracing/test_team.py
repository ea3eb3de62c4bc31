"""Copies stepped by teams of threads (kernels/team) on this processor, beside steps of the library."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.mechanism.variants.design_variants import variants_of
from sarrus.tracing.entries import varied_entries
from sarrus.tracing.general_text import headers
from sarrus.tracing.recorded_copies import Inputs, RecordedCopies
from sarrus.tracing.team_plan import turning_positions, used_kinds
from sarrus.tracing.team_text import ALL_KINDS, TeamOptions, team_text

from .compiled_c import random_states, run
from .host_device import general_on_host
from .team_on_host import HostTeam

SPAN, TIE = float(np.hypot(1.1, 1.0)), float(np.hypot(0.7, 0.5))  # [m]
DT = 1e-4  # of single steps that are compared to rounding: methods differ where steps are long


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the text is compiled, once for each precision."""
    return tmp_path_factory.mktemp("team")


def everything() -> sr.Mechanism:
    """Joints, constraints and forces of all kinds that recorded code has, two trees and a redundant row."""
    spec = sr.MechanismSpec(gravity=(0.0, 0.5, -9.81))
    heavy: dict[str, Any] = {"mass": 1.0, "com": (0.1, 0.02, -0.03), "inertia": (0.02, 0.03, 0.04)}
    spec.body("base", joint=sr.Free(), **heavy)
    spec.body("arm", "base", joint=sr.Revolute("y"), at=sr.Pose((0.3, 0, 0)), **heavy, damping=0.2)
    spec.body("ball", "arm", joint=sr.Spherical(), at=sr.Pose((0.3, 0, 0)), **heavy)
    spec.body("slide", "arm", joint=sr.Prismatic("z"), **heavy, friction=0.3)
    spec.body("screw", "base", joint=sr.Helical("x", 0.01), at=sr.Pose((0, 0.3, 0)), **heavy)
    spec.body("wheel", "screw", joint=sr.Universal("x", "y"), **heavy)
    spec.body("crank", joint=sr.Revolute("z"), at=sr.Pose((0.0, 1.0, 0.0)), **heavy)
    spec.body("rod", "crank", joint=sr.Revolute("z"), at=sr.Pose((0.4, 0, 0)), **heavy)
    spec.body("cart", joint=sr.Prismatic("x"), at=sr.Pose((1.1, 1.0, 0.0)), **heavy)
    spec.close("pin", "rod", "cart", joint=sr.Revolute("z"), at_a=sr.Pose((0.7, 0, 0)))
    spec.constrain("tie", sr.Distance("ball", (0.1, 0, 0), "wheel", (0, 0.2, 0), TIE))
    spec.constrain("gear", sr.Coupling({"arm": 1.0, "slide": 0.5}))
    spec.body("stroke", joint=sr.Prismatic("x"), mass=0.1)
    spec.constrain("span", sr.Span("cart", (0, 0, 0), "base", (0, 0, 0), "stroke", SPAN))
    spec.force("spring", sr.PointSpring("ground", (0, 0, 1.0), "base", (0, 0.1, 0), 40.0, 0.5, damping=2.0))
    spec.force("coil", sr.JointSpring("screw", 3.0))
    return spec.compile()


MECHANISMS = [
    "four_bar",
    "bricard",
    "dual_arm",
    "stewart",
    "quadruped",
    "pendulum",
    "chain_mail",
    "cam_follower",
]
MECHANISMS += ["planetary_gearbox", "rolling_disk", "double_wishbone", "scott_russell", "excavator"]


def mechanism(name: str) -> sr.Mechanism:
    return everything() if name == "everything" else getattr(sr.library, name)()


def copies_of(mech: sr.Mechanism, device: HostTeam, q: np.ndarray, v: np.ndarray) -> RecordedCopies:
    state = np.ascontiguousarray(q), np.ascontiguousarray(v)
    return RecordedCopies(np, device, general_on_host([mech]), mech._actuated, state)


@pytest.mark.parametrize("name", [*MECHANISMS, "everything"])
def test_single_steps(name: str, folder: Path) -> None:
    """Positions and velocities after one step, to 1e-12 of the largest, redundant rows included."""
    mech = mechanism(name)
    device = HostTeam(mech, "float64", folder)
    q, v = random_states(mech, 8)
    tau = 0.1 * np.random.default_rng(1).normal(size=v.shape)
    known = mech.step(q, v, dt=DT, tau=tau)
    mine = copies_of(mech, device, q, v)
    mine.advance(1, DT, Inputs(tau=tau))
    assert not mine.general_steps.any(), mine.guards
    np.testing.assert_allclose(mine.q, known.q, rtol=0, atol=1e-12 * max(1.0, np.abs(q).max()))
    np.testing.assert_allclose(mine.v, known.v, rtol=0, atol=1e-12 * np.abs(known.v).max())
    if mech.nc:
        assert np.max(np.abs(mech.terms(mine.q, mine.v).phi)) < 1e-12 * mech.length


@pytest.mark.parametrize("name", ["bricard", "stewart", "everything"])
def test_accelerations(name: str, folder: Path) -> None:
    mech = mechanism(name)
    device = HostTeam(mech, "float64", folder)
    q, v = random_states(mech, 6)
    tau = np.random.default_rng(2).normal(size=v.shape)
    a, guards = np.zeros_like(v), np.ones(len(q), dtype=np.uint32)
    device("accelerations", len(q), (np.int32(len(q)), q, v, tau, None, a, guards))
    assert not guards.any()
    np.testing.assert_allclose(a, mech.acceleration(q, v, tau), rtol=0, atol=1e-11 * np.abs(a).max())


@pytest.mark.parametrize(("size", "backwards"), [(3, False), (8, True), (32, False), (32, True)])
def test_order_of_threads(size: int, backwards: bool, folder: Path) -> None:
    """The same bits whatever the number of threads and their order: no loop reads what it writes."""
    mech = everything()
    q, v = random_states(mech, 3)
    ends = []
    for given in ({}, {"size": size, "backwards": backwards}):
        mine = copies_of(mech, HostTeam(mech, "float64", folder, **given), q.copy(), v.copy())
        mine.advance(20, 1e-3, Inputs())
        assert not mine.general_steps.any()
        ends.append((mine.q, mine.v))
    np.testing.assert_array_equal(ends[0][0], ends[1][0])
    np.testing.assert_array_equal(ends[0][1], ends[1][1])


@pytest.mark.parametrize("width", [8, 32])
def test_width_of_rounds(width: int, folder: Path) -> None:
    mech = sr.library.stewart()
    q, v = random_states(mech, 4)
    mine = copies_of(mech, HostTeam(mech, "float64", folder, width=width), q.copy(), v.copy())
    mine.advance(100, 1e-3, Inputs())
    known = sr.rollout(mech, q, v, dt=1e-3, steps=100, every=100)
    np.testing.assert_allclose(mine.q, known.q[:, -1], rtol=0, atol=1e-10)


def test_through_singular_poses(folder: Path) -> None:
    """1e-9 over 1,000 steps of parallelograms that turn through their flat pose, by general steps."""
    mech = sr.library.parallelogram()
    v = np.array([[1.0, -1.0, 1.0]]) * np.array([[0.5], [4.2], [6.0], [9.0]])
    q = np.repeat(mech.default.q[None], 4, axis=0)
    known = sr.rollout(mech, q, v, dt=1e-3, steps=1000, every=1000)
    assert known.success and all(len(one) for one in known.events[1:])
    mine = copies_of(mech, HostTeam(mech, "float64", folder), q, v)
    mine.advance(1000, 1e-3, Inputs())
    assert 0 < mine.general_steps.sum() < 600 and set(mine.guards) == {1}
    np.testing.assert_allclose(mine.q, known.q[:, -1], rtol=0, atol=1e-9)


def test_rows_that_are_left_out_are_watched(folder: Path) -> None:
    """Two couplers between two cranks; a pose at which one of their rows is open does not pass."""
    spec = sr.MechanismSpec(gravity=(0.0, -9.81, 0.0))
    for name, at in (("left", 0.0), ("right", 1.0)):
        heavy: dict[str, Any] = {"mass": 1.0, "com": (0.2, 0, 0), "inertia": (0.1,) * 3}
        spec.body(name, joint=sr.Revolute("z"), at=sr.Pose((at, 0, 0)), **heavy)
    reach = spec.parameter("reach", 0.5)
    spec.constrain("first", sr.Distance("left", (0, 0.5, 0), "right", (0, 0.5, 0), 1.0))
    spec.constrain("second", sr.Distance("left", (0, reach, 0), "right", (0, reach, 0), 1.0))
    mech = spec.compile()
    q, v = mech.default.q[None] + 0.3, np.array([[1.0, 1.0]])
    assert mech.nc == 2 and mech.mobility(q[0]).rank == 1
    mine = copies_of(mech, HostTeam(mech, "float64", folder), q.copy(), v.copy())
    mine.advance(50, 1e-3, Inputs())
    assert not mine.general_steps.any()
    moved = copies_of(mech, HostTeam(mech, "float64", folder), q + np.array([0.0, 0.1]), v.copy())
    moved.advance(1, 1e-3, Inputs())
    assert moved.guards or moved.status.any()


def test_float32_stays_closed(folder: Path) -> None:
    """2,000 steps in float32: closed to 1e-5, angles of many turns too."""
    mech = sr.library.bricard()
    q, v = random_states(mech, 4, away=0.3)
    turns = 2 * np.pi * np.round(np.random.default_rng(0).uniform(-1000, 1000, q.shape))
    here, far = (
        copies_of(mech, HostTeam(mech, "float32", folder), x, v.astype(np.float32))
        for x in (q.copy(), q + turns)
    )
    for mine in (here, far):
        mine.advance(500, 1e-3, Inputs())
        assert (mine.status == 0).all()
        assert np.max(np.abs(mech.terms(mine.q, np.zeros_like(v)).phi)) < 1e-5 * mech.length
    np.testing.assert_allclose(far.q - turns, here.q, rtol=0, atol=1e-3)


def test_angles_that_are_more() -> None:
    """Couplings and springs read whole turns."""
    found = turning_positions(everything().model)
    assert np.flatnonzero(found).tolist() == [14, 15, 16, 17]  # wheel (two), crank and rod; arm is coupled


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_steps_are_compared_with_their_halves(precision: str, folder: Path) -> None:
    """A four-bar at 1, 30 and 300 rad/s: steps of the last one are too long."""
    mech = sr.library.four_bar()
    q = np.repeat(mech.default.q[None], 3, axis=0)
    v = mech.consistent_velocity(q, np.array([[1.0], [30.0], [300.0]]) * np.array([1.0, 0.0, 0.0]))
    units = np.ones(mech.nq), np.asarray(mech.units.unit)
    state = q.copy(), v.astype(precision)
    device = HostTeam(mech, precision, folder)
    mine = RecordedCopies(np, device, general_on_host([mech]), mech._actuated, state, units)
    mine.advance(64, 1e-3, Inputs())
    _, _, moved, faster, speed = mine.errors.T
    lost = moved + faster / speed
    assert lost[0] < 1e-6 and lost[1] < 1e-2 and lost[2] > 1e-2
    alone = copies_of(mech, HostTeam(mech, precision, folder), q.copy(), v.astype(precision))
    alone.advance(64, 1e-3, Inputs())
    np.testing.assert_allclose(mine.q[:2], alone.q[:2], rtol=0, atol=1e-9 if precision == "float64" else 1e-5)


def test_inputs_and_kept_states(folder: Path) -> None:
    mech = sr.library.dual_arm()
    q, v = random_states(mech, 3)
    u = 0.1 * np.random.default_rng(0).normal(size=(3, 20, mech.nu))
    known = sr.rollout(mech, q, v, u, dt=1e-4, steps=20, every=5)
    mine = copies_of(mech, HostTeam(mech, "float64", folder), q, v)
    kept = np.zeros((3, 4, mech.nq)), np.zeros((3, 4, mech.nv)), 5
    mine.advance(20, 1e-4, Inputs(u=u), kept)
    np.testing.assert_allclose(kept[0], known.q[:, 1:], rtol=0, atol=1e-12)
    np.testing.assert_allclose(kept[1], known.v[:, 1:], rtol=0, atol=1e-11)


def test_copies_with_parameters(folder: Path) -> None:
    """Masses and gravity of each copy, beside `rollout`."""
    mech = sr.library.four_bar()
    name, count = mech.names[0], 4
    parameters = {
        "mass": {name: np.linspace(0.5, 2.0, count)},
        "gravity": np.outer(np.linspace(0.5, 1.0, count), [0.0, -9.81, 0.0]),
    }
    variants = variants_of(mech, parameters)
    q = np.repeat(mech.default.q[None], count, axis=0)
    known = sr.rollout(mech, q, dt=1e-3, steps=100, every=100, parameters=parameters)
    models = [one.model for one in variants]
    entries = varied_entries([mech.model, *models], "a test")
    device = HostTeam(mech, "float64", folder, entries)
    mine = RecordedCopies(
        np, device, general_on_host(variants), mech._actuated, (q.copy(), np.zeros((count, mech.nv)))
    )
    mine.advance(100, 1e-3, Inputs(parameters=entries.values(models)))
    assert np.ptp(mine.q[:, 0]) > 1e-4
    np.testing.assert_allclose(mine.q, known.q[:, -1], rtol=0, atol=1e-10)


def test_used_kinds() -> None:
    """Bits by the numbers of kinds in the headers: joints, elements, forces, forces on coordinates."""
    free_and_hinges = 1 << 5 | 1 << 1
    assert used_kinds(mechanism("quadruped").model)[0] == free_and_hinges
    assert used_kinds(mechanism("pendulum").model)[1:] == (0, 0, 0)
    assert all(bits > 0 for bits in used_kinds(everything().model))


@pytest.mark.parametrize(
    ("precision", "index", "shared", "own"),
    [("float64", "uint16", True, False), ("float32", "uint32", False, True)],
)
def test_text_compiles(precision: str, index: str, shared: bool, own: bool, tmp_path: Path) -> None:
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("no nvcc")
    source = tmp_path / "team.cu"
    kinds = used_kinds(mechanism("quadruped").model) if shared else ALL_KINDS
    options = TeamOptions(precision, index, 32, 32, least_blocks=8, shared=shared, own=own, kinds=kinds)
    source.write_text(team_text(options))
    run(nvcc, "-std=c++20", "-Xcicc", "-O0", "-ptx", "-I", headers(), source, "-o", tmp_path / "code.ptx")
    assert (tmp_path / "code.ptx").read_text().count(".entry") == 3
