"""Exact derivatives by parameters: equations of motion in 40 digits, laws of scaling, gears by hand.

Bounds are rounding: 1e-12 of the size of what is compared, where differences reach 1e-9.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

import sarrus as sr
from sarrus.dual_numbers import Dual
from sarrus.mechanism.variants.parameter_derivatives import by_differences
from sarrus.mechanism.variants.state_slopes import Situation

pytestmark = pytest.mark.filterwarnings("ignore:.*redundant:sarrus.SarrusWarning")

ROUNDING = 1e-12
GRAVITY = 9.81
SPEED = 2.5  # of the crank [rad/s]
VALUES = {"crank": 0.15, "m": 1.2, "k": 180.0, "base": 0.4}


def four_bar(driven: bool) -> sr.Mechanism:
    """A spring on the coupler; the rocker is 1.6 cranks longer than it is drawn with the crank upright."""
    spec = sr.MechanismSpec(gravity=(0, -GRAVITY, 0), name="four_bar")
    crank, m, k, base = (spec.parameter(name, x) for name, x in VALUES.items())
    high = spec.parameter("high", 1.6 * crank)  # follows
    spec.point("A", (0, 0, 0)).point("B", (0, crank, 0)).point("C", (0.35, high, 0)).point("D", (base, 0, 0))
    spec.link("crank", "A", "B", mass=0.5).link("coupler", "B", "C", mass=m)
    spec.link("rocker", "D", "C", mass=0.8)
    pairs = (("A", "ground", "crank"), ("B", "crank", "coupler"), ("C", "coupler", "rocker"))
    for name, a, b in (*pairs, ("D", "ground", "rocker")):
        spec.joint(name, a, b, sr.Revolute("z"), at=name)
    spec.force("spring", sr.PointSpring("coupler", "C", "ground", "A", stiffness=k, rest=0.2))
    if driven:
        spec.constrain("drive", sr.Drive("A", lambda t: SPEED * t, lambda t: SPEED, lambda t: 0.0))
        spec.measure("torque", sr.ForceIn("drive"))
    spec.measure("tension", sr.ForceIn("spring")).measure("C", sr.Position("coupler", "C"))
    spec.measure("speed", sr.Speed("coupler", "C")).measure(
        "length", sr.Length("coupler", "C", "ground", "A")
    )
    return spec.measure("angle", sr.Angle("crank", "rocker")).compile()


class OneFreedom:
    """The same linkage by its loop equation, as functions of the crank's angle from upright, by mpmath."""

    def __init__(self, p: dict[str, Any]) -> None:
        self.p = {"high": mpf("1.6") * p["crank"]} | p

    def places(self, angle: Any) -> tuple[Any, Any]:
        """B and C as complex numbers."""
        p = self.p
        B, D, up = mp.mpc(0, 1) * mp.expj(angle) * p["crank"], p["base"], mp.mpc(mpf("0.35"), p["high"])
        coupler, rocker = abs(up - mp.mpc(0, p["crank"])), abs(up - D)
        apart = abs(D - B)
        along = (coupler**2 - rocker**2 + apart**2) / (2 * apart)
        return B, B + (D - B) / apart * mp.mpc(along, mp.sqrt(coupler**2 - along**2))

    def inertia(self, angle: Any) -> Any:
        """Of the crank: twice the kinetic energy at 1 rad/s. Rods have m l^2/12."""
        p, eps = self.p, mp.diff
        B, C = (lambda x, k=k: self.places(x)[k] for k in (0, 1))
        b, c = eps(B, angle), eps(C, angle)
        rods = ((mpf("0.5"), 0, b), (p["m"], b, c), (mpf("0.8"), 0, c))
        return sum(m * (abs(x) ** 2 + abs(y) ** 2 + mp.re(x * mp.conj(y))) / 3 for m, x, y in rods)

    def energy(self, angle: Any) -> Any:
        p, (B, C) = self.p, self.places(angle)
        weight = mpf("0.5") * mp.im(B) / 2 + p["m"] * mp.im(B + C) / 2 + mpf("0.8") * mp.im(C) / 2
        return mpf(GRAVITY) * weight + p["k"] * (abs(C) - mpf("0.2")) ** 2 / 2

    def torque(self, angle: Any) -> Any:
        """What turns the crank at constant speed."""
        return mp.diff(self.inertia, angle) / 2 * mpf(SPEED) ** 2 + mp.diff(self.energy, angle)

    def acceleration(self, angle: Any) -> Any:
        return -self.torque(angle) / self.inertia(angle)

    def length(self, angle: Any) -> Any:
        return abs(self.places(angle)[1])

    def speed(self, angle: Any) -> Any:
        return mp.diff(lambda x: mp.re(self.places(x)[1]), angle) * mpf(SPEED)

    def turned(self, angle: Any) -> Any:
        """Rocker against crank, whose frames point along x and y of the drawing's bars."""
        _, C = self.places(angle)
        return mp.arg((C - self.p["base"]) / (mp.mpc(0, 1) * mp.expj(angle)))


