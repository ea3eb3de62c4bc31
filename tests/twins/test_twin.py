"""Maps of twins beside assembly, differences and virtual work; what is refused."""

from __future__ import annotations

import re

import numpy as np
import pytest

import sarrus as sr

from .robots import ankle, knee
from .robots_given import ROBOTS, poses_of, twin_of

SINGLE = [name for name in ROBOTS if name != "stewart"]


@pytest.mark.parametrize("name", SINGLE)
def test_motors_are_where_assembly_puts_them(name: str) -> None:
    """Newton's method of the kernel ends at gaps of 1e-13 L: angles agree to 1e-10."""
    twin, (q, _) = twin_of(name), poses_of(name)
    mech, found = twin.mech, twin.complete(q).q
    single = [k for k, i in enumerate(twin.tree.model.coordinate_q) if i >= 0]
    for pose, own in zip(q[:6], found[:6], strict=True):
        held = {twin.serial[k]: pose[twin.tree.model.coordinate_q[k]] for k in single}
        assembled = mech.assemble(own + 0.0, fixed=held)
        near = mech.assemble(
            mech.integrate(own, 1e-3 * mech.units.unit * np.sin(np.arange(mech.nv))), fixed=held
        )
        for one in (assembled, near):
            assert one.success
            motors = [one.q[mech.index(x).q][0] for x in twin.motor_names]
            np.testing.assert_allclose(motors, twin.motors(pose), atol=1e-10)


@pytest.mark.parametrize("name", ROBOTS)
def test_completed_states_are_closed(name: str) -> None:
    twin, (q, v) = twin_of(name), poses_of(name)
    assert len(q) > 10
    state = twin.complete(q, v)
    terms = twin.mech.terms(state.q, state.v)
    assert np.abs(terms.phi).max() < 1e-13
    assert np.abs(np.einsum("bij,bj->bi", terms.J, state.v)).max() < 1e-12 * np.abs(state.v).max() * 10
    np.testing.assert_allclose(state.q[:, twin.loops.split.given_q], q, atol=1e-15)  # quaternions


@pytest.mark.parametrize("name", ROBOTS)
def test_the_jacobian_and_its_rate_are_derivatives(name: str) -> None:
    """Central differences: 1e-7 for steps of 1e-6 and functions of size 1."""
    twin, (q, v) = twin_of(name), poses_of(name)
    tree, q, v, step = twin.tree, q[:4], v[:4], 1e-6
    for j in range(tree.nv):
        e = step * np.eye(tree.nv)[j]
        slope = (twin.motors(tree.integrate(q, e)) - twin.motors(tree.integrate(q, -e))) / (2 * step)
        np.testing.assert_allclose(twin.jacobian(q)[..., j], slope, atol=1e-7, rtol=1e-7)
    ahead, behind = (twin.jacobian(tree.integrate(q, s * step * v)) for s in (1, -1))
    np.testing.assert_allclose(twin.jacobian_rate(q, v), (ahead - behind) / (2 * step), atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("name", ROBOTS)
def test_torques_do_the_same_work_on_both_sides(name: str) -> None:
    twin, (q, v) = twin_of(name), poses_of(name)
    tau_m = np.random.default_rng(0).standard_normal((len(q), len(twin.motor_names)))
    tau_s = twin.to_joints(q, tau_m)
    columns = [one.index for one in twin.mech.model.actuators]
    v_m = twin.complete(q, v).v[:, columns]
    work = np.sum(tau_m * v_m, axis=1)
    np.testing.assert_allclose(np.sum(tau_s * v, axis=1), work, atol=1e-12 * (1 + np.abs(work).max()))
    np.testing.assert_allclose(twin.to_motors(q, tau_s), tau_m, atol=1e-12)


@pytest.mark.parametrize("name", ROBOTS)
def test_the_correction_makes_the_tree_move_as_the_closed_robot(name: str) -> None:
    """The closed robot under the torques of its motors, by its own forward dynamics."""
    twin, (q, v) = twin_of(name), poses_of(name)
    tau_m = np.random.default_rng(1).standard_normal((len(q), len(twin.motor_names)))
    tau_s, state = twin.to_joints(q, tau_m), twin.complete(q, v)
    closed = np.array(
        [twin.mech.forward_dynamics(a, b, u=u).a for a, b, u in zip(*state, tau_m, strict=True)]
    )
    wanted = closed[:, twin.loops.split.given]
    corrected = tau_s + twin.correction(q, v, tau_s)
    found = twin.tree.acceleration(q, v, corrected)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())


