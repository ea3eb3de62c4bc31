"""Friction by load: single states against statics, bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import fsolve

import sarrus as sr

Array = npt.NDArray[np.float64]
G = 9.81
MU, R = 0.2, 0.02
A, B, C, D = (np.array(p) for p in ((0.0, 0.0), (0.2, 0.25), (0.9, 0.5), (0.8, 0.0)))
LINKS = {"crank": (A, B), "rod": (B, C), "rocker": (D, C)}
PINS = {"A": ("ground", "crank"), "B": ("crank", "rod"), "C": ("rod", "rocker"), "D": ("ground", "rocker")}


def four_bar(mu: float = MU) -> sr.Mechanism:
    """A linkage whose pins have journals of radius R, its bars with weight."""
    spec = sr.MechanismSpec(gravity=(0, -G, 0), name="linkage")
    for name, p in zip("ABCD", (A, B, C, D), strict=True):
        spec.point(name, (*p, 0.0))
    spec.link("crank", "A", "B", mass=1.0).link("rod", "B", "C", mass=2.0).link("rocker", "D", "C", mass=1.5)
    for name, pair in PINS.items():
        spec.joint(name, *pair, sr.Revolute("z"), at=name)
        if mu:
            spec.force(f"friction {name}", sr.BearingFriction(name, mu, R))
    return spec.compile()


def breaking_torque(turns: Array, sign: float) -> float:
    """Torque on A that begins to turn the crank, by the balance of three bars: an oracle without the library.

    Args:
        turns: angular rates of the pins A to D, second body relative to the first, crank forwards.
        sign: 1 for forwards.
    """
    masses = {"crank": 1.0, "rod": 2.0, "rocker": 1.5}
    where = dict(zip("ABCD", (A, B, C, D), strict=True))

    def unbalanced(x: Array) -> Array:
        forces, torque = dict(zip("ABCD", x[:8].reshape(4, 2), strict=True)), x[8]  # on the second body
        out = []
        for link, ends in LINKS.items():
            middle = sum(ends) / 2
            force, moment = np.array([0.0, -G * masses[link]]), 0.0
            for k, (pin, pair) in enumerate(PINS.items()):
                side = {pair[0]: -1.0, pair[1]: 1.0}.get(link, 0.0)
                if side:
                    f, arm = side * forces[pin], where[pin] - middle
                    friction = -sign * np.sign(turns[k]) * MU * R * np.linalg.norm(forces[pin])
                    applied = torque if pin == "A" else 0.0
                    force, moment = force + f, moment + arm[0] * f[1] - arm[1] * f[0]
                    moment += side * (friction + applied)
            out += [*force, moment]
        return np.array(out)

    found, _, flag, _ = fsolve(unbalanced, np.ones(9), full_output=True, xtol=1e-13)
    assert flag == 1
    return float(found[8])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_four_bar_breaks_where_statics_say(sign: float) -> None:
    mech = four_bar()
    q = mech.neutral()
    N = mech.decompose(q).N[:, 0]
    order = [mech.names.index(name) for name in "ABCD"]
    torque = breaking_torque(N[order] / N[order[0]], sign)
    u = np.zeros(mech.nv)
    for factor, moves in ((1 - 1e-7, False), (1 + 1e-7, True)):
        u[order[0]] = 0.0
        still = mech.forward_dynamics(q, np.zeros(mech.nv), u).friction
        u[order[0]] = torque + (factor - 1) * sign * abs(torque)
        motion = mech.forward_dynamics(q, np.zeros(mech.nv), u)
        rate = motion.a[order[0]] * sign
        assert (rate > 0.0) if moves else abs(rate) < 1e-9, (factor, rate, still)
    power = motion.friction @ N
    bounds = MU * R * np.array([np.linalg.norm(motion.reaction(name)[:2]) for name in "ABCD"])
    assert abs(power) == pytest.approx(float(bounds @ np.abs(N[order])), rel=1e-6)  # virtual work


def test_friction_of_a_moving_linkage_is_mu_times_its_reactions() -> None:
    mech = four_bar()
    q = mech.neutral()
    v = 3.0 * mech.decompose(q).N[:, 0]
    motion = mech.forward_dynamics(q, v)
    for name in "ABCD":
        k = mech.names.index(name)
        expected = -np.sign(v[k]) * MU * R * np.linalg.norm(motion.reaction(name)[:2])
        assert motion.friction[k] == pytest.approx(expected, rel=1e-9)
    smooth = four_bar(0.0).forward_dynamics(q, v, motion.friction)
    np.testing.assert_allclose(smooth.a, motion.a, atol=1e-9)


def sleeve(arm: float, mu: float = 0.25, guide: float = 0.1, aside: float = 0.0) -> sr.Mechanism:
    """A sleeve on a column that carries a load at an arm."""
    spec = sr.MechanismSpec(gravity=(aside, 0, -G), name="sleeve")
    spec.body("sleeve", joint=sr.Prismatic("z"), mass=2.0, com=(arm, 0, 0), inertia=(0.1, 0.1, 0.1))
    return spec.force("guide", sr.BearingFriction("sleeve", mu, length=guide)).compile()


def test_sleeve_jams_beyond_the_arm_of_the_textbook() -> None:
    """2 mu W x / b >= W: x >= b / (2 mu), as of a drawer or a clamp; below that it falls without a load."""
    limit = 0.1 / (2 * 0.25)
    assert sleeve(limit * (1 + 1e-9)).forward_dynamics([0.0], [0.0]).a == pytest.approx([0.0], abs=1e-12)
    assert sleeve(0.99 * limit).forward_dynamics([0.0], [0.0]).a == pytest.approx([-G], rel=1e-9)


def test_spatial_load_on_a_guide() -> None:
    """Forces and moments in two directions: the two ends of the guide carry vectors."""
    force, moment = np.array([30.0, -20.0, 5.0]), np.array([1.5, 2.0, 0.7])
    ends = [np.array([15.0, -10.0]) + s * np.array([-2.0, 1.5]) / 0.2 for s in (1, -1)]
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="slide").body("slide", joint=sr.Prismatic("z"), mass=1.0)
    spec.force("load", sr.ConstantWrench("slide", [*force, *moment]))
    mech = spec.force("guide", sr.BearingFriction("slide", 0.3, length=0.2)).compile()
    found = mech.forward_dynamics([0.1], [-1.0]).friction
    assert found == pytest.approx([0.3 * sum(np.linalg.norm(x) for x in ends)], rel=1e-12)


def test_external_wrenches_count_as_loads() -> None:
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="car")
    spec.body("car", joint=sr.Prismatic("x"), mass=1.0)
    mech = spec.force("rail", sr.BearingFriction("car", 0.5)).compile()
    pressed = {"car": [10.0, 0.0, -100.0, 0.0, 0.0, 0.0]}
    motion = mech.forward_dynamics([0.0], [1.0], external=pressed)
    assert motion.friction == pytest.approx([-50.0]) and motion.a == pytest.approx([-40.0])
    with pytest.raises(sr.InputError, match="knows no external wrenches"):
        sr.simulate(mech, (0, 1), v0=[1.0], external=pressed)


def test_loads_that_are_not_unique_are_flagged() -> None:
    """A beam with weight on two aligned slides: redundant rows leave open how they share it."""
    spec = sr.MechanismSpec(gravity=(0, 0, -G), name="beam")
    spec.link("beam", (0, 0, 0), (1, 0, 0), mass=3.0)
    for k, x in enumerate((0.0, 1.0)):
        spec.joint(f"rail{k}", "ground", "beam", sr.Prismatic("x"), at=(x, 0, 0))
        spec.force(f"friction{k}", sr.BearingFriction(f"rail{k}", 0.2))
    mech = spec.compile()
    run = sr.simulate(mech, (0, 0.1), v0=np.full(mech.nv, 1.0))
    assert run.success and not run.friction_unique.all()


def toggle(angle: float, mu_of_guide: float, mass: float) -> sr.Mechanism:
    """Two bars of 0.2 m that press a ram with 1 kN, journals of 10 mm with mu = 0.15, a guide."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="toggle")
    x, y = 0.2 * np.cos(angle), 0.2 * np.sin(angle)
    spec.point("A", (0, 0, 0)).point("B", (x, y, 0)).point("C", (2 * x, 0, 0))
    spec.link("first", "A", "B", mass=mass).link("second", "B", "C", mass=mass)
    spec.part("ram", at=sr.Pose((2 * x, 0, 0)), mass=0.05, inertia=(1e-4,) * 3)
    for name, pair in {"A": ("ground", "first"), "B": ("first", "second"), "C": ("second", "ram")}.items():
        spec.joint(name, *pair, sr.Revolute("z"), at=name)
        spec.force("friction " + name, sr.BearingFriction(name, 0.15, radius=0.01))
    spec.joint("guide", "ground", "ram", sr.Prismatic("x"), at="C")
    spec.force("friction of the guide", sr.BearingFriction("guide", mu_of_guide))
    spec.force("load", sr.ConstantWrench("ram", (-1000, 0, 0, 0, 0, 0)))
    return spec.compile()