def slope(f: Callable[[OneFreedom], Any], name: str) -> float:
    """Derivative by a parameter, 40 digits."""
    mp.dps = 40
    values = {key: mpf(x) for key, x in VALUES.items()}
    if name == "high":
        values["high"] = mpf("1.6") * values["crank"]
    return float(mp.diff(lambda x: f(OneFreedom(values | {name: x})), values[name]))


ANGLE = 0.3


@pytest.mark.parametrize("name", [*VALUES, "high"])
def test_four_bar_in_forty_digits(name: str) -> None:
    """Acceleration of the crank, places, speeds, angles, spring force. `high` follows `crank`."""
    mech = four_bar(driven=False)
    q = mech.assemble(fixed={"A": ANGLE}).q
    found = mech.parameter_derivatives(q, mech.consistent_velocity(q, fixed={"A": SPEED}), fixed=["A"])
    assert found.differences == ()
    measured = found.measures[name]
    for got, f, size in (
        (found.a[name][0], OneFreedom.acceleration, 1e2),
        (measured["length"], OneFreedom.length, 1.0),
        (measured["speed"][0], OneFreedom.speed, 1.0),
        (measured["C"][0], lambda one, x: mp.re(one.places(x)[1]), 1.0),
        (measured["angle"], OneFreedom.turned, 1.0),
        (measured["tension"], lambda one, x: one.p["k"] * (one.length(x) - mpf("0.2")), 1e2),
    ):
        expected = slope(lambda one, f=f: f(one, mpf(ANGLE)), name)  # type: ignore[misc]
        assert got == pytest.approx(expected, rel=ROUNDING, abs=ROUNDING * size)


@pytest.mark.parametrize("name", [*VALUES, "high"])
def test_torque_of_a_drive_in_forty_digits(name: str) -> None:
    mech, t = four_bar(driven=True), ANGLE / SPEED
    q = mech.assemble(t=t).q
    found = mech.parameter_derivatives(q, mech.consistent_velocity(q, t=t), t)
    expected = slope(lambda one: one.torque(mpf(ANGLE)), name)
    assert found.measures[name]["torque"] == pytest.approx(expected, rel=ROUNDING, abs=1e2 * ROUNDING)


def bennett() -> sr.Mechanism:
    """Four skew hinges that move although six rows would forbid it; all lengths times `size`.

    `twist` keeps a / sin(alpha) = b / sin(beta).
    """
    spec = sr.MechanismSpec(gravity=(0, 1, -GRAVITY), name="bennett")
    size, twist = spec.parameter("size", 1.0), spec.parameter("twist", 0.7)
    a, beta = 0.5 * size, 1.3
    b = a * np.sin(beta) / np.sin(twist)
    ends, before = ((a, twist), (b, beta), (a, twist), (b, beta)), "ground"
    at = sr.Pose()
    for name, (length, turn) in zip(("one", "two", "three", "four"), ends, strict=True):
        across = length**2 / 12
        inertia = (1e-3 * size**2, across, across)
        own = {"mass": 1.0, "com": (length / 2, 0, 0), "inertia": inertia}
        spec.body(name, before, joint=sr.Revolute("z"), at=at, **own)
        before, at = name, sr.Pose((length, 0, 0), rpy=(turn, 0, 0))
    spec.close("loop", "four", "ground", joint=sr.Fixed(), at_a=at)
    return spec.measure("P", sr.Position("two", (0.1 * size, 0, 0))).compile()


