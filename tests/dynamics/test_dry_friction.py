"""Dry friction of one state: the box problem, Gauss' principle, virtual work in a linkage, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.dynamics.dry_friction import DryFriction
from sarrus.errors import InputError

COULOMB: Any = {"friction_model": "coulomb"}


def four_bar(friction: Any, drawn: bool = True, **limits: tuple[float, float]) -> sr.Mechanism:
    """A linkage whose four pins have friction: hinges in space, or pins of a plane without redundant rows.

    Limits are those of pins, by their names.
    """
    only: Any = dict.fromkeys("ABCD", (-np.inf, np.inf)) | limits
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, 0.0), name="four_bar")
    A, B, C, D = map(np.array, ((0.0, 0.0, 0.0), (0.2, 0.25, 0.0), (0.9, 0.5, 0.0), (0.8, 0.0, 0.0)))
    if drawn:
        spec.link("crank", A, B, mass=1.0).link("rod", B, C, mass=2.0).link("rocker", D, C, mass=1.5)
        ends = {"A": ("ground", "crank", A), "B": ("crank", "rod", B), "C": ("rod", "rocker", C)}
        ends["D"] = ("rocker", "ground", D)
        for (name, (a, b, at)), c in zip(ends.items(), friction, strict=True):
            spec.joint(name, a, b, sr.Revolute("z"), at=at, friction=c, limits=only[name], **COULOMB)
        return spec.compile()
    parent, before = "ground", np.zeros(3)
    for name, at, mass, c in zip("ABCD", (A, B, C, D), (1.0, 2.0, 1.5, 0.5), friction, strict=True):
        solid: Any = {"mass": mass, "com": (0.1, 0.1, 0.0), "inertia": (0.01, 0.01, 0.02)}
        solid["limits"] = only[name]
        spec.body(
            name, parent, joint=sr.Revolute("z"), at=sr.Pose(at - before), friction=c, **COULOMB, **solid
        )
        parent, before = name, at
    spec.constrain("turn", sr.Coupling(dict.fromkeys("ABCD", 1.0)))
    spec.constrain("x", sr.PointOnPlane("ground", D, "D", (0.0, 0.0, 0.0), (1.0, 0.0, 0.0)))
    spec.constrain("y", sr.PointOnPlane("ground", D, "D", (0.0, 0.0, 0.0), (0.0, 1.0, 0.0)))
    return spec.compile()


def holding_torque(mech: sr.Mechanism, friction: Any) -> tuple[float, Any]:
    """Torque on pin A up to which friction holds the linkage, by virtual work; rates of all pins over A's."""
    N = mech.decompose(mech.neutral()).N[:, 0]
    rates = N / N[mech.names.index("A")]
    pins = [mech.names.index(name) for name in "ABCD"]
    return float(np.asarray(friction) @ np.abs(rates[pins])), rates


@pytest.mark.parametrize("drawn", [True, False], ids=["hinges in space", "pins in a plane"])
def test_four_bar_holds_up_to_the_virtual_work_of_its_pins(drawn: bool) -> None:
    friction = (0.3, 0.2, 0.5, 0.1)
    mech = four_bar(friction, drawn)
    limit, rates = holding_torque(mech, friction)
    crank = np.eye(mech.nv)[mech.names.index("A")]
    q, rest = mech.neutral(), np.zeros(mech.nv)
    free = mech.with_(friction=dict.fromkeys("ABCD", 0.0))
    for share in (0.3, -0.9, 1.0 - 1e-9):
        held = mech.forward_dynamics(q, rest, share * limit * crank)
        assert np.max(np.abs(held.a)) < 1e-13 * np.max(np.abs(free.acceleration(q, rest, limit * crank)))
        assert np.all(np.abs(held.friction[:4]) <= np.array(friction) * (1 + 1e-12))
        assert rates @ held.friction == pytest.approx(-share * limit, rel=1e-12)
        assert not held.friction_unique.any()
    for share in (1.01, -2.0):
        moved = mech.forward_dynamics(q, rest, share * limit * crank)
        one = free.acceleration(q, rest, crank)  # the excess alone accelerates
        assert moved.a == pytest.approx((share - np.sign(share)) * limit * one, rel=1e-9)
        assert moved.friction_unique.all()


