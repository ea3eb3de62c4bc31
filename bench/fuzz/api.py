"""Public calls with wrong arguments: types, shapes, NaN, huge numbers, arguments of other calls, swapped.

`python -m bench.fuzz --what api` runs this. Allowed are a result and a SarrusError; a TypeError only where
the arguments do not fit the signature. Anything else is wrong.
"""

from __future__ import annotations

import copy
import inspect
import math
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

NAN, INF = math.nan, math.inf
SKIPPED = ("show", "from_pinocchio", "animate", "plot", "draw", "draw_path", "draw_cone", "study", "restore")
INTERNAL = (
    "spec.add",
    "spec.from_model",
    "spec.model",
    "spec.from_declared",
    "model.to_control",
    "run.export",
)
WRONG: tuple[Callable[[], Any], ...] = (
    lambda: None,
    lambda: NAN,
    lambda: INF,
    lambda: -INF,
    lambda: 1e308,
    lambda: -1e200,
    lambda: 5e-324,
    lambda: 0.0,
    lambda: -1.0,
    lambda: 3.7,
    lambda: 2**70,
    lambda: -7,
    lambda: True,
    lambda: 1j,
    lambda: Fraction(1, 3),
    lambda: "",
    lambda: "crank",
    lambda: "no such name",
    lambda: "a\0b",
    lambda: "\udcff",
    lambda: b"bytes",
    list,
    lambda: [1.0],
    lambda: [1.0, "x"],
    lambda: [[1.0], [1.0, 2.0]],
    lambda: (NAN, 0.0, 0.0),
    lambda: (0.0, 0.0, 0.0),
    lambda: (1e300, 1e300, 1e300),
    dict,
    lambda: {"crank": NAN},
    lambda: {"no such name": 1.0},
    lambda: {3: 4},
    lambda: {"crank"},
    lambda: object(),
    lambda: int,
    lambda: lambda *a: None,
    lambda: lambda *a: NAN,
    lambda: np.zeros(0),
    lambda: np.zeros((0, 3)),
    lambda: np.zeros(3),
    lambda: np.zeros((2, 3)),
    lambda: np.zeros((2, 2, 2, 2)),
    lambda: np.full(3, NAN),
    lambda: np.full(3, 1e300),
    lambda: np.ones(3, dtype=np.float32),
    lambda: np.ones(3, dtype=np.int8),
    lambda: np.ones(3, dtype=complex),
    lambda: np.array(["a", "b", "c"]),
    lambda: np.array([None, 1.0, 2.0], dtype=object),
    lambda: np.ma.masked_array([1.0, 2.0, 3.0], mask=[True, False, False]),
    lambda: np.ones((3, 3))[:, ::-1],
    lambda: np.eye(3),
    lambda: -np.eye(3),
    lambda: np.datetime64("2020-01-01"),
    lambda: np.float64("nan"),
    lambda: np.bool_(True),
    lambda: range(3),
    lambda: iter([1.0, 2.0, 3.0]),
    lambda: Path("no/such/folder/file"),
)


class Fuzzer:
    """Makes the calls of one seed."""

    def __init__(self, seed: int) -> None:
        import sarrus as sr

        self.seed, self.sr = seed, sr
        self.values = _values(sr)
        self.calls = _calls(sr, self.values)

    def content(self, run: int) -> bytes:
        """One call in words."""
        name, _, arguments = self._case(run)
        return f"{name}(**{arguments!r})\n".encode(errors="replace")

    def _case(self, run: int) -> tuple[str, Callable[..., Any], dict[str, Any]]:
        rng = random.Random(f"{self.seed}/{run}")
        name, call, right = self.calls[run % len(self.calls)]
        arguments = {key: self._fitting(key, rng) for key in right}
        keys = list(arguments)
        for _ in range(rng.choice((1, 1, 1, 2, 3)) if keys else 0):
            key, way = rng.choice(keys), rng.random()
            if way < 0.65:
                arguments[key] = rng.choice(WRONG)()
            elif way < 0.8:
                other = rng.choice(keys)
                arguments[key], arguments[other] = arguments[other], arguments[key]
            elif way < 0.95:
                arguments[key] = rng.choice(list(self.values.values()))()
            else:
                del arguments[key]
                keys = list(arguments) or ["q"]
                arguments.setdefault(keys[0], None)
        return name, call, arguments

    def _fitting(self, key: str, rng: random.Random) -> Any:
        return self.values[key]() if key in self.values else rng.choice(WRONG)()

    def __call__(self, run: int) -> tuple[str, str]:
        """The name of the call and what came of it."""
        name, call, arguments = self._case(run)
        if _may_take_long(name, arguments):
            return name, "skipped"
        try:
            inspect.signature(call).bind(**arguments)
            fits = True
        except TypeError:
            fits = False
        try:
            call(**arguments)
        except self.sr.SarrusError as error:
            return name, type(error).__name__ if str(error).strip() else "BAD error without a message"
        except TypeError as error:
            return name, "TypeError" if not fits else f"BAD TypeError: {error}"[:300]
        except BaseException as error:
            return name, f"BAD {type(error).__name__}: {error}"[:300]
        return name, "result"