def test_bennett_scales() -> None:
    """Rows are redundant. Twice as large, at rest: angles stay, accelerations are half, forces the same."""
    mech = bennett()
    q = mech.assemble([1.0, 2.7, -1.0, -2.7], fixed={"one": 1.0}).q
    assert mech.mobility(q).dof == 1 and mech.mobility(q).redundant
    found, motion = mech.parameter_derivatives(q, fixed=["one"]), mech.forward_dynamics(q, np.zeros(4))
    assert found.differences == ()
    np.testing.assert_allclose(found.q["size"], 0.0, atol=ROUNDING)
    np.testing.assert_allclose(found.a["size"], -motion.a, rtol=ROUNDING)
    np.testing.assert_allclose(
        found.measures["size"]["P"], mech.measure(q)["P"], rtol=ROUNDING, atol=ROUNDING
    )


def test_bennett_against_its_closed_form() -> None:
    """tan(one/2) tan(two/2) = sin((beta + alpha)/2) / sin((beta - alpha)/2), [Bennett1903]."""
    mech, theta, omega = bennett(), 1.0, 2.0
    q = mech.assemble([1.0, 2.7, -1.0, -2.7], fixed={"one": theta}).q
    v = mech.consistent_velocity(q, fixed={"one": omega})
    found = mech.parameter_derivatives(q, v, fixed=["one"])
    twist = Dual(0.7, np.array([1.0]))
    k = np.sin((1.3 + twist) * 0.5) / np.sin((1.3 - 1.0 * twist) * 0.5)
    two = 2.0 * np.arctan(k / np.tan(theta / 2))
    rate = -1.0 * k * omega / (np.sin(theta / 2) ** 2 + k * k * np.cos(theta / 2) ** 2)
    assert q[1] == pytest.approx(two.value, rel=ROUNDING) and v[1] == pytest.approx(rate.value, rel=1e-11)
    assert found.q["twist"][1] == pytest.approx(two.slope[0], rel=ROUNDING)
    assert found.v["twist"][1] == pytest.approx(rate.slope[0], rel=ROUNDING)


def test_multipliers_of_least_norm_of_redundant_rows() -> None:
    """d(J.T lam) is unique: it is that of M a + h - tau. And lam stays orthogonal to the null space of J.T.

    Richardson's extrapolation of differences, 1e-9; all else here is compared at rounding.
    """
    mech = bennett()
    q = mech.assemble([1.0, 2.7, -1.0, -2.7], fixed={"one": 1.0}).q
    found = mech.parameter_derivatives(q, fixed=["one"])

    def lam(s: float) -> Any:
        copy = mech.with_(twist=0.7 + s)
        pose = copy.assemble(q, fixed={"one": 1.0}).q
        return copy.forward_dynamics(pose, np.zeros(4)).lam

    rows = [(lam(h) - lam(-h)) / (2 * h) for h in (0.04, 0.02, 0.01, 0.005)]
    for order in (4, 16, 64):
        rows = [(order * fine - coarse) / (order - 1) for coarse, fine in pairwise(rows)]
    np.testing.assert_allclose(found.lam["twist"], rows[0], rtol=0, atol=1e-9 * np.abs(rows[0]).max())