@pytest.mark.parametrize("mass", [0.1, 2.0])
@pytest.mark.parametrize("mu_of_guide", [0.001, 0.1])
def test_toggle_locks_itself(mu_of_guide: float, mass: float) -> None:
    """Below asin(2 mu r / l) the friction circles of a bar overlap its line of force; the guide then carries
    nothing but rounding, and its friction has no bound to speak of."""
    limit = np.arcsin(2 * 0.15 * 0.01 / 0.2)
    for part in (0.3, 0.5, 0.9, 0.99, 1.01):
        mech = toggle(part * limit, mu_of_guide, mass)
        motion = mech.forward_dynamics(mech.neutral(), np.zeros(mech.nv))
        assert bool(np.any(np.abs(motion.a) > 1e-9)) == (part > 1.0)  # rounding of 1 kN on 0.05 kg
    run = sr.simulate(toggle(0.9 * limit, mu_of_guide, mass), (0, 0.05))
    assert run.success and not np.any(run.v)


def test_more_friction_than_loads_allow_says_so() -> None:
    """A sleeve that slides beyond the arm at which it jams."""
    mech = sleeve(0.3, aside=1.0)
    with pytest.raises(sr.InputError, match="finds no force: more friction makes more load"):
        mech.forward_dynamics([0.0], [-1.0])
    with pytest.raises(sr.InputError, match="finds no force"):
        sr.simulate(mech, (0, 1), v0=[-1.0])


