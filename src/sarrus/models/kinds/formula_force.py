"""FormulaForce: a force by formulas, which the kernel computes; and functions taken as formulas."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, names, number, one_of, point, text
from ...errors import InputError
from ..base.expressions import FUNCTIONS, Expression, Signal, signals_in
from ..base.pose import known_pose
from ..tree.tree import Tree
from .body_force import AXES
from .forces import Force, ForceTable
from .formulas import Program

__all__ = ["FormulaForce", "recorded"]

ON_BODIES = {"place": ("PLACE", 3), "attitude": ("ATTITUDE", 9), "twist": ("TWIST", 6)}


@dataclass(frozen=True, eq=False)
class FormulaForce(Force):
    """A force by formulas: on coordinates, or a wrench on a body. The kernel computes it.

    Unlike Python functions formulas go into rollouts, recorded C, studios and files, and their derivatives
    are exact. They are arithmetic (+ - * / **), np.sqrt, sin, cos, tan, arcsin, arccos, arctan, arctan2,
    tanh, hypot, abs, sign, maximum, minimum and heaviside of numbers, parameters (`spec.parameter`), states
    (`spec.state`), coordinates and their speeds (`spec.coordinate`, `spec.speed`).

    `BodyForce` and `UserForce` of a function that is `recorded` become one.

    Args:
        formulas: One for each coordinate [N m, N], or the six of the wrench [force; moment] [N, N m].
        coordinate: Name of a coordinate, or several names; or the arguments that follow.
        body: Body on which the wrench acts.
        point: Where, in the body frame [m], (3,), or the name of a point of the drawing.
        axes: Of the wrench: "body" (those of the body) or "world".
    """

    by_formula: ClassVar[bool] = True
    formulas: Sequence[Any]
    coordinate: str | Sequence[str] | None = None
    body: str | None = None
    point: ArrayLike = (0.0, 0.0, 0.0)
    axes: str = "body"

    def __post_init__(self) -> None:
        if (self.body is None) == (self.coordinate is None):
            raise InputError("FormulaForce acts on coordinates or on a body: give coordinate= or body=.")
        if self.coordinate is not None:
            given = (self.coordinate,) if isinstance(self.coordinate, str) else self.coordinate
            object.__setattr__(self, "coordinate", tuple(names(given, "coordinate of FormulaForce")))
        else:
            text(self.body, "body of FormulaForce")
        one_of(self.axes, "axes of FormulaForce", AXES)
        if not isinstance(self.point, str):
            object.__setattr__(self, "point", point(self.point, "point of FormulaForce"))
        object.__setattr__(self, "formulas", self._formulas())

    def _formulas(self) -> tuple[Any, ...]:
        given = self.formulas
        if isinstance(given, (Expression, int, float)):
            given = (given,)
        if not isinstance(given, (list, tuple, np.ndarray)):
            raise InputError(f"formulas of FormulaForce must be a list of expressions, got {given!r:.80}.")
        found = tuple(formula(x, "formulas of FormulaForce") for x in given)
        count = 6 if self.coordinate is None else len(self.coordinate)
        if len(found) != count:
            raise InputError(f"FormulaForce needs {count} formulas here, got {len(found)}.")
        return found

    def bodies(self) -> tuple[str, ...]:
        return () if self.body is None else (self.body,)

    def coordinates(self) -> tuple[str, ...]:
        return () if self.coordinate is None else tuple(self.coordinate)

    def reads(self) -> tuple[str, ...]:
        found = (x.of for one in self.formulas for x in signals_in(one))
        return tuple(dict.fromkeys(of for of in found if isinstance(of, str)))

    def data(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("formulas", "coordinate", "body", "point", "axes")}

    def lower(self, where: str, tree: Tree, table: ForceTable) -> None:
        program = Program(lambda signal: self._entry(signal, tree, where), where)
        formulas = list(self.formulas)
        if self.body is None:
            results = [tree.coordinate(name, where) for name in self.coordinates()]
            formulas = [_of_rate(x, tree, k) for x, k in zip(formulas, results, strict=True)]
            place: dict[str, Any] = {"node": -1, "R": np.eye(3), "p": np.zeros(3), "world": 0}
        else:
            at, results = tree.places[tree.body_index(self.body, where)], list(range(6))
            p = at.X_NB.apply(self.point)
            world = int(self.axes == "world")
            place = {"node": at.node, "R": at.X_NB.rotation, "p": p, "world": world}
        table.formulas.add(program, list(zip(results, formulas, strict=True)), **place)

    def _entry(self, signal: Signal, tree: Tree, where: str) -> tuple[str, int]:
        if signal.kind in ON_BODIES:
            name, count = ON_BODIES[signal.kind]
            if self.body is None or not isinstance(signal.of, int) or not 0 <= signal.of < count:
                raise InputError(f"{where}: {signal!r} belongs to a force on a body.")
            return name, signal.of
        k = tree.coordinate(signal.of, where)
        if tree.first_order[k]:
            if signal.kind == "speed":
                raise InputError(f"{where}: {signal.of!r} is a state; formulas know its value, not its rate.")
            return "SPEED", k
        if signal.kind == "speed":
            return "SPEED", k
        return "POSITION", tree.scalar(signal.of, where)[0]

    def at(self, mech: Any, q: Array, v: Array) -> Array:
        """What the formulas give at one state (nq,), (nv,) of a mechanism."""
        tree = mech.model.structure.tree
        values: dict[Any, float] = {}
        for signal in {(x.kind, x.of): x for one in self.formulas for x in signals_in(one)}.values():
            values[(signal.kind, signal.of)] = self._number(signal, mech, tree, (q, v))
        found = [x.evaluate(values) if isinstance(x, Expression) else x for x in self.formulas]
        return np.array(found, dtype=float)

    def _number(self, signal: Signal, mech: Any, tree: Tree, state: tuple[Array, Array]) -> float:
        name, k = self._entry(signal, tree, "a measure")
        q, v = state
        if name in ("POSITION", "SPEED"):
            return float((q if name == "POSITION" else v)[k])
        pose = mech.pose(q, self.body)
        R = pose.rotation
        if name == "PLACE":
            return float(pose.apply(self.point)[k])
        if name == "ATTITUDE":
            return float(R.ravel()[k])
        axes = R if self.axes == "body" else np.eye(3)
        twist = mech.velocity(q, v, self.body, self.point)
        return float(np.concatenate([axes.T @ twist[:3], axes.T @ twist[3:]])[k])

    def work(self) -> str:
        return "forces by formulas do work"

    def tension(self, states: Any) -> Array:
        """Its force on one coordinate (B,), several (B, k) [N m, N], or its wrench (B, 6) [N, N m]."""
        return np.asarray(states.formula_of(self))


def _of_rate(x: Any, tree: Tree, k: int) -> Any:
    """The force on coordinate k; of a state of first order its rate times its inertia."""
    if not tree.first_order[k]:
        return x
    inertia = tree.each("armature")[k]
    return x * inertia if isinstance(x, Expression) else float(x) * inertia


def formula(x: Any, what: str) -> Any:
    """An expression, a number, or either as a file has it: [symbol, arguments ...], {"value": name}."""
    if isinstance(x, Expression):
        return x
    if isinstance(x, Mapping) and len(x) == 1:
        ((kind, of),) = x.items()
        known = str if kind in ("value", "speed") else int if kind in ON_BODIES else None
        if isinstance(kind, str) and known is not None and isinstance(of, known):
            return Signal(kind, of)
    if isinstance(x, (list, tuple)) and len(x) in (2, 3) and isinstance(x[0], str) and x[0] in FUNCTIONS:
        return Expression(x[0], FUNCTIONS[x[0]], *(formula(one, what) for one in x[1:]))
    return number(x, what)


def written(x: Any) -> Any:
    """A formula as files have it; see `formula`."""
    if isinstance(x, Signal):
        return {x.kind: x.of}
    return [x.symbol, *map(written, x.arguments)] if isinstance(x, Expression) else x


class _Recorded:
    """A function that is to be called once, with signals."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        functools.update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)