def test_gears_by_hand() -> None:
    """A pinion hoists a weight on the wheel's drum: a, tooth force and load of the pinion's bearing."""
    spec = sr.MechanismSpec(gravity=(0, -GRAVITY, 0), name="hoist")
    module, drum, weight = (
        spec.parameter("module", 0.002), spec.parameter("drum", 0.04), spec.parameter("weight", 3.0)
    )  # fmt: skip
    spec.body("pinion", joint=sr.Revolute("z"), mass=0.5, inertia=(1e-3, 1e-3, 2e-3))
    at = sr.Pose((65 * module / 2, 0, 0))
    spec.body("wheel", joint=sr.Revolute("z"), at=at, mass=2.0, inertia=(2e-2, 2e-2, 3e-2))
    spec.body("load", joint=sr.Prismatic("y"), mass=weight)
    spec.constrain("mesh", sr.Gear("pinion", "wheel", 20, 45, module))
    spec.constrain("rope", sr.Coupling({"load": 1.0, "wheel": drum}))
    spec.measure("teeth", sr.ForceIn("mesh")).measure("bearing", sr.Reaction("pinion", frame="world"))
    mech = spec.compile()
    q = mech.default.q
    found = mech.parameter_derivatives(q, fixed=["pinion"])
    given = {"module": 0.002, "drum": 0.04, "weight": 3.0}
    for name in given:
        m, d, w = (Dual(x, np.array([float(key == name)])) for key, x in given.items())
        r_a, ratio = 10.0 * m, 20.0 / 45.0  # the wheel turns by -ratio, the load rises by ratio * drum
        a = -1.0 * w * GRAVITY * ratio * d / (2e-3 + 3e-2 * ratio**2 + w * (ratio * d) * (ratio * d))
        tooth = 2e-3 * a / r_a  # turns the pinion
        apart = np.tan(np.radians(20.0)) * abs(tooth)
        bearing = found.measures[name]["bearing"]
        for got, expected in (
            (found.a[name][0], a),
            (found.measures[name]["teeth"], tooth),
            (bearing[0], apart),
            (bearing[1], -tooth),
        ):
            scale = abs(expected.value) / given[name]
            assert got == pytest.approx(expected.slope[0], rel=ROUNDING, abs=ROUNDING * scale)


def test_what_is_taken_by_differences_is_said() -> None:
    """Functions that know no dual numbers; all of a mechanism whose rows Python computes."""

    def arm(rows: bool) -> sr.ParameterDerivatives:
        spec = sr.MechanismSpec(gravity=(0, -GRAVITY, 0))
        length = spec.parameter("length", 0.4)
        spec.body("arm", joint=sr.Revolute("z"), mass=1.0, com=(length, 0, 0), inertia=(0.1,) * 3)
        spec.body("slow", joint=sr.Revolute("z"), mass=1.0, inertia=(0.1,) * 3)
        if rows:
            spec.constrain("same", sr.CustomConstraint(lambda q, t: np.array([q[0] - q[1]]), 1))
        else:
            spec.constrain("same", sr.Coupling({"arm": 1.0, "slow": -1.0}))
        spec.measure("dual", lambda q, v, t: np.sin(q[0])).measure("plain", lambda q, v, t: float(q[0]) ** 2)
        return spec.compile().parameter_derivatives([0.3, 0.3])

    exact, other = arm(rows=False), arm(rows=True)
    assert exact.differences == ("plain",)
    assert other.differences == ("a", "lam", "dual", "plain")
    by_hand = Dual(0.4, np.array([1.0]))
    a = -1.0 * GRAVITY * by_hand * np.cos(0.3) / (0.2 + by_hand * by_hand)
    assert exact.a["length"][0] == pytest.approx(a.slope[0], rel=ROUNDING)
    assert other.a["length"][0] == pytest.approx(a.slope[0], rel=1e-9)


