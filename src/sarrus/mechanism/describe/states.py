"""States of first order beside a mechanism, and signals for formulas."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Self

from ...arrays import number, positive, text
from ...errors import InputError
from ...models.base.expressions import Expression, Signal
from ...models.kinds.formula_force import FormulaForce, called, is_recorded, no_time
from ...models.kinds.state_rate import SignalView, StateRate
from ...models.tree.bodies import GROUND, Body
from ...models.tree.joints import Revolute
from .declarations import Declarations
from .recipe import declares


class StateDeclarations(Declarations):
    """States of one's own."""

    def state(
        self,
        name: str,
        rate: float | Expression | Callable[[float, Any], Any],
        start: float = 0.0,
        *,
        size: float | None = None,
    ) -> Any:
        """Declare a state of first order beside the mechanism: a pressure, a current, the memory of a filter.

        Its value is the entry of v that bears its name, in runs, linear models, equilibria and rollouts; the
        entry of q is its integral. It moves nothing by itself: forces read it.

        Args:
            name: Unique among bodies, joints and states.
            rate: Its time derivative: a number, an expression (see `FormulaForce`), `sr.recorded(f)` or a
                Python function f(t, at), with `at["name"]` the value of a coordinate or state and
                `at.speed("name")` the rate of a coordinate.
            start: Where runs begin, in `mech.default.v`.
            size: What is usual of it, as a unit for tolerances; default: of the start, or 1.

        Returns:
            The state, for expressions in forces and other rates.

        Example:

            >>> import sarrus as sr
            >>> spec = sr.MechanismSpec(name="filter")
            >>> low = spec.state("low", lambda t, at: (1.0 - at["low"]) / 0.1)
            >>> run = sr.simulate(spec.compile(), (0, 0.1))
            >>> round(float(run.v[-1, 0]), 6)
            0.632121
        """
        what = f"rate of state {text(name, 'the name of a state')!r}"
        if callable(rate) and is_recorded(rate):
            rate = called(rate, (no_time(), SignalView()), what)
        given: Any = start
        usual = given.value if isinstance(given, Expression) else number(start, f"start of state {name!r}")
        size = abs(usual) or 1.0 if size is None else positive(size, f"size of state {name!r}")
        self._state(name, rate, start, size)
        return Signal("value", name)

    @declares
    def _state(self, name: str, rate: Any, start: Any, size: float) -> Self:
        what = f"state {name!r}"
        start = number(start, f"start of {what}")
        if name == GROUND:
            raise InputError(f"{GROUND!r} is the name of the fixed world and cannot be given to a state.")
        if name in self._forces:
            raise InputError(f"a force called {name!r} exists already; its state needs another name.")
        inertia = 2.0 ** -round(2.0 * math.log2(size))  # so that M is well scaled and rates are exact
        force: Any = StateRate(name, rate) if callable(rate) else FormulaForce([rate], coordinate=name)
        self.add(Body(name, GROUND, Revolute("z"), armature=(inertia,), state_size=size, start=start))
        self._forces[name] = force
        return self

    def coordinate(self, name: str) -> Any:
        """The value of a coordinate [rad, m], or of a state, for expressions in forces and rates.

        Args:
            name: Of an angle or displacement; it may be declared later.
        """
        return Signal("value", text(name, "the name of a coordinate"))

    def speed(self, name: str) -> Any:
        """The rate of a coordinate [rad/s, m/s], for expressions in forces and rates.

        Args:
            name: Of a coordinate; it may be declared later.
        """
        return Signal("speed", text(name, "the name of a coordinate"))
