"""What of a control law can run without Python: its numbers, or a refusal that names what cannot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..exported.written_law import KERNEL_SOLVERS, WrittenLaw, refuse
from ..outputs.output import GIVEN, POSE, TURN
from ..outputs.references import WrittenReference, written_reference
from .compiled_step import CompiledStep

HOLD = "Leave `active` away or give names; the program says with NAME_hold() what holds."


def written_law(law: Any, targets: Sequence[Any], **more: Any) -> WrittenLaw:
    """The law as numbers, with its targets at t = 0; more: what only some laws have, of `WrittenLaw`."""
    step: CompiledStep = law._compiled
    system, rows = law.system, law._active.fixed
    null_force = more.get("null_force")
    setup = step.kernel.tables()
    return WrittenLaw(
        name=system.name,
        model=system.model,
        sparse=system.evaluator.kernel.sparse,
        setup=setup,
        nu=system.nu,
        used=law._used,
        outputs=[task.output_names(i) for task, i in step.outputs],
        targets=np.asarray(step.kernel.targets(targets, null_force)),
        references=[_followed(task, i, setup["output"][k]) for k, (task, i) in enumerate(step.outputs)],
        constraints=system.evaluator.constraint_rows,
        rows=rows,
        usual_rank=law._rank_of_default() if rows is None else 0,
        footing=law._footing,
        transition=law._transition.duration,
        friction=None if law._friction is None else law._friction.friction,
        start=(system.default.q, system.default.v),
        **more,
    )


def refuse_functions(law: Any) -> None:
    """Refuse a law that asks Python for something."""
    _refuse_system(law.system)
    step: CompiledStep = law._compiled
    if callable(law.active):
        refuse("active", "is a function of Python", HOLD)
    if getattr(law, "releasing", None) is not None:
        refuse("releasing", "is a function of Python", "Leave it away.")
    if law._limits is not None and law._limits.has_functions:
        refuse("a limit", "is a function of Python", "Give LinearLimits arrays.")
    if law._solver not in KERNEL_SOLVERS:
        refuse(f"solver={law._solver!r}", "is a package of Python", 'Take solver="auto".')
    for (task, i), output in zip(step.outputs, step.kernel.tables()["output"], strict=True):
        if output["kind"] == GIVEN:
            names = ", ".join(task.output_names(i))
            way = "Take Coordinates, Position, Orientation or BodyPose."
            refuse(f"output {names}", "is evaluated in Python", way)


def _refuse_system(system: Any) -> None:
    """Refuse mechanisms with functions."""
    if getattr(system, "supplies_inertia", False):
        refuse(f"system {system.name!r}", "consists of functions of Python", "Give a Mechanism.")
    model = system.model
    driven = [name for name, one in model.constraints if callable(getattr(one, "function", None))]
    functions = [*model.functions, *driven]
    if functions:
        listed = ", ".join(map(repr, functions))
        way = "Describe it with elements of the library, or control a mechanism without it."
        refuse(f"{listed} of {system.name!r}", "calls functions of Python", way)


def _followed(task: Any, i: int, output: Any) -> Sequence[WrittenReference]:
    """The reference of an output as the kernel follows it."""
    reference = task.output_reference(i)
    size = {POSE: 6, TURN: 3}.get(output["kind"], output["size"])
    found = [] if reference is None else written_reference(reference, size)
    if found is None:
        names = ", ".join(task.output_names(i))
        way = (
            "Give a set-point, MinimumJerk, Sinusoid or Spline; or a set-point that the program changes with"
            " NAME_target()."
        )
        refuse(f"the reference of {names}", "is a function of Python", way)
    assert found is not None
    return found