def _may_take_long(name: str, arguments: dict[str, Any]) -> bool:
    """Calls that do a great deal of work because that is what they ask for."""
    if name in ("simulate", "resume"):
        dt, span = arguments.get("dt"), arguments.get("t_span", arguments.get("t_end"))
        for x, wrong in (
            (dt, lambda x: x < 1e-4),
            (span, lambda x: x > 1.0),
            (arguments.get("control_dt"), lambda x: x < 1e-4),
        ):
            try:
                if np.any(wrong(np.abs(np.asarray(x, dtype=float)))):
                    return True
            except (TypeError, ValueError, OverflowError):
                continue
    return False


def _values(sr: Any) -> dict[str, Callable[[], Any]]:
    """Arguments that fit, by the name of the parameter."""
    mech = sr.library.four_bar()
    q, v = mech.default
    run = sr.simulate(mech, (0.0, 0.02), method="rk4", dt=1e-3)
    pose, hinge = sr.Pose((0.1, 0.2, 0.3)), sr.Revolute("z")
    fixed: dict[str, Any] = {
        "system": mech, "mech": mech, "mechanism": mech, "what": mech, "shown": mech, "q": q, "q0": q,
        "q1": 1.1 * q, "q_guess": q, "v": v, "v0": v, "dv": 0.01 * q, "a": v, "tau": 0.1 * q, "x": q,
        "t": 0.0, "t_span": (0.0, 0.02), "t_end": 0.03, "dt": 1e-2, "rtol": 1e-6, "atol": 1e-8, "u": [0.1],
        "name": "part", "body": "crank", "parent": "ground", "joint": hinge, "at": pose, "at_a": pose,
        "at_b": pose, "mass": 1.0, "com": (0.1, 0.0, 0.0), "inertia": (1.0, 1.0, 1.0), "armature": 0.1,
        "damping": 0.1, "friction": 0.1, "limits": (-1.0, 1.0), "xyz": (0.1, 0.2, 0.3),
        "rpy": (0.1, 0.2, 0.3), "matrix": np.eye(3), "point": (0.1, 0.2, 0.3), "frame": "local",
        "coordinate": "crank", "values": [1.0, 1.05], "fixed": {"crank": 1.0}, "metric": "mass",
        "method": "rk4", "formulation": "svd", "axis": "z", "axis_a": "x", "axis_b": "y", "pitch": 0.1,
        "p_a": (0.1, 0.0, 0.0), "p_b": (0.0, 0.1, 0.0), "length": 0.5, "direction": "x", "normal": "z",
        "radius": 0.3, "stiffness": 10.0, "rest": 0.1, "coefficients": {"crank": 1.0}, "offset": 0.1,
        "function": math.sin, "rate": math.cos, "wrench": np.ones(6), "path": "file.json",
        "J": np.ones((2, 3)), "rank_tol": 1e-9, "b": [1.0, 1.0], "phases": [0.0, 0.5], "which": 0,
        "active": ["pin"], "actuated": ["crank"], "gravity": (0.0, 0.0, -9.81),
        "control": lambda t, q, v: [0.0], "control_dt": 5e-3, "t_eval": [0.0, 0.01],
        "events": lambda t, q, v: t - 0.01, "external": {"rocker": np.ones(6)}, "store_every": 2,
        "trajectory": run, "times": [0.0, 0.01], "constraint": sr.Coupling({"crank": 1.0}),
        "force": sr.JointSpring("crank", 1.0), "kind": "velocity", "independent": ["crank"],
        "inputs": ["crank"], "n": 3, "phi": lambda q, t: q[:1], "nq": 2, "nv": 2,
        "data": {"format": "sarrus", "version": 1}, "Q": np.eye(2), "R": np.eye(1), "amplitude": 0.2,
        "Kp": 10.0, "Kd": 1.0, "kp": 10.0, "kd": 1.0, "reference": [1.0], "outputs": None, "replaced": {},
        "project": True, "mu": 0.2, "base": (0.0, 0.0, 0.0), "eye": (1.0, 0.0, 0.0), "stroke": (0.5, 2.0),
    }  # fmt: skip
    return {name: (lambda x=x: copy.copy(x)) for name, x in fixed.items()}