def recorded(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function to be taken as formulas: it is called once, where it is declared, and never again.

    For `BodyForce`, `UserForce` on coordinates, and rates of `spec.state`. It must be arithmetic (see
    `FormulaForce`) without branches (np.maximum, np.sign and np.heaviside instead) and without time.

    Example:

        >>> import sarrus as sr
        >>> drag = sr.recorded(lambda t, pose, twist: [-0.4 * twist[0] * abs(twist[0]), 0, 0, 0, 0, 0])
        >>> spec = sr.MechanismSpec().body("car", joint=sr.Prismatic("x"), mass=900.0)
        >>> mech = spec.force("air", sr.BodyForce("car", drag)).compile()
        >>> mech.bias([0.0], [30.0]).tolist()
        [360.0]
    """
    if not callable(function):
        raise InputError(f"recorded takes a function, got {function!r:.80}.")
    return _Recorded(function)


class _NoTime:
    """Time, which formulas do not know."""

    def _refused(self, *_: Any) -> Any:
        raise InputError(
            'formulas know no time. Declare a clock, clock = spec.state("clock", 1.0), and use it; or give'
            " the function without sr.recorded."
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refused
    __pow__ = __neg__ = __abs__ = __float__ = __lt__ = __gt__ = __le__ = __ge__ = __array_ufunc__ = _refused
    __array__ = _refused


def no_time() -> Any:
    """What stands for time where functions are recorded."""
    return _NoTime()


def signals(kind: str, of: Sequence[Any]) -> Array:
    """Signals as an array of objects."""
    out = np.empty(len(of), dtype=object)
    for i, one in enumerate(of):
        out[i] = Signal(kind, one)
    return out


def called(function: Any, arguments: Sequence[Any], what: str) -> Any:
    """What a recorded function returns for signals."""
    try:
        return function(*arguments)
    except InputError:
        raise
    except (TypeError, AttributeError, ValueError, LookupError) as error:
        raise InputError(
            f"{what}: its function is no arithmetic that can be recorded ({error}). See sr.FormulaForce for"
            " what formulas know, or give the function without sr.recorded."
        ) from None


def as_formulas(force: Force, where: str) -> Force:
    """A force of a recorded function as a FormulaForce; any other force as it is."""
    function = getattr(force, "function", None)
    if not isinstance(function, _Recorded):
        return force
    if force.of_body:
        pose = known_pose(signals("place", range(3)), signals("attitude", range(9)).reshape(3, 3))
        found = called(function, (no_time(), pose, signals("twist", range(6))), where)
        on_body: Any = force
        place = {name: getattr(on_body, name) for name in ("body", "point", "axes")}
        return FormulaForce(_listed(found, where), **place)
    if on := force.coordinates():
        found = called(function, (no_time(), signals("value", on), signals("speed", on)), where)
        return FormulaForce(_listed(found, where), coordinate=on)
    raise InputError(
        f"{where}: recorded functions are for BodyForce and UserForce on coordinates, not between two points."
    )


def _listed(found: Any, where: str) -> list[Any]:
    """What a function returned, as a list."""
    if isinstance(found, (Expression, int, float)):
        return [found]
    if isinstance(found, (list, tuple, np.ndarray)):
        return list(np.ravel(np.array(found, dtype=object)))
    raise InputError(f"{where}: its function must return numbers, got {found!r:.80}.")


def is_recorded(function: object) -> bool:
    """Whether a function is to be taken as formulas."""
    return isinstance(function, _Recorded)
