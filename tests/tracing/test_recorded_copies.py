"""Copies stepped by CUDA text that this processor runs: guards, the general kernel, inputs, kept states."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.mechanism.query.recorded_code import program_of
from sarrus.mechanism.variants.design_variants import variants_of
from sarrus.tracing.entries import varied_entries
from sarrus.tracing.recorded_copies import Inputs, RecordedCopies
from sarrus.tracing.whole_turns import turning_coordinates

from .compiled_c import random_states
from .host_device import HostDevice, general_on_host


def copies_of(mech: sr.Mechanism, device: HostDevice, q: np.ndarray, v: np.ndarray) -> RecordedCopies:
    state = np.ascontiguousarray(q), np.ascontiguousarray(v)
    return RecordedCopies(np, device, general_on_host([mech]), mech._actuated, state)


@pytest.fixture(scope="module")
def five_bar(tmp_path_factory: pytest.TempPathFactory) -> tuple[sr.Mechanism, HostDevice]:
    mech = sr.library.five_bar()
    return mech, HostDevice(mech, "float64", tmp_path_factory.mktemp("five_bar"))


def test_equal_to_rollout_through_singular_poses(tmp_path: Path) -> None:
    """1e-9 over 1,000 steps of parallelograms that turn through their flat pose, by general steps."""
    mech = sr.library.parallelogram()
    speeds = np.array([[1.0, -1.0, 1.0]]) * np.array([[0.5], [4.2], [6.0], [9.0]])
    q = np.repeat(mech.default.q[None], 4, axis=0)
    known = sr.rollout(mech, q, speeds, dt=1e-3, steps=1000, every=100)
    passed = np.array([len(one) for one in known.events])
    assert known.success and (passed[1:] > 0).all()
    mine = copies_of(mech, HostDevice(mech, "float64", tmp_path), q, speeds.copy())
    kept = np.full((4, 10, mech.nq), np.nan), np.full((4, 10, mech.nv), np.nan), 100
    mine.advance(1000, 1e-3, Inputs(), kept)
    assert (mine.reached == 1000).all() and (mine.status == 0).all()
    assert (mine.general_steps[passed > 0] > 0).all() and (mine.general_steps < 100 + 100 * passed).all()
    np.testing.assert_allclose(kept[0], known.q[:, 1:], rtol=0, atol=1e-9)
    np.testing.assert_allclose(kept[1], known.v[:, 1:], rtol=0, atol=1e-8)  # speeds of some 10 rad/s


def test_inputs_and_pieces(five_bar: tuple[sr.Mechanism, HostDevice]) -> None:
    """u of each copy and step, taken in two pieces; tau for all; kept rows across the pieces."""
    mech, device = five_bar
    q, v = random_states(mech, 3, away=0.2)
    u = np.random.default_rng(0).normal(size=(len(q), 20, mech.nu))
    known = sr.rollout(mech, q, v, u, dt=1e-3, steps=20, every=5)
    mine = copies_of(mech, device, q, v)
    for first, last in ((0, 7), (7, 20)):
        rows = last // 5 - first // 5
        kept = np.zeros((len(q), rows, mech.nq)), np.zeros((len(q), rows, mech.nv)), 5
        mine.advance(last, 1e-3, Inputs(first, np.ascontiguousarray(u[:, first:last])), kept)
        np.testing.assert_allclose(kept[0], known.q[:, 1 + first // 5 : 1 + last // 5], rtol=0, atol=1e-12)
    tau = np.random.default_rng(1).normal(size=(1, mech.nv))
    q, v = random_states(mech, 3, away=0.2)
    state = mech.step(q, v, dt=2e-3, tau=tau[0], substeps=2)
    mine = copies_of(mech, device, q, v)
    mine.advance(2, 1e-3, Inputs(tau=tau))
    np.testing.assert_allclose(mine.q, state.q, rtol=0, atol=1e-12)


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_steps_that_are_too_long_are_seen(tmp_path: Path, precision: str) -> None:
    """Losses of copies at 1, 30 and 300 rad/s, against steps a tenth as long."""
    mech = sr.library.four_bar()
    device = HostDevice(mech, precision, tmp_path)
    speeds = np.array([1.0, 30.0, 300.0])
    q = np.repeat(mech.default.q[None], 3, axis=0)
    v = mech.consistent_velocity(q, speeds[:, None] * np.array([1.0, 0.0, 0.0]))
    units = np.ones(mech.nq), np.asarray(mech.units.unit)
    ends = []
    for steps in (64, 640):
        state = q.copy(), v.astype(precision)
        mine = RecordedCopies(np, device, general_on_host([mech]), mech._actuated, state, units)
        mine.advance(steps, 0.064 / steps, Inputs())
        ends.append(mine.q.copy())
        if steps == 64:
            _, _, moved, faster, speed = mine.errors.T
            lost = moved + faster / speed
    true = np.max(np.abs(ends[0] - ends[1]), axis=1)
    assert lost[0] < 1e-6 and lost[1] < 1e-2 and lost[2] > 1e-2 and true[2] > 1e-2


def test_general_steps_that_are_too_long_are_seen(tmp_path: Path) -> None:
    """Copies of which no step passes its guards are tested too; ends against steps a tenth as long."""
    mech = sr.library.four_bar()
    q = np.repeat(mech.default.q[None], 2, axis=0)
    v = mech.consistent_velocity(q, np.array([[1.0], [300.0]]) * np.array([1.0, 0.0, 0.0]))
    units = np.ones(mech.nq), np.asarray(mech.units.unit)

    def refuse(name: str, count: int, arguments: tuple[Any, ...]) -> None:
        pass

    mine = RecordedCopies(np, refuse, general_on_host([mech]), mech._actuated, (q.copy(), v.copy()), units)
    mine.advance(64, 1e-3, Inputs())
    assert (mine.general_steps == 64).all() and (mine.status == 0).all()
    lost = mine.errors[:, 2] + mine.errors[:, 3] / mine.errors[:, 4]
    assert lost[0] < 1e-6 and lost[1] > 1e-2


def test_copies_that_fail_stop_alone(five_bar: tuple[sr.Mechanism, HostDevice]) -> None:
    mech, device = five_bar
    q, v = random_states(mech, 4, away=0.2)
    q[1] = np.nan
    q[2, 0] += 0.5  # open
    mine = copies_of(mech, device, q, v)
    mine.advance(3, 1e-3, Inputs())
    assert (mine.reached == [3, 0, 0, 3]).all() and mine.status[2] != 0 and mine.status[0] == 0


def test_float32_stays_closed(tmp_path: Path) -> None:
    """2,000 steps in float32: closed to 1e-5, by recorded code but for some 3 % of the steps."""
    mech = sr.library.bricard()
    device = HostDevice(mech, "float32", tmp_path)
    q, v = random_states(mech, 4, away=0.3)
    mine = copies_of(mech, device, q, v.astype(np.float32))
    mine.advance(2000, 1e-3, Inputs())
    assert (mine.status == 0).all() and mine.general_steps.sum() < 0.05 * 2000 * len(q)
    assert np.max(np.abs(mech.terms(mine.q.astype(float), mine.v.astype(float)).phi)) < 1e-5 * mech.length


def test_accelerations(five_bar: tuple[sr.Mechanism, HostDevice]) -> None:
    mech, device = five_bar
    q, v = random_states(mech, 5)
    tau = np.random.default_rng(2).normal(size=v.shape)
    a, guards = np.zeros_like(v), np.zeros(len(q), dtype=np.uint32)
    device("accelerations", len(q), (np.int32(len(q)), q, v, tau, None, a, guards))
    good = guards == 0
    assert good.any()
    np.testing.assert_allclose(a[good], mech.acceleration(q, v, tau)[good], rtol=1e-11, atol=1e-10)


def test_angles_of_many_turns_in_float32(tmp_path: Path) -> None:
    """Loops stay closed to 1e-5 where joints have turned a thousand times: turns are kept by themselves."""
    mech = sr.library.bricard()
    turning = turning_coordinates(program_of(mech, "float32", "a test"), mech.nq)
    assert turning.all()
    q, v = random_states(mech, 3, away=0.3)
    turns = 2 * np.pi * np.round(np.random.default_rng(0).uniform(-1000, 1000, q.shape))
    device = HostDevice(mech, "float32", tmp_path)
    here, far = (copies_of(mech, device, x, v.astype(np.float32)) for x in (q.copy(), q + turns))
    for mine in (here, far):
        mine.advance(500, 1e-3, Inputs())
        assert np.max(np.abs(mech.terms(mine.q, mine.v.astype(float)).phi)) < 1e-5 * mech.length
    np.testing.assert_allclose(far.q - turns, here.q, rtol=0, atol=1e-3)  # rounding of float32, amplified


def test_coordinates_that_are_no_angles_alone() -> None:
    """A spring on a joint, gears and a slide on a spring see whole turns; quaternions are no angles."""
    spec = sr.MechanismSpec()
    for name in ("free", "sprung", "geared", "pinion"):
        spec.body(name, joint=sr.Revolute("z"), mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1))
    spec.body("slide", joint=sr.Prismatic("x"), mass=1.0)
    spec.force("pull", sr.PointSpring("ground", (0, 1, 0), "slide", (0, 0, 0), 1.0, 0.5))
    spec.body("ball", joint=sr.Spherical(), mass=1.0, inertia=(0.1, 0.1, 0.1))
    spec.constrain("gear", sr.Coupling({"geared": 1.0, "pinion": -2.0}))
    spec.force("spring", sr.JointSpring("sprung", 3.0))
    mech = spec.compile()
    found = turning_coordinates(program_of(mech, "float32", "a test"), mech.nq)
    assert found.tolist() == [True, False, False, False, False, False, False, False, False]


def test_copies_with_parameters(tmp_path: Path) -> None:
    """Masses, gravity and a length of each copy as inputs of one program, beside `rollout`."""
    spec = sr.MechanismSpec(gravity=(0.0, -9.81, 0.0))
    reach = spec.parameter("reach", 0.5)
    spec.body("crank", joint=sr.Revolute("z"), mass=1.0, com=(0.1, 0, 0), inertia=(0.01, 0.01, 0.01))
    spec.body(
        "rod",
        "crank",
        joint=sr.Revolute("z"),
        at=sr.Pose((reach, 0, 0)),
        mass=0.5,
        com=(0.3, 0, 0),
        inertia=(0.01,) * 3,
    )
    spec.constrain("rail", sr.PointOnLine("ground", (0, 0, 0), "rod", (1.0, 0, 0), (1, 0, 0)))
    mech = spec.compile()
    count = 4
    parameters = {
        "reach": np.linspace(0.4, 0.6, count),
        "mass": {"rod": np.linspace(0.2, 1.0, count)},
        "gravity": np.outer(np.linspace(0.5, 1.5, count), [0.0, -9.81, 0.0]),
    }
    variants = variants_of(mech, parameters)
    q = np.array([one.assemble(fixed={"crank": 0.4}).q for one in variants])
    known = sr.rollout(mech, q, dt=1e-3, steps=300, every=100, parameters=parameters)
    assert known.success
    models = [one.model for one in variants]
    entries = varied_entries([mech.model, *models], "a test")
    assert {name for name, _ in entries.key} >= {"mass", "gravity", "p_PJ"}
    values = entries.values(models)
    device = HostDevice(mech, "float64", tmp_path, entries)
    state = q.copy(), np.zeros((count, mech.nv))
    mine = RecordedCopies(np, device, general_on_host(variants), mech._actuated, state)
    kept = np.zeros((count, 3, mech.nq)), np.zeros((count, 3, mech.nv)), 100
    mine.advance(300, 1e-3, Inputs(parameters=values), kept)
    assert mine.general_steps.sum() < 300
    np.testing.assert_allclose(kept[0], known.q[:, 1:], rtol=0, atol=1e-10)