def test_inertia_of_linkages_stays_on_a_floating_robot() -> None:
    twin = twin_of("floating ankle")
    masses = [sum(one.mass for one in mech.model.bodies) for mech in (twin.mech, twin.tree)]
    assert masses[0] == pytest.approx(masses[1], rel=1e-12)
    tree, q = twin.tree, twin.tree.default.q
    assert twin.error(q, np.zeros(tree.nv), np.zeros(tree.nv)).relative < 0.02
    com = [mech.center_of_mass(mech.default.q) for mech in (twin.mech, twin.tree)]
    np.testing.assert_allclose(*com, atol=5e-3)


def test_a_linkage_of_a_milligram_leaves_nothing_to_correct() -> None:
    mech = knee()
    tiny = {"mass": 1e-9, "inertia": (1e-12, 1e-12, 1e-12), "armature": 0.0}
    light = mech.with_(**{what: dict.fromkeys(("crank", "rod"), x) for what, x in tiny.items()})
    twin = sr.twin(light, ("thigh", "shank"))
    error = twin.error([0.3, 0.4], [1.0, -2.0], [3.0, 5.0])
    assert error.relative < 1e-7
    np.testing.assert_allclose(error.torque, 0.0, atol=1e-6)


def test_springs_of_linkages_become_springs_of_joints() -> None:
    spec = sr.MechanismSpec.from_model(knee().model)
    spec.force("return", sr.JointSpring("crank", 40.0, 0.1))
    twin = sr.twin(spec.compile(), ("thigh", "shank"))
    q, none = twin.tree.default.q, np.zeros(2)
    assert any("return" in text for text in twin.left_out)
    assert twin.error(q, none, none).relative < 0.1
    (spring,) = [one for _, one in twin.tree.model.forces]
    assert isinstance(spring, sr.JointSpring) and spring.stiffness > 20.0


# ---------------------------------------------------------------------- refusals


def refused(message: str, serial: tuple[str, ...], mech: sr.Mechanism | None = None) -> None:
    with pytest.raises(sr.SarrusError, match=message):
        sr.twin(ankle() if mech is None else mech, serial)


def test_joints_that_do_not_determine_the_motors() -> None:
    """A five-bar has two freedoms, of which one joint says one."""
    five = sr.library.five_bar()
    with pytest.raises(
        sr.InputError, match=r"do not determine the motors .* freedom\(s\) are left. Add 'link"
    ):
        sr.twin(five, ["link1"])
    with pytest.raises(sr.InputError, match="do not determine"):
        sr.twin(ankle(), ["shank"])


def test_joints_that_are_tied_to_each_other() -> None:
    refused("not independent.*'foot.angle1'.*Leave one of them out", ("shank", "foot", "left_crank"))


def test_joints_that_are_on_no_main_chain() -> None:
    refused(r"cannot be one of a tree: it hangs on 'crank'", ("thigh", "rod"), knee())


def test_names_that_do_not_exist_or_are_half_a_joint() -> None:
    refused(r"serial of twin: unknown joint or coordinate 'feet'", ("feet",))
    refused("not foot.angle2; a tree has the joint or not", ("shank", "foot.angle1"))


