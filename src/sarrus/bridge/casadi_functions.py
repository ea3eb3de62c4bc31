"""Functions of a mechanism for CasADi: callbacks with Jacobians, for its expressions and numbers."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from sarrus.bridge.bridge import Bridge, require
from sarrus.bridge.operations import Operation
from sarrus.errors import InputError
from sarrus.mechanism.mechanism import Mechanism


class CasadiBridge(Bridge):
    """Functions for CasADi's MX and DM, made by `sr.bridge.casadi`; see `Bridge`.

    Vectors are columns. A matrix of inputs (n, nu) goes into `rollout`, matrices (n + 1, nq) and (n + 1, nv)
    come out. There are no batch axes; `casadi.Function.map` evaluates functions that call them for many
    arguments. Second derivatives are not known: solvers take `hessian_approximation="limited-memory"`.
    """

    library = "casadi"

    def __init__(self, mech: Mechanism, contacts: str = "steps") -> None:
        super().__init__(mech, contacts)
        try:
            self._class = _callback_class()
        except ImportError:
            raise require("casadi", "CasADi") from None
        self._callbacks: dict[int, Any] = {}

    def function(self, name: str, **options: Any) -> Any:
        """One of the functions as a `casadi.Callback`: "step", "acceleration", "inverse_dynamics", "project".

        Args:
            name: Which one.
            options: dt, t, method, substeps of "step"; t of the others.
        """
        if name == "step":
            known = {"dt": 1e-3, "t": 0.0, "method": "rk4", "substeps": 1, **options}
            return self._callback(self._kept("step", self._stepping(**known)))
        if name not in ("acceleration", "inverse_dynamics", "project"):
            raise InputError(
                "function: there are 'step', 'acceleration', 'inverse_dynamics' and 'project', got"
                f" {name!r}; rollout and assemble are called directly."
            )
        return self._callback(self._kept(name, float(options.get("t", 0.0))))

    def rollout(self, q0: Any, v0: Any, u: Any, **options: Any) -> tuple[Any, Any]:
        """States q (n + 1, nq), v (n + 1, nv) along n steps under inputs u (n, nu): a chain of callbacks.

        Options are dt, t, method and substeps, those of `step`.
        """
        import casadi

        if u.shape[1] != self.mech.nu:
            raise InputError(f"rollout: u must have shape (n, {self.mech.nu}), got {u.shape}.")
        dt, t = options.pop("dt", 1e-3), options.pop("t", 0.0)
        states = [self.project(q0, v0, t)]
        for k in range(u.shape[0]):
            states.append(self.step(*states[-1], u[k, :].T, dt, t + k * dt, **options))
        q, v = (casadi.vertcat(*(x[i].T for x in states)) for i in range(2))
        return q, v

    def _call(self, operation: Operation, given: tuple[Any, ...]) -> tuple[Any, ...]:
        found = self._callback(operation)(*given)
        return found if isinstance(found, tuple) else (found,)

    def _callback(self, operation: Operation) -> Any:
        """The callback of an operation, which must live as long as expressions of it."""
        known = self._callbacks.get(id(operation))
        if known is None:
            known = self._callbacks[id(operation)] = self._class(operation)
        return known

    def _zeros(self, like: Any, n: int) -> Any:
        return np.zeros(n)

    def _stacked(self, values: list[Any]) -> Any:
        import casadi

        return casadi.vertcat(*values)


@cache
def _callback_class() -> Any:
    import casadi

    class Call(casadi.Callback):
        """Values of an operation, of columns."""

        def __init__(self, operation: Operation) -> None:
            super().__init__()
            self.operation = operation
            self.slopes: dict[str, Any] = {}
            self.construct(operation.name, {})

        def get_n_in(self) -> int:
            return len(self.operation.shapes)

        def get_n_out(self) -> int:
            return len(self.operation.outputs)

        def get_sparsity_in(self, i: int) -> Any:
            return casadi.Sparsity.dense(*self.operation.shapes[i])

        def get_sparsity_out(self, i: int) -> Any:
            return casadi.Sparsity.dense(*self.operation.outputs[i])

        def eval(self, given: Any) -> list[Any]:
            return list(self.operation(*(np.array(x).ravel() for x in given)))

        def has_jacobian(self) -> bool:
            return self.operation.source is not None and self.operation.source.jacobian is not None

        def get_jacobian(self, name: str, inames: Any, onames: Any, options: Any) -> Any:
            self.slopes[name] = _slopes_class()(self.operation, name, (inames, onames), options)
            return self.slopes[name]

    return Call


@cache
def _slopes_class() -> Any:
    import casadi

    class Slopes(casadi.Callback):
        """Blocks of the Jacobian, of arguments and nominal results."""

        def __init__(self, operation: Operation, name: str, names: Any, options: Any) -> None:
            super().__init__()
            self.operation, self.names = operation, names
            self.jacobian: Any = operation.source.jacobian if operation.source else None
            self.construct(name, options)

        def get_n_in(self) -> int:
            return len(self.operation.shapes) + len(self.operation.outputs)

        def get_n_out(self) -> int:
            return len(self.operation.shapes) * len(self.operation.outputs)

        def get_name_in(self, i: int) -> str:
            return str(self.names[0][i])

        def get_name_out(self, i: int) -> str:
            return str(self.names[1][i])

        def get_sparsity_in(self, i: int) -> Any:
            return casadi.Sparsity.dense(*(self.operation.shapes + self.operation.outputs)[i])

        def get_sparsity_out(self, i: int) -> Any:
            row, column = divmod(i, len(self.operation.shapes))
            return casadi.Sparsity.dense(self.operation.outputs[row][0], self.operation.shapes[column][0])

        def eval(self, given: Any) -> list[Any]:
            n = len(self.operation.shapes)
            state = tuple(np.array(x).reshape(1, -1) for x in given[:n])
            return [block[0] for row in self.jacobian(state) for block in row]

    return Slopes
