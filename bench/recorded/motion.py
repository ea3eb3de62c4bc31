"""Cases of `recorded_runs`: motion in every method, chart and formulation, singular poses, switches."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import sarrus as sr

from .cases import CORRECTIONS, FORMULATIONS, METHODS, SEED, L, mixed, state_of

Array = npt.NDArray[np.float64]
Keep = Callable[..., Any]
HALF, Z = math.pi / 2, sr.Revolute("z")
TIGHT = {"rtol": 1e-7, "atol": 1e-9}

# steps for which a hundred of them show some motion
MOVING = {"four_bar": 1e-2, "n_four_bar": 1e-2, "stewart": 2e-3, "rolling_disk": 5e-3, "bricard": 1e-2}
MOVING |= {"andrews": 1e-4, "sarrus": 5e-3, "flyball_governor": 1e-4, "loader": 2e-3}
IN_CHARTS = ("four_bar", "n_four_bar", "stewart", "bricard", "rolling_disk")


def methods(name: str, keep: Keep) -> None:
    """Every method with every correction, with and without inputs."""
    mech, dt = L.MECHANISMS[name](), MOVING[name]
    q, v = state_of(mech)
    for method in METHODS:
        for correction in CORRECTIONS:
            options = {"method": method, "correction": correction, "dt": dt}
            keep(f"{method}, {correction}", sr.simulate, mech, (0.0, 100 * dt), q, v, **options, **TIGHT)
    for method in METHODS:
        span, options = (0.0, 30 * dt), {"method": method, "dt": dt, **TIGHT}
        keep(f"{method}, energy", sr.simulate, mech, span, q, v, energy=True, **options)
        keep(f"{method}, drag", sr.simulate, mech, span, q, v, tau=lambda t, q, v: -1e-3 * v, **options)
        keep(f"{method}, force", sr.simulate, mech, span, q, v, tau=0.01 * np.ones(mech.nv), **options)
        push = {mech.body_names[-1]: lambda t: [0.1, math.sin(9.0 * t), 0.2, 0.0, 0.01, 0.0]}
        keep(f"{method}, push", sr.simulate, mech, span, q, v, external=push, **options)
        if mech.nu:
            law = partial(wave, mech.nu)
            keep(f"{method}, control", sr.simulate, mech, span, q, v, control=law, **options)
            sampled = {"control": law, "control_dt": 3.5 * dt}
            keep(f"{method}, sampled", sr.simulate, mech, span, q, v, **sampled, **options)
    slope = {"method": "radau", "jacobian": "finite_difference", "dt": dt, **TIGHT}
    keep("radau, differences", sr.simulate, mech, (0.0, 10 * dt), q, v, **slope)
    gains = {"correction": "baumgarte", "baumgarte": (5.0, 7.0)}
    keep("baumgarte gains", sr.simulate, mech, (0.0, 30 * dt), q, v, dt=dt, **gains)
    for formulation in FORMULATIONS:
        for correction in ("project", "none"):
            options = {"formulation": formulation, "correction": correction, "dt": dt}
            keep(f"{formulation}, {correction}", sr.simulate, mech, (0.0, 20 * dt), q, v, **options)


def wave(nu: int, t: float, q: Array, v: Array) -> Array:
    """Inputs that change with time and velocity."""
    return 0.03 * np.sin(9.0 * t + np.arange(nu)) - 1e-3 * v[:nu]


def charts(name: str, keep: Keep) -> None:
    """Minimal coordinates of every sort, by every method that takes them."""
    mech, dt = L.MECHANISMS[name](), MOVING[name]
    q, v = state_of(mech)
    dof = mech.mobility(q).dof
    rows = np.random.default_rng(SEED).normal(size=(dof, mech.nq))
    sorts: dict[str, Any] = {"tangent": "tangent", "partition": "partition", "nullspace": "nullspace"}
    sorts |= {"names": _independent(mech, q), "user": sr.Chart(lambda q, y: rows @ q - y, dof, name="sums")}
    for label, coordinates in sorts.items():
        for method in METHODS:
            options = {"coordinates": coordinates, "method": method, "dt": dt, "rtol": 1e-6, "atol": 1e-8}
            keep(f"{label}, {method}", sr.simulate, mech, (0.0, 20 * dt), q, v, **options)
        options = {"coordinates": coordinates, "dt": dt, "tau": 0.1 * np.ones(mech.nv)}
        keep(f"{label}, svd", sr.simulate, mech, (0.0, 10 * dt), q, v, formulation="svd", **options)
    keep("refused", sr.simulate, mech, (0.0, dt), q, v, coordinates="tangent", correction="none")


def _independent(mech: sr.Mechanism, q: Array) -> list[str]:
    """Coordinates that determine the others, as the linear model chooses them."""
    try:
        return list(sr.linearize(mech, q).independent)
    except sr.SarrusError:
        return list(mech.names[:1])


def pendulum_of_equations(keep: Keep) -> None:
    """CustomSystem: a pendulum in Cartesian coordinates, in full and through points where charts fail."""
    system = sr.CustomSystem(
        2,
        2,
        M=np.eye(2),
        h=np.array([0.0, 9.81]),
        phi=lambda q, v, t: np.array([q @ q - 1.0]),
        J=lambda q, v, t: 2.0 * q[None],
        gamma=lambda q, v, t: np.array([-2.0 * v @ v]),
        potential=lambda q, v, t: 9.81 * q[1],
    )
    q, v = np.array([0.6, -0.8]), 4.0 * np.array([0.8, 0.6])
    one, two = (sr.Chart(lambda q, y, i=i: q[i : i + 1] - y, 1, name=f"q{i}") for i in (0, 1))
    angle = sr.Chart(lambda q, y: [q[0] * np.cos(y[0]) + q[1] * np.sin(y[0])], 1, y0=[0.6], name="angle")
    keep("forward", system.forward_dynamics, q, v)
    keep("terms", system.terms, q, v)
    keep("mobility", system.mobility, q)
    for label, chart in {"full": "full", "one": one, "two": [one, two], "angle": angle}.items():
        keep(label, sr.simulate, system, (0.0, 1.0), q, v, dt=1e-2, coordinates=chart)
    for method in METHODS:
        keep(method, sr.simulate, system, (0.0, 0.1), q, v, dt=1e-2, method=method, **TIGHT)
    for formulation in FORMULATIONS:
        keep(formulation, sr.simulate, system, (0.0, 0.2), q, v, dt=1e-2, formulation=formulation)
    bare = sr.CustomSystem(
        2, 2, M=np.eye(2), h=lambda q, v, t: [0.0, 9.81], phi=lambda q, v, t: [q @ q - 1.0]
    )
    keep("phi only", sr.simulate, bare, (0.0, 0.3), q, v, dt=1e-2)


# ---------------------------------------------------------------------- singular poses


def singular(keep: Keep) -> None:
    """Through singular poses, and out of them from rest and in motion."""
    crank, free = L.slider_crank(), L.slider_crank(gravity=0.0)
    bars = L.parallelogram(gravity=0.0)
    line = bars.assemble(bars.default.q, fixed={bars.names[0]: 0.3}).q
    turning = bars.consistent_velocity(line, fixed={bars.names[0]: 4.0})
    flat = np.append(np.tile([-HALF, HALF], 2), -HALF)
    starts: dict[str, tuple[Any, float, Any, Any, dict[str, Any]]] = {
        "five-bar from rest": (L.five_bar(), 0.4, None, None, {}),
        "five-bar, back again": (L.five_bar(), 3.0, None, None, {"dt": 5e-3, "store_every": 5}),
        "five-bar, raised": (L.five_bar("raised"), 1.5, None, None, {"dt": 5e-3}),
        "slider-crank, toggle": (free, 1.0, [1.0, 2 * math.pi - 2.0], [2.0, -4.0], {"dt": 1e-2}),
        "slider-crank at the toggle": (crank, 0.3, [HALF, math.pi], [1.0, -2.0], {"tau": [1.0, 0.0]}),
        "slider-crank, at rest": (crank, 0.1, [HALF, math.pi], None, {"tau": [-3.0, 0.0]}),
        "parallelogram in line": (bars, 1.0, line, turning, {"dt": 1e-2}),
        "parallelogram, falling": (L.parallelogram(), 1.0, None, None, {"dt": 1e-2}),
        "n_four_bar": (L.n_four_bar(2), 1.5, None, None, {"dt": 1e-2}),
        "n_four_bar lying flat": (L.n_four_bar(2), 0.3, flat, None, {"dt": 5e-3}),
        "without forces": (L.five_bar(gravity=0.0), 0.05, None, None, {}),
        "scott_russell": (L.scott_russell(), 0.8, None, None, {"dt": 1e-2}),
    }
    for label, (mech, end, q, v, options) in starts.items():
        keep(f"{label}: branches", mech.branches, mech.default.q if q is None else q)
        for method in METHODS:
            keep(f"{label}, {method}", sr.simulate, mech, (0.0, end), q, v, method=method, **TIGHT, **options)
        for formulation in ("svd", "projection", "lagrange"):
            short = {**options, "formulation": formulation}
            keep(f"{label}, {formulation}", sr.simulate, mech, (0.0, end / 10), q, v, **short)
    for coordinates in ("tangent", "partition", "nullspace"):
        keep(coordinates, sr.simulate, bars, (0.0, 0.9), line, turning, dt=1e-2, coordinates=coordinates)
    for i, branch in enumerate(L.n_four_bar(2).branches(flat)):
        keep(f"path {i}", branch.path, 0.5, 5)
        keep(f"along {i}", sr.simulate, L.n_four_bar(2), (0.0, 0.2), flat, 2.0 * branch.direction, dt=5e-3)


# ---------------------------------------------------------------------- constraints that change


def table() -> sr.Mechanism:
    """Four feet: four rows, three of them independent."""
    spec = sr.MechanismSpec(name="table")
    spec.body("top", joint=sr.Free(), mass=4.0, inertia=(0.3, 0.3, 0.5))
    for i, (x, y) in enumerate([(0.5, 0.5), (0.5, -0.5), (-0.5, 0.5), (-0.5, -0.5)]):
        spec.constrain(f"leg{i}", sr.PointOnPlane("ground", (0, 0, 0), "top", (x, y, -0.7), "z"))
    return spec.compile()


def two_bars() -> sr.Mechanism:
    """Two hinged bars whose tips can be pinned, coupled, tied or guided; hinges with limits."""
    spec = sr.MechanismSpec(gravity=(0.0, -9.81, 0.0), name="two_bars")
    bar: dict[str, Any] = {"mass": 1.0, "inertia": (0.0, 0.1, 0.1), "limits": (-2.0, 1.2)}
    spec.body("left", joint=Z, com=(0.5, 0, 0), **bar)
    spec.body("rod", "left", joint=Z, at=sr.Pose((1, 0, 0)), com=(0.5, 0, 0), **bar)
    spec.body("right", joint=Z, at=sr.Pose((2, 0, 0)), com=(-0.5, 0, 0), **bar)
    spec.close("pin", "rod", "right", Z, at_a=sr.Pose((1, 0, 0)), at_b=sr.Pose((-1, 0, 0)))
    spec.constrain("gear", sr.Coupling({"left": 1.0, "right": 1.0}))
    spec.constrain("tie", sr.Distance("left", (1, 0, 0), "right", (-1, 0, 0), 0.9))
    spec.constrain("guide", sr.PointOnLine("ground", (1.2, 0, 0), "rod", (1, 0, 0), "y"))
    return spec.actuate("left", limits=(-4.0, 4.0)).compile()


def ball_on_a_cable() -> sr.Mechanism:
    """Distance as a cable that goes slack."""
    spec = sr.MechanismSpec(name="ball", length=1.0)
    spec.body("x", joint=sr.Prismatic("x"), mass=0.0)
    spec.body("ball", parent="x", joint=sr.Prismatic("z"), mass=1.0)
    spec.constrain("cable", sr.Distance("ground", (0, 0, 0), "ball", (0, 0, 0), 1.0))
    return spec.compile()


def rod() -> sr.Mechanism:
    """A rod whose ends stick where they land."""
    spec = sr.MechanismSpec(name="rod")
    spec.body("rod", joint=sr.Free(), mass=1.0, inertia=(0.01, 0.083, 0.083))
    for name, x in (("left", -0.5), ("right", 0.5)):
        spec.close(name, "ground", "rod", joint=sr.Spherical(), at_b=sr.Pose((x, 0.0, 0.0)))
    return spec.compile()


def switches(keep: Keep) -> None:
    """Latches, switches by clock and by event, contacts, hard stops."""
    q, v = np.array([0.9, -1.7, 0.2]), np.array([0.5, 1.0, -2.0])
    bars, feet = two_bars(), [sr.Contact(f"leg{i}") for i in range(4)]
    everything = [
        sr.Switch(n, on=0.05 * (i + 1), off=0.3, latch=True) for i, n in enumerate(["gear", "tie", "pin"])
    ]
    everything.append(sr.Switch("guide", on=lambda t, q, v: q[0] - 0.8, latch=True))
    alone = [sr.Switch(name, closed=False) for name in ("gear", "tie", "guide")]
    for method in METHODS:
        options = {"method": method, "dt": 5e-3, **TIGHT}
        keep(f"latches, {method}", sr.simulate, bars, (0.0, 0.5), q, v, switches=everything, **options)
        pin = [*alone, sr.Switch("pin", on=0.1, off=0.2, latch=True)]
        keep(f"stops, {method}", sr.simulate, bars, (0.0, 0.8), q, v, switches=pin, stops=True, **options)
        tilted = [0, 0, 1.0, *sr.Pose(rpy=(0.1, 0.05, 0.0)).quat]
        keep(f"table, {method}", sr.simulate, table(), (0.0, 0.35), tilted, switches=feet, **options)
    keep("table lands", sr.simulate, table(), (0.0, 0.4), [0, 0, 1.0, 0, 0, 0, 1], switches=feet, dt=4e-3)
    ball, start = ball_on_a_cable(), np.array([0.3, -math.sqrt(0.91)])
    speed = ball.consistent_velocity(start, [4.0, 0.0])
    cable = sr.Contact("cable", side=-1.0)
    keep("cable", sr.simulate, ball, (0.0, 1.2), start, speed, switches=cable, dt=1e-2)
    ends = [sr.Contact(name, row=f"{name}.tz", latch=True) for name in ("left", "right")]
    pose = [0.3, 0.1, 1.0, *sr.Pose(rpy=(0.0, 0.5, 0.2)).quat]
    keep("rod", sr.simulate, rod(), (0.0, 0.6), pose, [0.5, 0, 0, 0, 0, 0], switches=ends, dt=5e-3)
    law = partial(wave, bars.nu)
    held = {"switches": [*alone, sr.Switch("pin", on=0.1, latch=True)], "control": law, "control_dt": 0.02}
    keep("controlled", sr.simulate, bars, (0.0, 0.4), q, v, dt=5e-3, **held)
    keep("off", sr.simulate, L.four_bar(), (0.0, 0.4), switches=sr.Switch("pin", off=0.2), dt=5e-3)
    for name in ("pin", "gear", "tie", "guide"):
        fixed = keep(
            f"latched {name}", lambda name=name: bars.with_constraints([name], {name: bars.latched(name, q)})
        )
        keep(f"latched {name}, terms", fixed.terms, q, v)
        keep(f"latched {name}, impact", fixed.impact, q, v)


# ---------------------------------------------------------------------- events, limits, files


def events(keep: Keep) -> None:
    """Events, times to keep, thinned runs, limits, functions that fail, runs that cannot go on."""
    mech = L.four_bar()
    q, v = state_of(mech)

    def level(t: float, q: Array, v: Array) -> float:
        return float(q[0] - 1.2)

    def end(t: float, q: Array, v: Array) -> float:
        return float(v[0])

    end.terminal = True  # type: ignore[attr-defined]
    level.direction = 1.0  # type: ignore[attr-defined]
    times = np.linspace(0.013, 0.47, 11)
    for method in METHODS:
        base = partial(sr.simulate, mech, (0.0, 0.5), q, v, method=method, dt=5e-3, **TIGHT)
        keep(f"{method}, events", base, events=[level, end])
        keep(f"{method}, t_eval", base, t_eval=times)
        keep(f"{method}, thinned", base, store_every=7)
    keep("chart, events", sr.simulate, mech, (0.0, 0.5), q, v, coordinates="tangent", events=end, dt=5e-3)
    keep("fails", sr.simulate, mech, (0.0, 0.1), control=lambda t, q, v: [1.0 / (t < 0.05)])
    keep("not a number", sr.simulate, mech, (0.0, 0.1), control=lambda t, q, v: [math.nan])
    keep("too long a step", sr.simulate, L.flyball_governor(), (0.0, 0.1), dt=5e-3)
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("mass", joint=sr.Prismatic("x"), mass=1.0, limits=(-0.5, 0.5))
    spec.force("spring", sr.JointSpring("mass", 1.0))
    bounded = spec.actuate("mass", limits=(-2.0, 3.0)).compile()
    keep("limits", sr.simulate, bounded, (0.0, 3.0), [0.0], [1.0], dt=0.03)
    strong = {"control": lambda t, q, v: [5.0 * math.sin(3.0 * t)], "dt": 0.03}
    keep("limits of actuators", sr.simulate, bounded, (0.0, 3.0), [0.0], [1.0], **strong)
    keep("study", sr.study, mech, 0.05)
    for wrong in (
        {"method": "rk5"},
        {"dt": 0.0},
        {"correction": "x"},
        {"t_eval": [9.0]},
        {"coordinates": "y"},
    ):
        keep(f"refused {wrong}", sr.simulate, mech, (0.0, 0.1), **wrong)


def resumed(keep: Keep) -> None:
    """Runs that go on, in memory and from a file."""
    wild = {"dopri5 through singular poses": (L.n_four_bar, 0.71, 1.0, {"method": "dopri5", **TIGHT})}
    cases: dict[str, tuple[Any, float, float, dict[str, Any]]] = wild | {
        name: (L.four_bar, 0.1004, 0.2, {"method": name, **TIGHT}) for name in METHODS
    }
    cases |= {
        "radau, rolling": (L.rolling_disk, 0.05, 0.1, {"method": "radau", **TIGHT}),
        "quaternions": (L.stewart, 0.05, 0.1, {}),
        "thinned": (L.four_bar, 0.1, 0.2, {"store_every": 7}),
        "energy": (L.four_bar, 0.1, 0.2, {"energy": True}),
        "baumgarte": (L.four_bar, 0.1, 0.2, {"correction": "baumgarte"}),
        "svd": (L.bennett, 0.1, 0.15, {"formulation": "svd", "dt": 5e-3}),
        "sampled": (L.four_bar, 0.105, 0.2, {"control": partial(wave, 1), "control_dt": 0.02}),
        "charts": (L.four_bar, 0.1, 0.2, {"coordinates": "tangent", "dt": 1e-2}),
    }
    for label, (make, half, end, options) in cases.items():
        first = keep(f"{label}, first half", sr.simulate, make(), (0.0, half), **options)
        keep(f"{label}, whole", first.resume, end)
        functions = {"control": options["control"]} if "control" in options else {}
        keep(f"{label}, from a file", partial(round_trip, first, end, **functions))
    everything = mixed("spherical", "coupling", "rolling", "drive")
    run = keep("mixed", sr.simulate, everything, (0.0, 0.02))
    keep("mixed, on", run.resume, 0.04)


def round_trip(run: sr.Trajectory, end: float, **functions: Any) -> sr.Trajectory:
    """Saved, loaded and resumed."""
    with tempfile.TemporaryDirectory() as folder:
        return sr.Trajectory.load(run.save(Path(folder) / "run.npz")).resume(end, **functions)


CASES: dict[str, Callable[[Keep], None]] = {f"methods {name}": partial(methods, name) for name in MOVING}
CASES |= {f"charts {name}": partial(charts, name) for name in IN_CHARTS}
CASES |= {"custom system": pendulum_of_equations, "singular": singular, "switches": switches}
CASES |= {"events": events, "resumed": resumed}