def _attribute(sr: Any, of: Any, name: str) -> Any:
    """An attribute; None where it is refused by name, as forces of contacts in a run without surfaces."""
    try:
        return getattr(of, name)
    except sr.SarrusError:
        return None


def _calls(sr: Any, values: dict[str, Callable[[], Any]]) -> list[tuple[str, Callable[..., Any], list[str]]]:
    """Every public function, class and method with the parameters to give."""
    mech, run = values["mech"](), values["trajectory"]()
    model = sr.linearize(mech, *mech.default)
    things: dict[str, Any] = {name: getattr(sr, name) for name in sr.__all__}
    things |= {f"control.{name}": getattr(sr.control, name) for name in sr.control.__all__}
    things |= {f"library.{name}": make for name, make in sr.library.MECHANISMS.items()}
    things["viz.export"] = sr.viz.export
    found = {name: x for name, x in things.items() if callable(x) and not _is_result(x)}
    owners: dict[str, Callable[[], Any]] = {
        "mech": lambda: mech,
        "spec": lambda: _spec(sr),
        "run": lambda: run,
        "model": lambda: model,
        "pose": lambda: sr.Pose((0.1, 0.2, 0.3), rpy=(0.1, 0.2, 0.3)),
        "decomposition": lambda: mech.decompose(mech.default.q),
    }
    for owner, make in owners.items():
        for name in dir(make()):
            if not name.startswith("_") and f"{owner}.{name}" not in INTERNAL:
                bound = _attribute(sr, make(), name)
                if callable(bound):
                    found[f"{owner}.{name}"] = _on(make, name, bound)
    calls = []
    for name, call in sorted(found.items()):
        if name.rpartition(".")[2] in SKIPPED or name.rpartition(".")[2].startswith("plot"):
            continue
        parameters = inspect.signature(call).parameters.values()
        kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        given = [p for p in parameters if p.kind in kinds]
        calls.append(
            (
                name.removeprefix("control."),
                call,
                [p.name for p in given if p.default is p.empty or p.name in values],
            )
        )
    return calls


def _on(make: Callable[[], Any], name: str, bound: Any) -> Callable[..., Any]:
    """A method of a fresh owner, with the signature of the method."""

    def call(**arguments: Any) -> Any:
        return getattr(make(), name)(**arguments)

    call.__signature__ = inspect.signature(bound)  # type: ignore[attr-defined]
    return call


def _spec(sr: Any) -> Any:
    spec = sr.MechanismSpec()
    spec.body("crank", joint=sr.Revolute("z"), mass=1.0, inertia=(1.0, 1.0, 1.0))
    return spec


def _is_result(x: Any) -> bool:
    """Classes of results and errors: users read them and do not make them."""
    import sarrus as sr

    made = {getattr(sr.results, name) for name in sr.results.__all__} - {sr.Pose}
    return isinstance(x, type) and (
        x in made or issubclass(x, Exception | Warning) or x.__name__ in ("Mechanism", "Status")
    )
