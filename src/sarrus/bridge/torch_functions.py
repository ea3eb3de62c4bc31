"""Functions of a mechanism for PyTorch, differentiable both ways, under torch.func and vmap too."""

from __future__ import annotations

from functools import cache
from typing import Any

from sarrus.bridge.bridge import Bridge, require
from sarrus.bridge.operations import Operation
from sarrus.errors import InputError
from sarrus.mechanism.mechanism import Mechanism


class TorchBridge(Bridge):
    """Functions for tensors, made by `sr.bridge.torch`: on the CPU, in their precision; see `Bridge`.

    They are autograd functions: `backward`, forward mode, `torch.func` (grad, jvp, jacrev, vmap). They
    compute in float64 and take float64 tensors of the CPU without a copy. `torch.compile` breaks the graph at
    them.
    """

    library = "torch"

    def __init__(self, mech: Mechanism, contacts: str = "steps") -> None:
        super().__init__(mech, contacts)
        self._call_class()

    @staticmethod
    def _call_class() -> Any:
        try:
            return _autograd_call()
        except ImportError:
            raise require("torch", "PyTorch") from None

    def _call(self, operation: Operation, given: tuple[Any, ...]) -> tuple[Any, ...]:
        import torch

        tensors = [torch.as_tensor(x) for x in given]
        for x in tensors:
            if x.device.type != "cpu":
                raise InputError(
                    f"sr.bridge.torch works on the CPU, got tensors on {x.device}. Move them with .cpu();"
                    " on a CUDA device there are steps without gradients: mech.step(q, v, u) of CUDA tensors"
                    ' and sr.rollout(..., device="cuda").'
                )
        kind = torch.float32 if all(x.dtype == torch.float32 for x in tensors) else torch.float64
        exact = [x.to(torch.float64) for x in tensors]
        batch = operation.batch(tuple(tuple(x.shape) for x in exact))
        spread = [x.expand(*batch, *s) for x, s in zip(exact, operation.shapes, strict=True)]
        return tuple(x.to(kind) for x in self._call_class().apply(operation, *spread))

    def _zeros(self, like: Any, n: int) -> Any:
        import torch

        return torch.zeros(n, dtype=torch.as_tensor(like).dtype)

    def _stacked(self, values: list[Any]) -> Any:
        import torch

        return torch.stack(torch.broadcast_tensors(*(torch.as_tensor(x) for x in values)), dim=-1)


@cache
def _autograd_call() -> Any:
    """The autograd function of operations: apply(operation, *tensors) -> tensors."""
    import torch

    class Call(torch.autograd.Function):
        @staticmethod
        def forward(operation: Operation, *tensors: Any) -> Any:
            found = operation(*(x.detach().numpy() for x in tensors))
            return tuple(torch.from_numpy(x) for x in found)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.operation, *tensors = inputs
            ctx.save_for_backward(*tensors)
            ctx.save_for_forward(*tensors)

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            return None, *Call.apply(ctx.operation.pullback, *ctx.saved_tensors, *gradients)

        @staticmethod
        def jvp(ctx: Any, _: Any, *changes: Any) -> Any:
            given = ctx.saved_tensors
            filled = [torch.zeros_like(x) if dx is None else dx for x, dx in zip(given, changes, strict=True)]
            return Call.apply(ctx.operation.pushforward, *given, *filled)

        @staticmethod
        def vmap(info: Any, in_dims: Any, operation: Operation, *tensors: Any) -> Any:
            size = info.batch_size
            front = [
                x.expand(size, *x.shape) if d is None else x.movedim(d, 0)
                for x, d in zip(tensors, in_dims[1:], strict=True)
            ]
            found = Call.apply(operation, *front)
            return found, (0,) * len(found)

    return Call
