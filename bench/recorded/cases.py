"""Cases of `recorded_runs`: mechanisms, what they are asked, and how they move. Public names only."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import sarrus as sr

Array = npt.NDArray[np.float64]
Keep = Callable[..., Any]
L, Z = sr.library, sr.Revolute("z")
SEED = 20

FORMULATIONS = ("nullspace", "svd", "projection", "projection_symmetric", "projection_gamma")
FORMULATIONS += ("lagrange", "partition")
METHODS = ("rk4", "semi_implicit_euler", "dopri5", "radau")
CORRECTIONS = ("none", "project", "baumgarte")
SLOW = ("arms_around_box", "dual_arm_box", "quadruped", "jansen_leg")  # to linearize by differences


def state_of(mech: sr.Mechanism, away: float = 0.05) -> tuple[Array, Array]:
    """A moving state near the default one."""
    rng = np.random.default_rng(SEED)
    q = mech.assemble(mech.integrate(mech.default.q, away * rng.normal(size=mech.nv))).q
    try:
        return q, mech.consistent_velocity(q, rng.normal(size=mech.nv))
    except sr.AssemblyError:  # a structure
        return q, np.zeros(mech.nv)


# ---------------------------------------------------------------------- questions


def asked(keep: Keep, mech: sr.Mechanism, quick: bool = False) -> None:
    """Every question to a mechanism, at its default state and near it."""
    keep("print", str, mech)
    keep("names", [mech.names, mech.body_names, mech.row_names, mech.actuators, mech.passive])
    keep("sizes", [mech.nq, mech.nv, mech.nc, mech.nu, mech.length])
    keep("default", mech.default)
    keep("mobility", mech.mobility)
    keep("explain", lambda: mech.mobility().explain())
    keep("assembly", mech.assemble, mech.default.q)
    for where, (q, v) in {"default": mech.default, "near": state_of(mech)}.items():
        dynamics(partial(prefixed, keep, where), mech, np.array(q), np.array(v), quick)
    q, v = state_of(mech)
    for i, branch in enumerate(keep("branches", mech.branches, np.array(mech.default.q)) or ()):
        keep(f"branch {i}", branch.path, 0.1, 3)
    driven = (*mech.actuators, *mech.names)[0]
    start = float(mech.difference(mech.neutral(), q)[mech.names.index(driven)])
    keep("sweep", mech.sweep, driven, start + np.linspace(0.0, 0.1, 6), q)
    keep("assembly, held", mech.assemble, q, {driven: start + 0.05})
    keep("velocity", mech.consistent_velocity, q, None, 0.0, {driven: 1.0})
    for method in ("analytic", "dual", "finite_difference"):
        if not (quick and method == "finite_difference"):
            keep(f"linearize, {method}", sr.linearize, mech, q, v, method=method)
    for form in ("full", "descriptor"):
        keep(f"linearize, {form}", sr.linearize, mech, q, v, form=form)


def prefixed(keep: Keep, where: str, label: str, function: Any, *args: Any, **options: Any) -> Any:
    """Keep under a longer label."""
    return keep(f"{where}, {label}", function, *args, **options)


def dynamics(keep: Keep, mech: sr.Mechanism, q: Array, v: Array, quick: bool = False) -> None:
    """Terms, motion, forces and derivatives at one state."""
    rng = np.random.default_rng(SEED)
    tau, u, any_v = rng.normal(size=mech.nv), rng.normal(size=mech.nu), rng.normal(size=mech.nv)
    body = mech.body_names[-1]
    push = {body: (rng.normal(size=6), (0.1, -0.2, 0.3))}
    keep("terms", mech.terms, q, any_v, 0.3)
    keep("energy", mech.energy, q, any_v)
    keep("mass matrix", mech.mass_matrix, q)
    keep("bias", mech.bias, q, any_v)
    keep("rnea", mech.rnea, q, any_v, tau)
    for frame in ("local", "world_aligned", "world"):
        keep(f"jacobian, {frame}", mech.jacobian, q, body, (0.1, 0.2, 0.3), frame)
    keep("pose", mech.pose, q, body)
    keep("body velocity", mech.velocity, q, any_v, body)
    keep("body acceleration", mech.body_acceleration, q, any_v, tau, body)
    for metric in (None, "mass"):
        keep(f"decompose, {metric}", mech.decompose, q, metric)
        keep(f"velocity, {metric}", mech.consistent_velocity, q, any_v, metric=metric)
    for formulation in FORMULATIONS:
        keep(f"forward, {formulation}", mech.forward_dynamics, q, v, tau, u, formulation=formulation)
    motion = keep("forward, external", mech.forward_dynamics, q, v, tau, u, external=push)
    keep("acceleration", mech.acceleration, q, v, tau)
    keep("batch", mech.forward_dynamics, np.stack([q, q]), np.stack([v, 0 * v]), tau)
    if motion is not None:
        constraints = dict.fromkeys(row.rsplit(".", 1)[0] for row in mech.row_names)
        for name in dict.fromkeys([*constraints, *mech.body_names[1:]]):
            for frame in ("A", "world") if quick else ("A", "B", "a", "b", "world"):
                keep(f"reaction {name} in {frame}", motion.reaction, name, frame)
        for metric in (None, "mass"):
            keep(f"inverse, {metric}", mech.inverse_dynamics, q, v, motion.a, metric=metric)
        keep("inverse, all", mech.inverse_dynamics, q, v, motion.a, actuated=mech.names)
    keep("decoupled", mech.is_decoupled, q)
    for method in ("analytic", "dual"):
        keep(f"derivatives, {method}", mech.derivatives, q, v, tau, method=method)
    keep("impact", mech.impact, q, any_v)


def library(name: str, options: dict[str, Any], keep: Keep) -> None:
    """One mechanism of the library: questions, rest, a short motion, a round trip through JSON."""
    mech = L.MECHANISMS[name](**options)
    asked(keep, mech, name in SLOW)
    if name not in SLOW:
        keep("equilibrium", sr.equilibrium, mech)
    end = 0.01 if name == "flyball_governor" else 0.1  # it is stiff
    run = keep("run", sr.simulate, mech, (0.0, end), dt=end / 100)
    keep("run, at", run.at, np.linspace(0.0, end, 7), True)
    if name not in SLOW:
        keep("run, linear", sr.linearize_trajectory, sr.simulate(mech, (0.0, 0.005), *state_of(mech)))
    spec = sr.MechanismSpec.from_model(mech.model)
    keep("as words", spec.to_dict)
    back = sr.MechanismSpec.from_dict(spec.to_dict()).compile()
    keep("from words", back.terms, *state_of(mech))
    heavier = mech.with_(gravity=(0.1, 0.2, -3.0), mass={mech.body_names[-1]: 2.5})
    keep("changed", heavier.terms, *state_of(mech))


CLOSURES = ("pin", "point", "revolute", "weld")
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    *((name, {"closure": c}) for name in ("four_bar", "parallelogram", "five_bar") for c in CLOSURES),
    ("five_bar", {"start": "raised"}),
    ("andrews", {"start": "classical"}),
    ("stewart", {"legs": "rss"}),
    ("dual_planar_arms", {"held": "body"}),
    ("robot_arm", {"kind": "ur5"}),
    ("robot_arm", {"kind": "lwr"}),
]


def splits(keep: Keep) -> None:
    """Matrices without a mechanism."""
    rng = np.random.default_rng(SEED)
    J, W, x = rng.normal(size=(4, 6)), rng.normal(size=(6, 6)), rng.normal(size=6)
    W, J = W @ W.T + np.eye(6), np.vstack([J, J[0] + J[1], 0 * J[0]])
    for label, metric in {"plain": None, "metric": W}.items():
        found = keep(label, sr.decompose, J, metric)
        for kind in ("velocity", "force"):
            keep(
                f"{label}, {kind}",
                lambda found=found, kind=kind: [found.tangent(x, kind), found.normal(x, kind)],
            )
        keep(f"{label}, solve", found.solve, J @ x)
    keep("rank", sr.decompose, J, rank=2)


# ---------------------------------------------------------------------- mechanisms of our own


def tree() -> tuple[sr.MechanismSpec, Array]:
    """Nine bodies, one of each joint, in two branches; joints with damping, friction, stops and armature."""
    rng = np.random.default_rng(SEED)
    joints = [Z, sr.Prismatic((0.6, 0.0, 0.8)), sr.Spherical(), sr.Universal("x", "y"), sr.Fixed()]
    joints += [sr.Helical("y", 0.1), sr.Free(), sr.Cylindrical("x"), sr.Planar("z")]
    spec = sr.MechanismSpec(name="every joint")
    for i, (joint, parent) in enumerate(zip(joints, [-1, 0, 1, 2, 3, 0, 5, 5, 7], strict=True)):
        more: dict[str, Any] = {}
        if i in (0, 1, 5):
            more = {"armature": 0.05, "damping": 0.3, "friction": 0.2, "limits": (-0.4, 0.4)}
            more |= {"stop_stiffness": 50.0, "stop_damping": 1.0}
        spec.body(
            f"b{i}",
            "ground" if parent < 0 else f"b{parent}",
            joint=joint,
            at=sr.Pose(rng.uniform(-0.4, 0.4, 3), rpy=rng.uniform(-1, 1, 3)),
            mass=rng.uniform(0.5, 2.0),
            com=rng.uniform(-0.1, 0.1, 3),
            inertia=rng.uniform(0.1, 0.19, 3),
            **more,
        )
    bare = spec.compile()
    spec.actuate("b0", "b1").actuate("b5", limits=(-5.0, 5.0))
    return spec, bare.integrate(bare.neutral(), 0.5 * rng.normal(size=bare.nv))


CLOSING = {
    "revolute": Z,
    "prismatic": sr.Prismatic((0.6, 0.8, 0.0)),
    "helical": sr.Helical("x", 0.2),
    "cylindrical": sr.Cylindrical("y"),
    "universal": sr.Universal("x", "z"),
    "spherical": sr.Spherical(),
    "planar": sr.Planar("x"),
    "fixed": sr.Fixed(),
}


def declared(bare: sr.Mechanism, q: Array) -> dict[str, Any]:
    """One constraint of each kind that is not a loop, all satisfied at q when t = 0."""
    names = list(bare.names)
    value = {name: bare.difference(bare.neutral(), q)[names.index(name)] for name in ("b0", "b1", "b5")}
    a, b, p_a, p_b = (
        bare.pose(q, "b4"),
        bare.pose(q, "b8"),
        np.array([0.1, 0.2, 0.0]),
        np.array([0, -0.1, 0.3]),
    )
    gap = a.rotation.T @ (b.apply(p_b) - a.apply(p_a))
    across = np.cross(gap, [0.3, 0.1, 0.9])
    up = np.array([0.0, 0.0, 1.0]) - b.rotation[:, 0] * b.rotation[2, 0]
    touch = b.xyz - 0.25 * up / np.linalg.norm(up)
    weights = np.cos(np.arange(2 * len(q))).reshape(2, -1)
    ends, unit = ("b4", p_a, "b8", p_b), gap / np.linalg.norm(gap)
    return {
        "coupling": sr.Coupling({"b0": 1.0, "b1": -2.5}, offset=value["b0"] - 2.5 * value["b1"]),
        "drive": sr.Drive(
            "b5",
            lambda t: value["b5"] + math.sin(0.7 * t),
            lambda t: 0.7 * math.cos(0.7 * t),
            lambda t: -0.49 * math.sin(0.7 * t),
        ),
        "drive, values only": sr.Drive(
            {"b0": 1.0, "b5": 0.5}, lambda t: value["b0"] + 0.5 * value["b5"] + t * t
        ),
        "distance": sr.Distance(*ends, float(np.linalg.norm(gap))),
        "point_on_line": sr.PointOnLine(*ends, tuple(unit)),
        "point_on_plane": sr.PointOnPlane(*ends, tuple(across / np.linalg.norm(across))),
        "rolling": sr.Rolling("b8", 0.25, "x", "z", point=tuple(touch)),
        "custom": sr.CustomConstraint(lambda x, t: weights @ (np.sin(x) - np.sin(q)) - 0.3 * t, 2),
    }


def forces(spec: sr.MechanismSpec) -> None:
    """One force of each kind."""
    spec.force("spring", sr.PointSpring("b4", (0.1, 0, 0), "b8", (0, 0.1, 0), 40.0, 0.3, damping=1.5))
    spec.force("to ground", sr.PointSpring("ground", (0.3, 0, 0.2), "b6", (0, 0, 0.1), 25.0, 0.2))
    spec.force("joint spring", sr.JointSpring("b1", 12.0, 0.1)).force("damper", sr.JointDamper("b5", 0.7))
    spec.force("push", sr.ConstantWrench("b8", (1, 2, 3, 0.1, 0.2, 0.3), point=(0.1, 0, 0)))
    spec.force("thrust", sr.ConstantWrench("b4", (-1, 0, 2, 0.3, 0, 0.1), frame="body"))


def mixed(*kinds: str) -> sr.Mechanism:
    """The tree with forces and constraints of these kinds, closed at its default pose."""
    spec, q = tree()
    bare = spec.compile()
    at_a = sr.Pose((0.1, -0.1, 0.2), rpy=(0.4, 0.3, -0.2))
    at_b = bare.pose(q, "b8").inverse() @ bare.pose(q, "b4") @ at_a
    others = declared(bare, q)
    for kind in kinds:
        if kind in CLOSING:
            spec.close(kind, "b4", "b8", CLOSING[kind], at_a, at_b)
        else:
            spec.constrain(kind, others[kind])
    forces(spec)
    return spec.compile().with_default(q)


KINDS = (*CLOSING, "coupling", "drive", "drive, values only", "distance", "point_on_line", "point_on_plane")
KINDS += ("rolling", "custom")
MIXED = {kind: (kind,) for kind in KINDS} | {
    "a point, a gear, a wheel and a drive": ("spherical", "coupling", "rolling", "drive"),
    "redundant": ("revolute", "spherical", "distance", "point_on_plane", "universal", "coupling"),
    "rows of Python and loops": ("universal", "custom", "drive", "coupling"),
    "everything": tuple(kind for kind in KINDS if kind not in ("custom", "drive, values only")),
}


def mixture(kinds: tuple[str, ...], keep: Keep) -> None:
    """Questions to the tree with these constraints, and short motions."""
    mech = mixed(*kinds)
    asked(keep, mech, quick=True)
    q, v = state_of(mech)
    end = 0.005 if "custom" in kinds else 0.05  # rows of Python take their time
    for method in METHODS:
        keep(f"run, {method}", sr.simulate, mech, (0.0, end), q, v, method=method)


def n_four_bar(n: int, keep: Keep) -> None:
    """Many coordinates: every compiled size, and the workspace beyond them."""
    mech = L.n_four_bar(n)
    q, v = map(np.array, mech.default)
    keep("forward", mech.forward_dynamics, q, v)
    keep("derivatives", mech.derivatives, q, v)
    keep("mobility", mech.mobility)
    keep("run", sr.simulate, mech, (0.0, 0.1), store_every=5)
    keep("dopri5", sr.simulate, mech, (0.0, 0.05), method="dopri5", store_every=5)


def formats(keep: Keep) -> None:
    """MJCF and URDF files of the tests."""
    for name in ("arm.urdf", "gripper.xml", "leg.xml"):
        path = next(iter(sorted(Path(__file__).parents[2].glob(f"tests/**/{name}"))))
        mech = keep(f"load {name}", sr.load, path)
        if mech is not None:
            asked(partial(prefixed, keep, name), mech, quick=True)
            keep(f"run {name}", sr.simulate, mech, (0.0, 0.05))
    keep("pinocchio", from_pinocchio)
    keep("load, free", sr.load, next(Path(__file__).parents[2].glob("tests/**/arm.urdf")), root="free")


def from_pinocchio() -> list[Any]:
    """A small model of Pinocchio with a loop: terms and words."""
    import pinocchio as pin

    model, placement = pin.Model(), pin.SE3(np.eye(3), np.array([1.0, 0.0, 0.0]))
    parent = 0
    for i in range(3):
        parent = model.addJoint(parent, pin.JointModelRZ(), placement if i else pin.SE3.Identity(), f"j{i}")
        inertia = pin.Inertia(1.0 + i, np.array([0.5, 0.0, 0.0]), np.diag([0.1, 0.2, 0.25]))
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    end = pin.SE3(np.eye(3), np.array([1.2, 0.0, 0.0]))
    loop = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, parent, placement, 0, end)
    mech = sr.from_pinocchio(model, [loop])
    return [str(mech), mech.default, mech.terms(*state_of(mech)), mech.forward_dynamics(*state_of(mech))]


CASES: dict[str, Callable[[Keep], None]] = {
    f"library {name}": partial(library, name, {}) for name in L.MECHANISMS
}
CASES |= {f"library {name} {' '.join(o.values())}": partial(library, name, o) for name, o in VARIANTS}
CASES |= {f"mixed {name}": partial(mixture, kinds) for name, kinds in MIXED.items()}
CASES |= {f"n_four_bar {n}": partial(n_four_bar, n) for n in (1, 2, 3, 7, 15, 40, 100)}
CASES |= {"formats": formats, "decompose": splits}