def test_least_norm_of_shared_friction() -> None:
    """Within the bounds it is along the rates: the solution of least norm of one equation."""
    friction = (0.3, 0.2, 0.5, 0.1)
    mech = four_bar(friction)
    _, rates = holding_torque(mech, friction)
    held = mech.forward_dynamics(mech.neutral(), np.zeros(4), [0.1, 0.0, 0.0, 0.0])
    assert held.friction == pytest.approx(-0.1 * rates / (rates @ rates), rel=1e-9)


def test_acceleration_minimizes_gauss_function_plus_friction_power() -> None:
    """Against a hundred thousand other accelerations of a chain at rest along some of its joints."""
    rng = np.random.default_rng(21)
    spec, parent = sr.MechanismSpec(), "ground"
    for i in range(4):
        at = sr.Pose((0.0, 0.0, -0.3 if i else 0.0))
        solid: Any = {"mass": 1.0 + i, "com": (0.02, 0.0, -0.15), "inertia": (0.02, 0.02, 0.01)}
        axis = "xyxy"[i]
        spec.body(
            f"l{i}",
            parent,
            joint=sr.Revolute(axis),
            at=at,
            friction=0.4 + i,
            breakaway=1.0 + i,
            **COULOMB,
            **solid,
        )
        parent = f"l{i}"
    spec.constrain("pair", sr.Coupling({"l0": 1.0, "l2": -0.5}))
    mech = spec.compile()
    q = mech.assemble(np.array([0.3, -0.6, 0.6, 0.8])).q
    for _ in range(20):
        v = np.array([0.0, 0.7, 0.0, 0.0])
        tau = rng.normal(size=4) * 6.0
        a = mech.acceleration(q, v, tau)
        terms = mech.terms(q, v)
        free = np.linalg.solve(terms.M, tau - terms.h)  # h holds the friction of l1, which slides
        bounds = np.array([1.0, 0.0, 3.0, 4.0])

        J = terms.J[0]
        others = rng.normal(size=(5000, 4)) * np.logspace(-6, 1, 5000)[:, None]
        others -= np.outer(others @ J, J) / (J @ J)
        assert abs(J @ a - terms.gamma[0]) < 1e-12
        d = a + np.vstack([np.zeros(4), others]) - free
        cost = 0.5 * np.einsum("ki,ij,kj->k", d, terms.M, d) + np.abs(d + free) @ bounds
        assert np.all(cost >= cost[0] - 1e-12 * abs(cost[0]))


def test_sliding_friction_has_a_stribeck_part() -> None:
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, 0.0))
    spec.body("block", joint=sr.Prismatic("x"), mass=2.0, damping=0.5)
    spec.force("seal", sr.CoulombFriction("block", 3.0, breakaway=5.0, friction_speed=0.2))
    mech = spec.compile()
    for v in (1e-3, 0.1, -0.2, 1.0):
        expected = -np.sign(v) * (3.0 + 2.0 * np.exp(-((v / 0.2) ** 2)))
        motion = mech.forward_dynamics([0.0], [v])
        assert motion.friction == pytest.approx([expected], rel=1e-14)
        assert motion.a == pytest.approx([(expected - 0.5 * v) / 2.0], rel=1e-12)
    assert mech.acceleration([0.0], [0.0], [4.999]) == pytest.approx([0.0], abs=1e-15)
    assert mech.acceleration([0.0], [0.0], [5.5]) == pytest.approx([0.25], rel=1e-12)


def test_friction_of_joint_and_drive_add_up() -> None:
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, 0.0))
    spec.body("arm", joint=sr.Revolute("z"), inertia=(1.0, 1.0, 1.0), mass=1.0, friction=2.0, **COULOMB)
    spec.force("gearbox", sr.CoulombFriction("arm", 1.0))
    mech = spec.compile()
    assert mech.forward_dynamics([0.0], [1.0]).friction == pytest.approx([-3.0])
    assert mech.forward_dynamics([0.0], [0.0], [2.9]).a == pytest.approx([0.0], abs=1e-15)
    assert mech.forward_dynamics([0.0], [0.0], [3.5]).a == pytest.approx([0.5])