@pytest.mark.parametrize(
    ("cubic", "differences"), [(lambda x: -5.0 * x**3, ()), (lambda x: -5.0 * float(x) ** 3, ("a", "lam"))]
)
def test_forces_of_functions_on_coordinates(
    cubic: Callable[[Any], Any], differences: tuple[str, ...]
) -> None:
    """A cubic spring in Python whose coordinate moves with a parameter: dual numbers where it knows them."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    offset = spec.parameter("offset", 0.3)
    spec.body("a", joint=sr.Revolute("z"), mass=1.0, inertia=(0.1,) * 3)
    spec.body("b", joint=sr.Revolute("z"), mass=1.0, inertia=(0.1,) * 3)
    spec.constrain("apart", sr.Coupling({"b": 1.0, "a": -1.0}, offset=offset))
    force = sr.UserForce(lambda t, x, rate: cubic(x[0]), "b")
    found = spec.force("cubic", force).compile().parameter_derivatives([0.1, 0.4], fixed=["a"])
    assert found.differences == differences
    rtol = 1e-9 if differences else ROUNDING
    np.testing.assert_allclose(found.a["offset"], -15.0 * 0.4**2 / 0.2, rtol=rtol)


def test_a_description_that_takes_another_way_right_here() -> None:
    """|a| has a corner at zero: no derivative there that a recording knows; differences say their mean."""
    spec = sr.MechanismSpec(gravity=(0, -GRAVITY, 0))
    a = spec.parameter("a", 0.0)
    spec.body("arm", joint=sr.Revolute("z"), mass=1.0, com=(0.5 + abs(a), 0, 0), inertia=(0.1,) * 3)
    found = spec.compile().parameter_derivatives([0.3])
    assert found.differences == ("a", "lam")


DRAWN = (
    "bicycle", "cam_follower", "double_wishbone", "excavator", "folding_chair", "landing_gear", "peaucellier",
    "planetary_gearbox", "scissor_lift", "six_bar_press", "toggle_clamp", "wiper",
)  # fmt: skip


@pytest.mark.parametrize("name", DRAWN)
def test_machines_of_the_library_against_differences(name: str) -> None:
    """All parameters, all measures; differences of order six, 1e-6 of the largest entry of each."""
    mech = getattr(sr.library, name)()
    q, none = mech.default.q, np.zeros((1, mech.nv))
    found = mech.parameter_derivatives(q)
    assert found.differences == () and mech.parameters
    at = Situation(q[None], none, none, np.zeros(1), ())
    for parameter in mech.parameters:
        other = by_differences(mech, at, parameter)
        pairs = [(getattr(found, key)[parameter], other[key]) for key in ("q", "v", "a", "lam")]
        pairs += [(x, other["measures"][key]) for key, x in found.measures[parameter].items()]
        for exact, rough in pairs:
            size = max(1.0, float(np.max(np.abs(rough), initial=0.0)))  # what is zero is noise of forces
            np.testing.assert_allclose(exact, rough, rtol=0, atol=1e-6 * size)


def test_floating_bodies_and_ball_joints() -> None:
    """Quaternions: a base that floats, an arm on a ball joint, a rod and a ball joint to a cylinder."""
    spec = sr.MechanismSpec(gravity=(0, 0, -GRAVITY))
    l, turn = spec.parameter("l", 0.4), spec.parameter("turn", 0.2)
    spec.body("base", joint=sr.Free(), mass=1.5, com=(0.01, 0.02, l / 10), inertia=(0.1, 0.2, 0.25))
    at = sr.Pose((l, 0, 0.1), rpy=(turn, 0.1, 0))
    inertia = (0.02, 0.03, 0.04)
    spec.body("arm", "base", joint=sr.Spherical(), at=at, mass=1.0, com=(l / 2, 0, 0), inertia=inertia)
    spec.body("post", joint=sr.Cylindrical("z"), mass=1.0, com=(0.1, 0, 0), inertia=(0.1,) * 3)
    spec.constrain("rod", sr.Distance("post", (0.2, 0, 0), "arm", (l, 0, 0), length=1.0))
    ends = {"at_a": sr.Pose((0, 0.5, 0)), "at_b": sr.Pose((0.3, 0, 0))}
    spec.close("ball", "base", "post", joint=sr.Spherical(), **ends)
    spec.measure("load", sr.Reaction("arm")).measure("speed", sr.Speed("arm", (l, 0, 0)))
    mech = spec.measure("turned", lambda q, v, t: q[3:7] * v[2]).compile()
    rng = np.random.default_rng(0)
    q = mech.assemble(mech.integrate(mech.neutral(), 0.3 * rng.normal(size=mech.nv))).q
    v = mech.consistent_velocity(q, rng.normal(size=mech.nv))
    found = mech.parameter_derivatives(q, v)
    assert found.differences == ()
    at_ = Situation(q[None], v[None], np.zeros((1, mech.nv)), np.zeros(1), ())
    for name in mech.parameters:
        other = by_differences(mech, at_, name)
        assert np.abs(found.a[name] - other["a"]).max() < 1e-8 * np.abs(other["a"]).max()
        for key, x in found.measures[name].items():
            assert np.abs(x - other["measures"][key]).max() < 1e-8 * np.abs(other["measures"][key]).max()