def test_robots_that_have_no_twin() -> None:
    spec = sr.MechanismSpec.from_model(knee().model)
    spec.constrain("motion", sr.Drive("thigh", np.sin))
    refused("function", ("thigh", "shank"), spec.compile())
    refused("restrict velocities only", ("disk",), sr.library.rolling_disk())
    open_ = knee().with_default([0.0, 0.3, 0.0, 0.0])
    refused("is open by .*with_default", ("thigh", "shank"), open_)
    with pytest.raises(sr.InputError, match=r"takes a Mechanism"):
        sr.twin(sr.MechanismSpec(), ["a"])  # type: ignore[arg-type]
    with pytest.raises(sr.UnknownNameError, match="speeds of twin"):
        sr.twin(knee(), ["thigh", "shank"], speeds={"shank": 1.0})


def test_beyond_its_branch_a_twin_has_a_word_and_no_number() -> None:
    """The motor's crank of the knee can turn, its shank cannot."""
    twin = twin_of("knee")
    far = np.array([[0.0, 3.0], [0.0, 0.2]])
    assert twin.status(far).tolist() == [1, 0]
    assert np.isnan(twin.motors(far)[0]).all() and np.isfinite(twin.motors(far)[1]).all()
    for call in (twin.motors, twin.jacobian, twin.complete):
        with pytest.raises(sr.AssemblyError, match="do not close on the way"):
            call(far[0])


def test_where_motors_lose_a_joint_there_is_a_word() -> None:
    """Where crank and rod of the knee are in line J_A grows without bound, and then there is nothing."""
    twin = twin_of("knee")
    low, high = 0.2, 3.0
    for _ in range(60):  # the last pose that closes
        middle = 0.5 * (low + high)
        low, high = (middle, high) if twin.status([0.0, middle]) == 0 else (low, middle)
    assert abs(twin.jacobian([0.0, low - 1e-6])[1, 1]) > 100.0
    with pytest.raises(sr.SarrusError, match=r"singular|do not close"):
        twin.motors([0.0, high + 1e-6])


def test_torques_that_no_motor_makes() -> None:
    twin = twin_of("floating ankle")
    q, tau = twin.tree.default.q, np.zeros(8)
    tau[2], tau[6] = 5.0, 1.0
    with pytest.raises(sr.SingularConstraintError, match=r"no motor .* 'shank.vz'"):
        twin.to_motors(q, tau)
    assert np.isnan(twin.to_motors(q[None], tau)).all()


def test_motors_at_a_dead_centre_lose_their_joint() -> None:
    """A piston at its top: the crank moves it no more."""
    spec = sr.MechanismSpec(name="engine")
    spec.body("piston", joint=sr.Prismatic("z"), mass=1.0)
    spec.body("crank", joint=sr.Revolute("y"), at=sr.Pose((0, 0, -0.4)), mass=1.0, inertia=(0.1, 0.1, 0.1))
    rod = {"mass": 0.1, "inertia": (1e-3, 1e-3, 1e-5)}
    spec.body("rod", "crank", joint=sr.Revolute("y"), at=sr.Pose((0.1, 0, 0)), **rod)
    spec.close("pin", "rod", "piston", sr.Revolute("y"), at_a=sr.Pose((0, 0, 0.38)))
    spec.actuate("piston")  # the motor pulls at the piston: the crank is the joint
    mech = spec.compile()
    twin = sr.twin(mech.with_default(mech.assemble(fixed={"crank": 0.0}).q), ["crank"])
    top = twin.mech.assemble(twin.mech.default.q, fixed={"crank": -np.pi / 2}).q
    with pytest.raises(sr.SingularConstraintError, match="J_A of 'engine' is singular"):
        twin.to_motors([-np.pi / 2], [1.0])
    assert "lost a joint" in twin.limits([-np.pi / 2]).message
    assert np.isfinite(twin.motors([-np.pi / 2])).all() and top is not None


def test_other_arguments() -> None:
    twin = twin_of("knee")
    with pytest.raises(sr.InputError, match="limits takes one pose"):
        twin.limits(np.zeros((2, 2)))
    with pytest.raises(sr.InputError, match="tau_m"):
        twin.to_joints([0.0, 0.1], [1.0])
    assert re.fullmatch(r"Twin\('knee', serial=\['thigh', 'shank'\], motors=.*\)", repr(twin))