def test_batches_and_reactions() -> None:
    """A door on a hinge: the moment about its axis is what the hinge transmits by friction."""
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, 0.0))
    spec.body(
        "door",
        joint=sr.Revolute("z"),
        mass=1.0,
        com=(0.5, 0.0, 0.0),
        inertia=(0.1, 0.1, 0.1),
        friction=2.0,
        **COULOMB,
    )
    mech = spec.compile()
    pull: Any = {"door": ((0.0, 1.5, 0.0, 0.0, 0.0, 0.0), (1.0, 0.0, 0.0))}
    motion = mech.forward_dynamics([0.0], [0.0], external=pull)
    assert motion.reaction("door")[5] == pytest.approx(-1.5)
    many = mech.forward_dynamics(np.zeros((3, 1)), [[0.0], [1.0], [-1.0]], np.full((3, 1), 0.7))
    assert many.friction[:, 0] == pytest.approx([-0.7, -2.0, 2.0])
    assert many.a.shape == (3, 1) and many.friction_unique.all()


def dry_arm(**more: Any) -> sr.Mechanism:
    spec = sr.MechanismSpec(gravity=(0, 0, -9.81), name="arm")
    given = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1), "friction": 1.0, "breakaway": 1.2, **COULOMB, **more}
    return spec.body("arm", joint=sr.Revolute("y"), com=(0.3, 0, 0), **given).compile()


def test_what_cannot_stick_says_so() -> None:
    mech = dry_arm()
    with pytest.raises(InputError, match=r"exported code knows no friction that sticks, which .* 'arm'"):
        mech.export_code("nowhere")
    without = mech.with_(friction={"arm": 0.0}, breakaway={"arm": 0.0})
    assert without.step([0.0], [0.0]).status == 0


def test_ways_out_are_those_of_the_friction_there_is() -> None:
    """What a message advises can be done: friction of joints by with_, declared forces by a description."""
    joint = r"out: that of joints by friction_model='smooth' or mech.with_\(friction={'arm': 0}, .*}\)\.$"
    with pytest.raises(InputError, match=joint):
        dry_arm().export_code("nowhere")
    spec = sr.MechanismSpec(name="braked").body("a", joint=sr.Revolute("z"), mass=1.0, inertia=(1, 1, 1))
    braked = spec.force("brake", sr.CoulombFriction("a", 1.0)).compile()
    declared = r"Leave it out: the force 'brake' \(CoulombFriction\) by a description without"
    with pytest.raises(InputError, match=declared):
        braked.export_code("nowhere")
    with pytest.raises(InputError, match=declared + r".* To lock what sticks.*Coupling\({'a': 1.0}, offset="):
        sr.linearize(braked, [0.3], [0.0])


