"""Functions of a mechanism for JAX: forward and reverse mode, jit and vmap, by callbacks on the CPU.

A function has a rule for its tangent (jax.custom_jvp), which is a primitive of its own: linear in the
tangents, with the compiled reverse sweep as its transpose. So JAX makes both modes of one rule.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from sarrus.bridge.bridge import Bridge, require
from sarrus.bridge.operations import Operation
from sarrus.errors import InputError
from sarrus.mechanism.mechanism import Mechanism


class JaxBridge(Bridge):
    """Functions for JAX arrays, made by `sr.bridge.jax`; see `Bridge`.

    They work under grad, jvp, vjp, jacfwd, jacrev, jit and vmap. They compute in float64; results have the
    precision of the arguments, so that `jax.config.update("jax_enable_x64", True)` is needed for more than
    seven digits.
    """

    library = "jax"

    def __init__(self, mech: Mechanism, contacts: str = "steps") -> None:
        super().__init__(mech, contacts)
        try:
            self._tools = _tools()
        except ImportError:
            raise require("jax", "JAX") from None

    def _call(self, operation: Operation, given: tuple[Any, ...]) -> tuple[Any, ...]:
        import jax
        import jax.numpy as jnp

        if jax.default_backend() != "cpu":
            raise InputError(
                "sr.bridge.jax works on the CPU, and the default device of JAX is another one. Put its calls"
                ' under jax.default_device(jax.devices("cpu")[0]); on a CUDA device there are steps without'
                ' gradients: mech.step(q, v, u) of CUDA arrays and sr.rollout(..., device="cuda").'
            )
        arrays = [jnp.asarray(x) for x in given]
        kind = jnp.result_type(float, *arrays) if arrays else float
        batch = operation.batch(tuple(x.shape for x in arrays))
        spread = [
            jnp.broadcast_to(x.astype(kind), (*batch, *shape))
            for x, shape in zip(arrays, operation.shapes, strict=True)
        ]
        return tuple(self._tools.call(operation, *spread))

    def _zeros(self, like: Any, n: int) -> Any:
        import jax.numpy as jnp

        return jnp.zeros(n, dtype=jnp.result_type(float, like))

    def _stacked(self, values: list[Any]) -> Any:
        import jax.numpy as jnp

        return jnp.stack(jnp.broadcast_arrays(*values), axis=-1)


class _Tools(NamedTuple):
    """What is made of JAX once: call(operation, *arrays) -> arrays."""

    call: Any


@cache
def _tools() -> _Tools:
    import jax

    linear = _linear_primitive()

    @partial(jax.custom_jvp, nondiff_argnums=(0,))
    def call(operation: Operation, *arrays: Any) -> Any:
        return _host(operation, arrays)

    @call.defjvp
    def rule(operation: Operation, arrays: Any, changes: Any) -> Any:
        return call(operation, *arrays), tuple(
            linear.bind(*arrays, *changes, operation=operation, back=False)
        )

    return _Tools(call)


def _host(operation: Operation, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    """Results of an operation as a callback from compiled code."""
    import jax

    kind = arrays[0].dtype
    batch = operation.batch(tuple(x.shape for x in arrays))
    shapes = [jax.ShapeDtypeStruct((*batch, *shape), kind) for shape in operation.outputs]

    def called(*given: Any) -> list[Any]:
        return [x.astype(kind) for x in operation(*(np.asarray(x) for x in given))]

    return tuple(jax.pure_callback(called, shapes, *arrays, vmap_method="broadcast_all"))


def _linear_primitive() -> Any:
    """Primitive of (arguments, changes) -> changes of results, or, back, (.., gradients) -> gradients.

    It is linear in what comes after the arguments; one way is the transpose of the other.
    """
    from jax.extend.core import Primitive
    from jax.interpreters import ad, batching, mlir

    linear = Primitive("sarrus_linear")
    linear.multiple_results = True

    def made(operation: Operation, back: bool) -> Operation:
        return operation.pullback if back else operation.pushforward

    def impl(*arrays: Any, operation: Operation, back: bool) -> Any:
        return list(_host(made(operation, back), arrays))

    def abstract(*arrays: Any, operation: Operation, back: bool) -> Any:
        from jax.core import ShapedArray

        one = made(operation, back)
        batch = one.batch(tuple(x.shape for x in arrays))
        return [ShapedArray((*batch, *shape), arrays[0].dtype) for shape in one.outputs]

    def transpose(gradients: Any, *arrays: Any, operation: Operation, back: bool) -> Any:
        n = len(operation.shapes)
        known = arrays[:n]
        filled = [
            _filled(g, known, shape, operation)
            for g, shape in zip(gradients, _ends(operation, back), strict=True)
        ]
        found = linear.bind(*known, *filled, operation=operation, back=not back)
        return [None] * n + [
            x if ad.is_undefined_primal(one) else None for x, one in zip(found, arrays[n:], strict=True)
        ]

    def batched(arrays: Any, axes: Any, operation: Operation, back: bool) -> Any:
        import jax.numpy as jnp

        size = next(x.shape[d] for x, d in zip(arrays, axes, strict=True) if d is not None)
        front = [
            jnp.broadcast_to(x, (size, *x.shape)) if d is None else jnp.moveaxis(x, d, 0)
            for x, d in zip(arrays, axes, strict=True)
        ]
        found = linear.bind(*front, operation=operation, back=back)
        return found, [0] * len(found)

    def second(arrays: Any, changes: Any, operation: Operation, back: bool) -> Any:
        n = len(operation.shapes)
        if any(type(dx) is not ad.Zero for dx in changes[:n]):
            raise made(operation, back).no_second()
        filled = [ad.instantiate_zeros(dx) for dx in changes[n:]]
        along = linear.bind(*arrays[:n], *filled, operation=operation, back=back)
        return linear.bind(*arrays, operation=operation, back=back), along

    linear.def_impl(impl)
    linear.def_abstract_eval(abstract)
    ad.primitive_transposes[linear] = transpose
    ad.primitive_jvps[linear] = second
    batching.primitive_batchers[linear] = batched
    mlir.register_lowering(linear, mlir.lower_fun(impl, multiple_results=True))
    return linear


def _ends(operation: Operation, back: bool) -> Any:
    """Shapes of the results of the primitive."""
    return operation.shapes if back else operation.outputs


def _filled(gradient: Any, known: Any, shape: tuple[int, ...], operation: Operation) -> Any:
    """A gradient as an array, where JAX leaves zeros out."""
    import jax.numpy as jnp
    from jax.interpreters import ad

    if type(gradient) is not ad.Zero:
        return gradient
    batch = operation.batch(tuple(x.shape for x in known))
    return jnp.zeros((*batch, *shape), dtype=known[0].dtype)