def test_bad_input() -> None:
    def compiled(joint: Any, *given: Any, **options: Any) -> None:
        spec = sr.MechanismSpec().body("b", joint=joint, mass=1.0, inertia=(1, 1, 1))
        spec.force("f", sr.BearingFriction("b", *given, **options)).compile()

    with pytest.raises(sr.InputError, match="mu of BearingFriction must not be negative"):
        sr.BearingFriction("b", -0.1)
    with pytest.raises(sr.ModelError, match="takes the radius of its journal"):
        compiled(sr.Revolute("z"), 0.1)
    with pytest.raises(sr.ModelError, match="takes no radius"):
        compiled(sr.Prismatic("z"), 0.1, 0.02)
    with pytest.raises(
        sr.ModelError, match=r"needs a Revolute or Prismatic joint, got Helical\. A shaft in two bearings"
    ):
        compiled(sr.Helical("z", 0.1), 0.1, 0.02)
    with pytest.raises(sr.ModelError, match=r"middle of a BearingFriction .* no length"):
        compiled(sr.Revolute("z"), 0.1, 0.02, middle=0.1)
    mech = four_bar()
    v = mech.decompose(mech.neutral()).N[:, 0]
    for ask in (
        mech.derivatives,
        lambda q, v: mech.inverse_dynamics(q, v, v),
        lambda q, v: sr.linearize(mech, q, v),
    ):
        with pytest.raises(sr.InputError, match="knows no friction that depends on bearing loads"):
            ask(mech.neutral(), v)


@pytest.mark.parametrize(
    ("mu", "radius", "message"),
    [
        (15.0, 0.01, "force 'f': mu is 15; .* divided by 100"),
        (0.1, 10.0, "journal, 10 m, exceeds 10 times .* 0.1"),
    ],
)
def test_unlikely_bearings_warn(mu: float, radius: float, message: str) -> None:
    spec = sr.MechanismSpec().body(
        "h", joint=sr.Revolute("z"), mass=1.0, com=(0.1, 0, 0), inertia=(0.01,) * 3
    )
    with pytest.warns(sr.SarrusWarning, match=message):
        spec.force("f", sr.BearingFriction("h", mu, radius)).compile()


def test_short_guides_warn_and_second_bearings_are_refused() -> None:
    spec = sr.MechanismSpec().body(
        "s", joint=sr.Prismatic("x"), mass=1.0, com=(0.1, 0, 0), inertia=(0.01,) * 3
    )
    spec.force("f", sr.BearingFriction("s", 0.1, length=5e-5))
    with pytest.warns(sr.SarrusWarning, match="length of the bearing, 5e-05 m, is below 1/1000 of .* 0.1"):
        spec.compile()
    spec.force("g", sr.BearingFriction("s", 0.1))
    with pytest.raises(sr.ModelError, match=r"force 'g': 's' has a BearingFriction already.* Give one"):
        spec.compile()