def test_linear_model_with_what_sticks_locked() -> None:
    """The way out of the message: a cart on a spring, on a cross slide that sticks."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="cross")
    spec.body("slide", joint=sr.Prismatic("y"), mass=1.0, inertia=(1, 1, 1), friction=2.0, **COULOMB)
    spec.body("cart", "slide", joint=sr.Prismatic("x"), mass=4.0, inertia=(1, 1, 1))
    spec.force("spring", sr.JointSpring("cart", 100.0))
    with pytest.raises(InputError, match=r"linearize: 'slide' of 'cross' are at rest.*'slide': 1.0"):
        sr.linearize(spec.compile(), [0.0, 0.0], [0.0, 0.0])
    locked = spec.constrain("stuck", sr.Coupling({"slide": 1.0})).compile()
    found = sr.linearize(locked.with_(friction={"slide": 0.0}, breakaway={"slide": 0.0}))
    np.testing.assert_allclose(np.sort(found.eigenvalues.imag), [-5.0, 5.0], rtol=1e-9)


def test_equilibrium_is_that_without_friction() -> None:
    rest = sr.equilibrium(dry_arm(), [1.4])
    assert rest.q == pytest.approx([np.pi / 2], abs=1e-9) and rest.stable
    assert "Dry friction of 'arm' is left out; it holds poses nearby as well." in rest.message
    near = np.arccos(1.19 / (0.3 * 9.81))  # within breakaway / (m g l) of the vertical
    assert dry_arm().forward_dynamics([near], [0.0]).a == pytest.approx([0.0], abs=1e-12)


@pytest.mark.parametrize("make", [dry_arm, lambda: four_bar((0.3, 0.2, 0.5, 0.1))])
def test_step_derivatives_of_steps_that_slide(make: Any) -> None:
    """Differences of `step`, which takes its steps with events."""
    mech = make()
    q = mech.neutral()
    v = 2.0 * mech.decompose(q).N[:, 0]
    found, dt, eps = mech.step_derivatives(q, v, dt=1e-3), 1e-3, 1e-5
    N = mech.decompose(q).N
    for k, direction in enumerate(N.T):
        ends = [mech.step(q, v + s * eps * direction, dt=dt) for s in (1.0, -1.0)]
        dq = mech.difference(ends[1].q, ends[0].q) / (2 * eps)
        dv = (ends[0].v - ends[1].v) / (2 * eps)
        slope = found.A @ np.concatenate([np.zeros(mech.nv), direction])
        assert np.concatenate([dq, dv]) == pytest.approx(slope, abs=2e-6), k


def test_step_derivatives_refuse_what_sticks() -> None:
    mech = dry_arm()
    with pytest.raises(InputError, match="step_derivatives: 'arm' of 'arm' are at rest"):
        mech.step_derivatives([0.0], [0.0])
    with pytest.raises(InputError, match="'arm' of 'arm' stop within the step, where friction begins"):
        mech.step_derivatives([0.0], [-1e-3], dt=1e-2)
    with pytest.raises(InputError, match="stop within the step"):
        mech.step_derivatives([[0.0], [0.0]], [[3.0], [-1e-3]], dt=1e-2)


def test_sliding_states_are_smooth_and_resting_ones_refused() -> None:
    """h, inverse dynamics and linear models hold the friction of coordinates that slide."""
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, 0.0))
    spec.body(
        "arm",
        joint=sr.Revolute("y"),
        mass=1.0,
        inertia=(0.1, 0.1, 0.1),
        damping=0.05,
        **COULOMB,
        friction=1.0,
    )
    spec.force("seal", sr.CoulombFriction("arm", 0.5, 0.8, friction_speed=2.0))
    mech = spec.compile()
    level = 1.0 + 0.5 + 0.3 * np.exp(-1.0)
    assert mech.bias([0.0], [-2.0]) == pytest.approx([-level - 0.1])
    assert mech.inverse_dynamics([0.0], [2.0], [3.0]).u == pytest.approx([level + 0.1 + 0.3])
    slope = 0.05 - 0.3 * np.exp(-1.0) * 2 * 2.0 / 4.0
    for method in ("analytic", "dual", "finite_difference"):
        assert sr.linearize(mech, q=[0.0], v=[2.0], method=method).A[1, 1] == pytest.approx(
            -slope / 0.1, rel=1e-6
        )
    assert mech.derivatives([0.0], [2.0]).a.shape == (3, 1, 1)
    for what, call in (
        ("derivatives", lambda: mech.derivatives([0.0], [0.0])),
        ("inverse_dynamics", lambda: mech.inverse_dynamics([0.0], [0.0], [1.0])),
        ("linearize", lambda: sr.linearize(mech)),
    ):
        with pytest.raises(InputError, match=f"{what}: 'arm' of .* are at rest, where friction that sticks"):
            call()


def test_bad_friction_is_refused() -> None:
    def arm(**given: Any) -> None:
        sr.MechanismSpec().body("arm", joint=sr.Revolute("y"), mass=1.0, **given)

    for given, message in (
        ({"friction": -1.0, **COULOMB}, "friction of body 'arm' must .* negative"),
        ({"friction": 1.0, "friction_model": "dry"}, "friction_model of body 'arm' must be one of"),
        ({"friction": 2.0, "breakaway": 1.0, **COULOMB}, "breakaway of body 'arm' must be at least"),
        ({"friction": 2.0, "breakaway": 3.0}, "breakaway of body 'arm' needs friction_model='coulomb'"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=message):
            arm(**given)
    with pytest.raises(InputError, match="friction of CoulombFriction"):
        sr.CoulombFriction("arm", -1.0)
    with pytest.raises(InputError, match="breakaway of CoulombFriction must be at least its friction"):
        sr.CoulombFriction("arm", 2.0, 1.0)


def test_rows_of_a_model() -> None:
    mech = four_bar((0.3, 0.0, 0.5, 0.1))
    rows = DryFriction(mech.model)
    assert rows.names == ("A", "C", "D") and rows.bounds == pytest.approx([0.3, 0.5, 0.1])
    copy = sr.MechanismSpec.from_dict(sr.formats.json.spec_of(mech).to_dict()).compile()
    assert DryFriction(copy.model).names == rows.names
