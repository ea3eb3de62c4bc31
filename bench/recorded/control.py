"""Cases of `recorded_runs`: control laws, asked at several states and in short loops. Public names only."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

import sarrus as sr

from .cases import SEED, L, state_of

Array = npt.NDArray[np.float64]
Keep = Callable[..., Any]
C, Z = sr.control, sr.Revolute("z")
GRIPS = ("grip_left", "grip_right")


def law_of(
    keep: Keep, label: str, make: Callable[[], Any], mech: sr.Mechanism, steps: int = 100, **options: Any
) -> None:
    """A law at three states, in a sampled loop, and what it says of that loop."""
    law = keep(f"{label}, made", make)
    if law is None:
        return
    q, v = state_of(mech, 0.02)
    for where, state in {"default": mech.default, "near": (q, 0.3 * v), "rest": (q, 0.0 * v)}.items():
        keep(f"{label}, {where}", law.solve, 0.02, *map(np.array, state))
    dt = options.pop("dt", 4e-3)
    law = make()
    given = {"control": law, "control_dt": dt, "dt": dt, **options}
    run = keep(f"{label}, loop", sr.simulate, mech, (0.0, steps * dt), **given)
    keep(f"{label}, changes", getattr(law, "events", None))
    keep(f"{label}, last", getattr(law, "last", None))
    if run is not None and hasattr(law, "history"):
        history = keep(f"{label}, history", law.history, run, 5)
        keep(f"{label}, summary", history.summary)
    keep(f"{label}, continuous", sr.simulate, mech, (0.0, 2e-3), control=make())


def motion(keep: Keep) -> None:
    """ProjectedInverseDynamics: outputs, references, metrics, too many and too few outputs, singular."""
    crank, delta, arm, leg = L.slider_crank(), L.delta(), L.dual_arm(), L.pantograph_leg()
    start = crank.with_default(crank.assemble([math.pi / 6, 2 * math.pi - math.pi / 3]).q)
    P = C.ProjectedInverseDynamics
    gains = {"kp": 25.0, "kd": 10.0}
    law_of(keep, "two joints", lambda: P(start, "crank", math.pi / 3, **gains), start)
    law_of(keep, "one joint", lambda: P(start, "crank", math.pi / 3, **gains, actuated=["crank"]), start)
    toggle = crank.with_default([math.pi / 2 - 1e-5, math.pi + 2e-5])
    law_of(keep, "toggle", lambda: P(toggle, "crank", 2.0, **gains, actuated=["crank"]), toggle)
    for metric in (None, "length", "mass", "limits"):  # it has no limits: refused
        law_of(
            keep,
            f"delta, {metric}",
            partial(P, delta, C.Position("platform"), [0.05, 0, -0.6], metric=metric),
            delta,
        )
    hand = arm.pose(arm.default.q, "left7")
    goal = hand @ sr.Pose((0.02, 0.0, -0.05), rpy=(0.3, 0.1, 0.2))
    for error in ("split", "screw"):
        for frame in ("world", "body"):
            pose = C.BodyPose("left7", (0.0, 0.0, 0.05), error=error, frame=frame)
            law_of(keep, f"pose, {error}, {frame}", lambda pose=pose: P(arm, pose, hand, kp=60.0), arm)
    way = C.MinimumJerk(hand, goal, 0.3)
    law_of(keep, "pose along a way", lambda: P(arm, C.BodyPose("left7"), way), arm)
    many = [C.BodyPose("left7"), *arm.names], [hand, *(0.05 + np.array(arm.default.q))]
    law_of(keep, "too many", lambda: P(arm, *many, kp=10.0), arm)
    law_of(keep, "too few", lambda: P(arm, arm.names[0], 0.3, leftover_damping=2.0), arm)
    foot, bend = C.Position("shank", (0.22, 0.0, 0.0), "xy"), C.Coordinates({"thigh": 1.0, "shank": -2.0})
    low = leg.pose(leg.default.q, "shank").apply((0.22, 0, 0))[:2]
    knots = C.Spline([0.0, 0.05, 0.1], [low, low + 0.01, low + np.array([0.02, 0.0])])
    law_of(keep, "spline", lambda: P(leg, foot, knots, kp=900.0, kd=[60.0, 50.0]), leg)
    law_of(keep, "combination", lambda: P(leg, bend, C.Sinusoid(0.1, 0.2, 5.0, 0.3)), leg)
    lift = C.Function(lambda q: [math.sin(q[0]) + q[1]])
    law_of(keep, "function", lambda: P(leg, lift, lambda t: (0.1 * t, 0.1, 0.0)), leg)
    law_of(keep, "unknown name", lambda: P(leg, "elbow", 0.0), leg)
    law_of(keep, "bad reference", lambda: P(leg, "thigh", lambda t: (math.nan, 0.0, 0.0)), leg)
    for name, reference in {
        "jerk": way,
        "sinusoid": C.Sinusoid([0.1, 0.2], 0.5, [2, 3], 0.3),
        "spline": knots,
    }.items():
        for t in (-0.1, 0.0, 0.03, 0.5):
            keep(f"reference {name} at {t}", reference, t)
    hardware = {"sample": 4e-3, "delay": 4e-3, "q_noise": 2e-4, "v_noise": 5e-3, "saturation": (-60.0, 60.0)}
    wrong = keep("model error", C.model_error, start, 0.2, 3) or C.model_error(start, 0.2, 3)
    keep("model error, terms", wrong.terms, *state_of(start))
    law = C.Hardware(P(wrong, "crank", math.pi / 3, **gains), start, rate=4000.0, **hardware)
    keep("hardware", sr.simulate, start, (0.0, 0.1), control=law, dt=2e-3)


def forces(keep: Keep) -> None:
    """HybridForceMotion and ForceLimits with every sort of limit."""
    crank = L.slider_crank()
    crank = crank.with_default(crank.assemble([math.pi / 6, 2 * math.pi - math.pi / 3]).q)
    arm, box, cables, rrr = L.dual_arm(), L.dual_arm_box(), L.cable_robot(), L.three_rrr(gravity=0.0)
    H, F = C.HybridForceMotion, C.ForceLimits

    def sensor(t: float, q: Array, v: Array, u: Array) -> Array:
        return crank.forward_dynamics(q, v, u=u, t=t).lam + 3.0

    hold = {"kp": 25.0, "kd": 10.0, "kf": 1.5, "ki": 20.0}
    for label, more in {
        "plain": {},
        "measured": {"measured": sensor},
        "filtered": {"measured": sensor, "filter_time": 0.02, "integral_limit": 5.0},
        "plant": {"measured": C.model_error(crank, 0.1)},
        "limited": {"limits": [C.TorqueBounds((-20.0, 20.0))]},
    }.items():
        law_of(
            keep,
            f"hybrid, {label}",
            lambda more=more: H(crank, "crank", 1.0, {"slider": -2.0}, **hold, **more),
            crank,
        )
    hand, held = arm.pose(arm.default.q, "left7"), box.pose(box.default.q, "box")
    squeeze = {"weld": 3.0 * np.random.default_rng(SEED).normal(size=6)}
    law_of(keep, "hybrid, arms", lambda: H(arm, C.BodyPose("left7"), hand, squeeze, ki=5.0), arm)
    for edges in (8, 4, None):
        cones = [C.Friction(grip, 0.05, "-z", edges=edges) for grip in GRIPS]
        bounds = [*cones, C.TorqueBounds((-300.0, 300.0))]
        law_of(keep, f"friction, {edges}", partial(F, box, C.BodyPose("box"), held, bounds), box)
    out = ["body.x", "body.y", "body.angle"]
    way = C.MinimumJerk([0.0, 0.0, 0.0], [0.4, 0.25, 0.1], 0.2)
    taut = C.CableTension([f"cable{i}" for i in range(1, 5)], 2.0, 200.0)
    law_of(keep, "cables", lambda: F(cables, out, way, taut, kp=400.0), cables)
    law_of(keep, "by limits", lambda: F(cables, out, way, taut, metric="limits"), cables)
    out3, way3 = (
        ["platform.x", "platform.y", "platform.angle"],
        C.MinimumJerk([0, 0, 0.5], [0.08, 0.05, 0.7], 0.2),
    )
    for gives in ("limits", "motion"):
        tight = [C.TorqueBounds((-3.0, 3.0))]
        law_of(keep, f"gives {gives}", partial(F, rrr, out3, way3, tight, kp=400.0, gives=gives), rrr)
    motor = rrr.actuators[0]
    law_of(keep, "preload", lambda: F(rrr, out3[:2], way3_of(rrr)[:2], C.Preload({motor: 1.0}, 0.5)), rrr)
    rows = np.random.default_rng(SEED).normal(size=(2, rrr.nv))
    for part in ("tau", "force", "a"):
        linear = C.LinearLimits(part, **{part: rows}, lower=-5.0, upper=[4.0, 6.0])
        law_of(keep, f"linear, {part}", partial(F, rrr, out3, way3, [linear]), rrr)
    grip, beam = gripper(), ["left1", "left2", "right1", "right2", "beam"]
    limits = [C.Unilateral("left.tx", -1, 3.0), C.Unilateral("right.tx", 1, 3.0)]
    for closed in ((), ("left",), ("left", "right")):
        law_of(keep, f"active {closed}", partial(F, grip, beam, grip.default.q, limits, active=closed), grip)
    changing = {"active": lambda t, q, v: ("left", "right") if t < 0.04 else ("left",), "transition": 0.03}
    changing["releasing"] = lambda t, q, v: ("right",) if 0.02 < t < 0.04 else ()
    law_of(keep, "changing", lambda: F(grip, beam, grip.default.q, limits, **changing), grip)
    contradiction = [C.TorqueBounds((-1.0, 1.0)), C.Unilateral("left.tx", -1, 500.0)]
    law_of(keep, "contradiction", lambda: F(grip, beam, grip.default.q, contradiction), grip)


def way3_of(mech: sr.Mechanism) -> Array:
    """Where the platform is."""
    return np.array(mech.default.q[-3:])


def gripper() -> sr.Mechanism:
    """Two 2R arms and a beam on a guide, hands pinned to its ends."""
    spec = sr.MechanismSpec(gravity=(0.0, -9.81, 0.0), name="gripper")
    link: dict[str, Any] = {"mass": 2.0, "com": (0.25, 0.0, 0.0), "inertia": (0.01, 0.05, 0.05)}
    for side, x in (("left", -0.6), ("right", 0.6)):
        spec.body(f"{side}1", joint=Z, at=sr.Pose((x, 0.0, 0.0)), **link)
        spec.body(f"{side}2", parent=f"{side}1", joint=Z, at=sr.Pose((0.5, 0.0, 0.0)), **link)
        spec.actuate(f"{side}1", f"{side}2")
    spec.body("beam", joint=sr.Prismatic("y"), at=sr.Pose((0.0, 0.6, 0.0)), mass=3.0, inertia=(0.1, 0.1, 0.1))
    spec.actuate("beam")
    for side, x in (("left", -0.25), ("right", 0.25)):
        spec.constrain(side, sr.PointOnLine("beam", (x, 0, 0), f"{side}2", (0.5, 0, 0), (0.0, 0.0, 1.0)))
    mech = spec.compile()
    return mech.with_default(mech.assemble([1.4, -0.9, 1.7, 0.9, 0.0], fixed={"beam": 0.0}).q)


def linear(keep: Keep) -> None:
    """Equilibria, linear models and regulators of a four-bar with a pole."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0), name="four-bar with a pole")

    def bar(mass: float, length: float) -> dict[str, Any]:
        inertia = mass * length**2 / 12
        return {"mass": mass, "com": (length / 2, 0, 0), "inertia": (1e-6 * inertia, inertia, inertia)}

    spec.body("crank", joint=Z, **bar(2.0, 0.5))
    spec.body("coupler", "crank", joint=Z, at=sr.Pose((0.5, 0, 0)), **bar(1.5, 0.9))
    spec.body("rocker", joint=Z, at=sr.Pose((1.0, 0, 0)), **bar(2.0, 0.6))
    spec.body("pole", "coupler", joint=Z, at=sr.Pose((0.45, 0, 0)), **bar(0.5, 0.6))
    spec.close("pin", "coupler", "rocker", Z, sr.Pose((0.9, 0, 0)), sr.Pose((0.6, 0, 0))).actuate("crank")
    mech = spec.compile()
    q = mech.assemble([-1.5, 1.4, -1.7, 0.0], fixed={"crank": -1.5}).q
    q[3] = math.pi / 2 - q[0] - q[1]
    rest = keep("equilibrium", sr.equilibrium, mech, q)
    keep("equilibrium, held", sr.equilibrium, mech, q, fixed={"crank": -1.2})
    for label, outputs in {
        "states": None,
        "others": ["crank", "v.pole", "a.crank", "pose.pole", "pin"],
    }.items():
        model = keep(
            label, sr.linearize, mech, rest.q, u=rest.u, independent=["crank", "pole"], outputs=outputs
        )
        keep(f"{label}, reach", lambda model=model: [model.controllability(), model.observability()])
        keep(f"{label}, modes", lambda model=model: model.mode_poses(0, [0.0, 1.0, 2.0]))
    pushed = mech.assemble(rest.q + np.array([0.05, 0.0, 0.0, 0.15]), fixed={"crank": rest.q[0] + 0.05}).q
    model = sr.linearize(mech, rest.q, u=rest.u, independent=["crank", "pole"])
    for label, one in {"continuous": model, "sampled": keep("discrete", model.discretize, 0.02)}.items():
        law = keep(f"{label}, lqr", C.lqr, one, [10.0, 10.0, 1.0, 1.0], 0.1)
        keep(f"{label}, solve", law.solve, 0.0, pushed, np.zeros(4))
        keep(f"{label}, loop", sr.simulate, mech, (0.0, 0.5), pushed, control=law, control_dt=0.02, dt=5e-3)
    run = sr.simulate(mech, (0.0, 0.02), pushed)
    for method in ("analytic", "dual", "finite_difference"):
        keep(f"trajectory, {method}", sr.linearize_trajectory, run, ["crank", "pole"], method=method)
    disc = L.rolling_disk()
    keep("rolling", sr.linearize, disc, *map(np.array, disc.default))


CASES: dict[str, Callable[[Keep], None]] = {
    "control, motion": motion,
    "control, forces": forces,
    "control, linear": linear,
}
