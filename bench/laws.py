"""Are laws bounded and honest where ranks change? Random mechanisms, laws and noise: `python -m bench.laws`.

A trial is a mechanism with random sizes and masses, a law, a path through a pose at which a rank changes, and
noise on what the law measures along the path. Counted are

- states with inputs above FACTOR x the largest of the noise-free law on the same path outside the band: where
  the noise is what `measurement` says, and where it is larger;
- states with status OK at which a wish is missed by more than its tolerance, judged by the forward dynamics
  at the state that the law worked at;
- states with inputs beyond the bounds of motors, in any status;
- states at which the law failed.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import sarrus as sr

from .report import Column, table

C = sr.control
Rng = np.random.Generator
Array = npt.NDArray[np.float64]
State = tuple[Array, Array]
FACTOR = 10.0
MISSED = 1e-3  # relative to 1 rad/s^2 and the wanted acceleration; rounding near the band leaves 1e-4
NOISES = (0.0, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)  # [rad]; velocities have SLOWER times that, per second
SLOWER = 10.0
WEAK, STRONG = 6.0, 1e4  # bounds of motors
KP = 10.0
STATES = 40  # of a trial
FAULTS = ("silent", "beyond", "failed")
SHARE = 1e-3  # of states whose inputs may be too large
COLUMNS: tuple[Column, ...] = (
    ("mechanism, law", "title", ""),
    ("trials", "trials", "d"),
    ("states", "states", "d"),
    ("too large", "large", "d"),
    ("too large, noise not declared", "undeclared", "d"),
    ("missed, OK", "silent", "d"),
    ("beyond motors", "beyond", "d"),
    ("failed", "failed", "d"),
    ("told", "told", "d"),
)


@dataclass(frozen=True)
class Machine:
    """A mechanism with a path through a pose where a rank changes.

    Attributes:
        title: of its family.
        mech: the mechanism.
        path: pose at the parameter s; s = 0 is the pose.
        along: derivative of the path (nv,).
        outputs: what is tracked, coordinates or positions, each of one component.
        grasp: of the object that its arms hold; None is none.
    """

    title: str
    mech: sr.Mechanism
    path: Callable[[float], Array]
    along: Callable[[float], Array]
    outputs: tuple[Any, ...]
    grasp: C.Grasp | None = None


def rod(rng: Rng, length: float) -> dict[str, Any]:
    """Mass, centre of mass and inertia of a rod."""
    mass, across = float(10 ** rng.uniform(-1, 1)), float(rng.uniform(-0.2, 0.2)) * length
    size = mass * length**2 * float(rng.uniform(0.01, 0.3))
    com = (float(rng.uniform(0.2, 1.0)) * length, across, 0.0)
    return {"mass": mass, "com": com, "inertia": (size, size, size)}


def described(rng: Rng) -> sr.MechanismSpec:
    """An empty description, with gravity or without."""
    return sr.MechanismSpec(gravity=(0.0, -9.81 * float(rng.random() < 0.8), 0.0))


def slider_crank(rng: Rng) -> Machine:
    """Crank and rod of one length: at 90 degrees the only row vanishes."""
    length, spec = float(10 ** rng.uniform(-1, 0.5)), described(rng)
    spec.body("crank", joint=sr.Revolute("z"), **rod(rng, length))
    spec.body("rod", "crank", joint=sr.Revolute("z"), at=sr.Pose((length, 0, 0)), **rod(rng, length))
    slider = sr.PointOnPlane("ground", (0, 0, 0), "rod", (length, 0, 0), normal="y")
    spec.constrain("slider", slider)
    spec.actuate(*(("crank", "rod") if rng.random() < 0.7 else (str(rng.choice(["crank", "rod"])),)))
    pose, along = np.array([np.pi / 2, np.pi]), np.array([1.0, -2.0])
    outputs = ("crank", C.Position("rod", (length, 0, 0), axes="x"))
    return Machine("slider-crank", spec.compile(), lambda s: pose + s * along, lambda s: along, outputs)


def parallelogram(rng: Rng) -> Machine:
    """A parallelogram with redundant rows: flat, it could go on as an antiparallelogram."""
    crank, base = (float(10 ** rng.uniform(-1, 0)) for _ in range(2))
    spec, place = described(rng), sr.Pose((crank, 0, 0))
    spec.body("crank", joint=sr.Revolute("z"), **rod(rng, crank))
    spec.body("coupler", "crank", joint=sr.Revolute("z"), at=place, **rod(rng, base))
    spec.body("rocker", joint=sr.Revolute("z"), at=sr.Pose((base, 0, 0)), **rod(rng, crank))
    ends = {"at_a": sr.Pose((base, 0, 0)), "at_b": place}
    spec.close("pin", "coupler", "rocker", joint=sr.Revolute("z"), **ends)
    motors = ["crank", "coupler", "rocker"]
    spec.actuate(*rng.permutation(motors)[: int(rng.integers(1, 4))].tolist())
    start, along = float(rng.choice([0.0, np.pi])), np.array([1.0, -1.0, 1.0])
    outputs = ("crank", "rocker", C.Position("coupler", (base / 2, 0, 0), axes="y"))
    return Machine("parallelogram", spec.compile(), lambda s: (start + s) * along, lambda s: along, outputs)


def arm(rng: Rng) -> Machine:
    """Links in a row without loops: stretched, its tip cannot move along."""
    n, spec, parent = int(rng.integers(2, 5)), described(rng), "ground"
    lengths = 10 ** rng.uniform(-0.7, 0.3, size=n)
    for k in range(n):
        at = sr.Pose((float(lengths[k - 1]) if k else 0.0, 0, 0))
        spec.body(f"link{k}", parent, joint=sr.Revolute("z"), at=at, **rod(rng, float(lengths[k])))
        parent = f"link{k}"
    along, tip = rng.normal(size=n), (float(lengths[-1]), 0.0, 0.0)
    along[1:] *= 1.0 / np.abs(along[1:]).max()
    outputs = (C.Position(parent, tip, axes="x"), C.Position(parent, tip, axes="y"), "link0")
    return Machine("stretched arm", spec.compile(), lambda s: s * along, lambda s: along, outputs)


def two_arms(rng: Rng) -> Machine:
    """An object between two planar arms, mirror images: at s = 0 both are stretched."""
    upper, lower = (float(10 ** rng.uniform(-0.5, 0.0)) for _ in range(2))
    hand, half = 0.1, float(rng.uniform(0.05, 0.2))
    apart, spec = float(rng.uniform(0.2, 0.8)) * (upper + lower), described(rng)
    size = float(10 ** rng.uniform(-3, -1))
    spec.body("box", joint=sr.Free(), mass=float(10 ** rng.uniform(-1, 1)), inertia=(size, size, size))
    contacts = []
    for side in (-1.0, 1.0):  # the left arm points to +x, the right one to -x
        base = sr.Pose((side * (apart + half + hand), 0, 0), rpy=(0, 0, np.pi if side > 0 else 0.0))
        name = "left" if side < 0 else "right"
        place, links = base, (upper, lower, hand)
        for k, length in enumerate(links):
            parent = "ground" if k == 0 else f"{name}{k - 1}"
            spec.body(f"{name}{k}", parent, joint=sr.Revolute("z"), at=place, **rod(rng, length))
            place = sr.Pose((length, 0, 0))
        face = sr.Pose((side * half, 0, 0), rpy=(0, 0, np.pi if side > 0 else 0.0))
        spec.close(f"{name}_grip", "box", f"{name}2", sr.Fixed(), at_a=face, at_b=place)
        contacts.append(C.Patch(f"{name}_grip", 0.6, "x", least=3.0, torsion=0.05, half=(0.05, 0.05)))
    spec.actuate(*(f"{name}{k}" for name in ("left", "right") for k in range(3)))
    mech = spec.compile()

    def angles(s: float) -> tuple[float, float, float, float]:
        """Height of the object, shoulder, and their derivatives."""
        reach = upper**2 + lower**2 + 2 * upper * lower * np.cos(s)
        height = np.sqrt(reach - apart**2)
        bend = np.arctan2(lower * np.sin(s), upper + lower * np.cos(s))
        rise = -upper * lower * np.sin(s) / height
        turn = rise * apart / reach - (lower**2 + upper * lower * np.cos(s)) / reach
        return height, np.arctan2(height, apart) - bend, rise, turn

    def path(s: float) -> Array:
        height, shoulder, _, _ = angles(s)
        joints = np.array([shoulder, s, -shoulder - s])
        return np.concatenate([[0.0, height, 0.0, 0.0, 0.0, 0.0, 1.0], joints, -joints])

    def along(s: float) -> Array:
        _, _, rise, turn = angles(s)
        joints = np.array([turn, 1.0, -turn - 1.0])
        return np.concatenate([[0.0, rise, 0.0, 0.0, 0.0, 0.0], joints, -joints])

    return Machine("held object", mech, path, along, (), C.Grasp(mech, "box", contacts))


FAMILIES = (slider_crank, parallelogram, arm, two_arms)


def tilted(machine: Machine, rng: Rng) -> Any:
    """An output that is at the pose that of the first motor, and beside it turns away."""
    mech, names = machine.mech, [a.name for a in machine.mech.model.actuators]
    pose, first = machine.path(0.0), mech.index(names[0])[1].start
    turn = rng.normal(size=mech.nv)

    def value(q: Array) -> Array:
        d = q - pose
        return np.array([d[first] + 0.5 * float(turn @ d) * float(d.sum())])

    return C.Function(value, jacobian=lambda q: _row(q - pose, turn, first)[None])


def _row(d: Array, turn: Array, first: int) -> Array:
    row = 0.5 * (turn * d.sum() + float(turn @ d))
    row[first] += 1.0
    return np.asarray(row)


def make_law(machine: Machine, rng: Rng, **options: Any) -> tuple[str, Any, float]:
    """A random law, its name and the bound of its motors."""
    if machine.grasp is not None:
        return impedance(machine, machine.grasp, rng, **options)
    mech, kinds = machine.mech, ("least torque", "limits", "hybrid", "levels", "limited levels", "conflict")
    kind = str(rng.choice(kinds if mech.nc else [k for k in kinds if k != "hybrid"]))
    chosen = [machine.outputs[i] for i in rng.permutation(len(machine.outputs))]
    several = chosen[: int(rng.integers(1, 3))]
    bound = float(rng.choice([WEAK, STRONG])) if "limit" in kind else np.inf
    bounds = C.TorqueBounds((-bound, bound))
    goals = [0.3] * len(several)
    if kind == "least torque":
        return kind, C.ProjectedInverseDynamics(mech, several, goals, kp=KP, **options), bound
    if kind == "limits":
        return kind, C.ForceLimits(mech, several, goals, bounds, kp=KP, **options), bound
    if kind == "hybrid":
        force = {mech.row_names[0]: 3.0}
        return kind, C.HybridForceMotion(mech, chosen[0], 0.3, force, kp=KP, **options), bound
    tasks = [C.PriorityTask(o, 0.3, kp=KP, priority=i) for i, o in enumerate(several)]
    if kind == "conflict":
        motor = machine.mech.model.actuators[0].name
        tasks = [C.PriorityTask(motor, 0.3, kp=KP, priority=0)]
        tasks.append(C.PriorityTask(tilted(machine, rng), acceleration=[1.0], priority=1))
    limits = bounds if kind == "limited levels" else ()
    return kind, C.TaskHierarchy(mech, tasks, limits=limits, **options), bound


def impedance(machine: Machine, grasp: C.Grasp, rng: Rng, **options: Any) -> tuple[str, Any, float]:
    """The law of a held object, which is to be further away than it can get, or nearer."""
    bound = float(rng.choice([20.0 * WEAK, STRONG]))
    goal = sr.Pose(machine.path(0.0)[:3] + np.array([0.0, float(rng.choice([-0.3, 0.3])), 0.0]))
    law = C.ObjectImpedance(
        machine.mech,
        grasp,
        goal,
        damping=(30.0, 3.0),
        external=rng.choice([None, "displacement"]),
        limits=C.TorqueBounds((-bound, bound)),
        require_closure=False,
        **options,
    )
    return "impedance", law, bound


def states_on(machine: Machine, parameters: Array, speed: float) -> Iterator[State]:
    """Exact states on the path."""
    for s in parameters:
        yield machine.path(float(s)), speed * machine.along(float(s))


def measured(machine: Machine, rng: Rng, speed: float, noise: float, count: int) -> Iterator[State]:
    """Noisy states, most of them near the pose."""
    unit = machine.mech.units.unit
    for q, v in states_on(machine, _signs(rng, count) * 10 ** rng.uniform(-8, -0.5, size=count), speed):
        off, slow = (noise * unit * rng.normal(size=len(unit)) for _ in range(2))
        yield machine.mech.integrate(q, off), v + SLOWER * slow


def _signs(rng: Rng, count: int) -> Array:
    return np.asarray(rng.choice([-1.0, 1.0], size=count))


def is_silent_miss(machine: Machine, found: Any) -> bool:
    """Status OK, but the forward dynamics at the state of the law miss a wish."""
    if found.status != C.Status.OK:
        return False
    now = found._step.now
    a = machine.mech.forward_dynamics(now.q, now.v, u=found.u).a
    wanted = found._task.wanted
    miss = float(np.max(np.abs(wanted - found._task.J @ a), initial=0.0))
    return miss > MISSED * (1.0 + float(np.max(np.abs(wanted), initial=0.0)))


def clear_bound(machine: Machine, law: Any, speed: float) -> float:
    """Largest input of the law at exact states on the path, outside the band."""
    beside = np.logspace(-8, -0.3, 60)
    both = np.concatenate([-beside, beside])
    found = [law.solve(0.0, q, v) for q, v in states_on(machine, both, speed)]
    return max((float(np.abs(f.u).max()) for f in found if not f.faded), default=0.0)


def run_trial(rng: Rng, count: int) -> tuple[str, Counter[str]]:
    """One trial: what was counted, under the title of its mechanism and law."""
    machine = FAMILIES[int(rng.integers(len(FAMILIES)))](rng)
    noise, speed = float(rng.choice(NOISES)), float(rng.choice([0.0, 1e-2, 0.3, 1.0, 3.0]))
    declared = (max(noise, 1e-5), max(SLOWER * noise, 1e-3)) if rng.random() < 0.5 else (1e-5, 1e-3)
    kind, law, bound = make_law(machine, rng, measurement=declared)
    clear = clear_bound(machine, law, speed)
    counted: Counter[str] = Counter(trials=1)
    for q, v in measured(machine, rng, speed, noise, count):
        found = law.solve(0.0, q, v)
        size = float(np.abs(found.u).max())
        counted["states"] += 1
        counted["failed"] += found.status == C.Status.FAILED
        counted["large" if noise <= declared[0] else "undeclared"] += size > FACTOR * clear
        counted["beyond"] += size > bound * (1.0 + 1e-9)
        counted["silent"] += is_silent_miss(machine, found)
        counted["told"] += bool(found.faded)
    return f"{machine.title}, {kind}", counted


def study(count: int, seed: int) -> list[dict[str, Any]]:
    """Rows of the table, the last one their sum; trials with faults are named on the error stream."""
    found: dict[str, Counter[str]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k in range(seed, seed + count):
            title, counted = run_trial(np.random.default_rng(k), STATES)
            found.setdefault(title, Counter()).update(counted)
            if any(counted[fault] for fault in (*FAULTS, "large", "undeclared")):
                print(f"trial {k}, {title}: {dict(counted)}", file=sys.stderr, flush=True)
    found = dict(sorted(found.items()))
    found["all"] = sum(found.values(), Counter())
    return [{"title": title, **{key: n[key] for _, key, _ in COLUMNS[1:]}} for title, n in found.items()]


def main(words: list[str]) -> int:
    """Print the table; 1 where a wish is missed silently, a motor is beyond its bounds, a law fails, or more
    than SHARE of the inputs are too large."""
    parser = argparse.ArgumentParser(prog="python -m bench.laws", description="Laws where ranks change")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(words)
    rows = study(given.count, given.seed)
    print(table("Laws where ranks change", COLUMNS, rows))
    total = rows[-1]
    large = total["large"] + total["undeclared"]
    return int(any(total[fault] for fault in FAULTS) or large > SHARE * total["states"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
