"""Every kind of constraint, closing joint, force and tree joint, found by registration, through everything.

A kind that is forgotten somewhere fails here under its name: without an example, with wrong derivatives, with
rows that the large mechanism ignores, without a wrench, in files, in pictures or in the documents.
"""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import sarrus as sr
from sarrus.constraints.closures import Closure
from sarrus.constraints.element import Element
from sarrus.constraints.rows import Constraint
from sarrus.models.kinds.forces import Force
from sarrus.models.tree.joint import Joint
from sarrus.viz.studios import check_kernel
from tests.studio_kernel import KERNEL, needs_kernel

from . import kind_examples as kinds
from .kind_cells import Built, built, close, each, sizes, slope
from .kind_examples import T

Array = npt.NDArray[np.float64]

SOURCE = Path(__file__).parents[2] / "src" / "sarrus"
IMPORTERS = ("formats/", "bridge/")  # they translate kinds of other libraries, and to theirs


def user_rows(b: Built) -> bool:
    """Whether rows come from Python, with derivatives by differences."""
    return bool(b.mech.model.customs)


# ---------------------------------------------------------------------- registration


@pytest.mark.parametrize(
    ("family", "examples"),
    [
        (Constraint, {"Closure": kinds.CLOSING} | kinds.CONSTRAINTS),
        (Force, kinds.FORCES | dict.fromkeys(kinds.OF_OWN_MACHINES)),
        (Joint, kinds.TREE),
        (Joint, kinds.CLOSING | dict.fromkeys(kinds.NO_LOOP)),
    ],
    ids=["constraints", "forces", "tree joints", "closing joints"],
)
def test_every_registered_kind_has_an_example(family: Any, examples: dict[str, Any]) -> None:
    own = {name for name, kind in family.kinds.items() if kind.__module__.startswith("sarrus.")}
    missing = [f"{name} has no example in tests/gates/kind_examples.py" for name in own - set(examples)]
    assert not missing, missing
    assert set(examples) <= set(family.kinds)


def test_every_kind_is_public() -> None:
    """Also those in modules that nothing imports; loops are declared by `MechanismSpec.close`."""
    for path in [*SOURCE.glob("constraints/*.py"), *SOURCE.glob("models/*.py")]:
        importlib.import_module(f"sarrus.{path.parent.name}.{path.stem}")
    kinds = {**Constraint.kinds, **Force.kinds, **Joint.kinds}
    own = {name: kind.__module__.removeprefix("sarrus") for name, kind in kinds.items() if name != "Closure"}
    missing = [
        f"sr.{name} does not exist: put it into __all__ of sarrus{module}, and the line"
        f" `from {module} import *` into src/sarrus/__init__.py"
        for name, module in own.items()
        if module.startswith(".") and name not in sr.__all__
    ]
    assert not missing, missing


@needs_kernel
def test_studios_know_every_kind() -> None:
    """kernel.wasm has the kinds of the compiled kernel; the message names what differs and the way out."""
    check_kernel(KERNEL.read_bytes())


def test_joints_that_close_no_loop_say_so() -> None:
    for name in kinds.NO_LOOP:
        with pytest.raises(sr.InputError, match=f"cannot be closed by {name}"):
            Closure("a", "b", kinds.JOINTS[name])


def test_no_other_module_branches_by_kind() -> None:
    """Questions to a kind are methods and properties of its class, never isinstance."""
    names = {*Constraint.kinds, *Force.kinds, *Joint.kinds}
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        where = path.relative_to(SOURCE).as_posix()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
                asked = {part.id for part in ast.walk(node.args[1]) if isinstance(part, ast.Name)} & names
                found += [f"{where}:{node.lineno} asks for {name}" for name in sorted(asked)]
    elsewhere = [line for line in found if not line.startswith(IMPORTERS)]
    assert not elsewhere, elsewhere


# ---------------------------------------------------------------------- rows


@each
@sizes
def test_rows_against_differences(key: str, size: str) -> None:
    """phi = 0, J v = b; J, b and gamma are derivatives of phi and of J v - b along the motion."""
    b = built(key, size)
    t, holonomic = b.mech.terms(b.q, b.v, T), b.mech.model.holonomic
    assert b.mech.nc == b.copies * max(b.example.rows, 1)
    close(t.phi, np.zeros(b.mech.nc), 1e-12)
    close(t.J @ b.v, t.b, 1e-10)
    rng = np.random.default_rng(3)
    directions = np.eye(b.mech.nv) if size == "small" else rng.normal(size=(2, b.mech.nv))

    def phi(s: float, dv: Array, at: float) -> Array:
        return b.mech.terms(b.mech.integrate(b.q, s * dv), b.v, at).phi[holonomic]

    for dv in directions:
        close((t.J @ dv)[holonomic], slope(lambda s, dv=dv: phi(s, dv, T)), 1e-8)
    close(-t.b[holonomic], slope(lambda s: phi(0.0, b.v, T + s)), 1e-8)

    def rate(s: float) -> Array:
        now = b.mech.terms(b.mech.integrate(b.q, s * b.v), b.v, T + s)
        return np.asarray(now.J @ b.v - now.b)

    close(t.gamma, -slope(rate), 1e-6 if user_rows(b) else 1e-8)


@each
@sizes
def test_forward_dynamics(key: str, size: str) -> None:
    """M a + h = tau + J.T lam, J a = gamma, every row counted; the same by NumPy from the terms."""
    b = built(key, size)
    tau = np.random.default_rng(5).normal(size=b.mech.nv)
    motion, t = b.mech.forward_dynamics(b.q, b.v, tau, t=T), b.mech.terms(b.q, b.v, T)
    close(t.M @ motion.a + t.h, tau + t.J.T @ motion.lam, 1e-10)
    close(t.J @ motion.a, t.gamma, 1e-9)
    assert motion.rank == np.linalg.matrix_rank(t.J) == b.mech.nc
    close(b.mech.acceleration(b.q, b.v, tau, T), motion.a, 1e-13)
    reference = b.mech.forward_dynamics(b.q, b.v, tau, t=T, formulation="svd")
    close(motion.a, reference.a, 1e-9)
    close(motion.lam, reference.lam, 1e-9)


@each
def test_copies_do_what_one_does(key: str) -> None:
    """Elimination by entries and long strides (large) against dense rows (small)."""
    one, many = built(key, "small"), built(key, "large")
    assert many.mech.nv > 32
    motion, motions = (b.mech.forward_dynamics(b.q, b.v, t=T) for b in (one, many))
    close(motions.a, np.tile(motion.a, many.copies), 1e-8)
    close(motions.lam, np.tile(motion.lam, many.copies), 1e-8)


@each
@sizes
def test_every_copy_acts(key: str, size: str) -> None:
    """Without the kind the cells accelerate differently, each of them."""
    b = built(key, size)
    a, a_plain = (mech.forward_dynamics(b.q, b.v, t=T).a for mech in (b.mech, b.plain))
    assert np.all(np.max(np.abs(a - a_plain).reshape(b.copies, -1), axis=1) > 1e-2) == b.example.acts


# ---------------------------------------------------------------------- derivatives, time


@each
def test_linear_models(key: str) -> None:
    """Analytic, by dual numbers and by differences: the same A and B; rows of users by differences only."""
    b = built(key, "small")
    model = sr.linearize(b.mech, b.q, b.v, t=T, method="finite_difference")
    for method in ("analytic", "dual"):
        if user_rows(b):
            with pytest.raises(sr.InputError, match="finite_difference"):
                sr.linearize(b.mech, b.q, b.v, t=T, method=method)
            continue
        exact = sr.linearize(b.mech, b.q, b.v, t=T, method=method, independent=model.independent)
        close(exact.A, model.A, 1e-6)
        close(exact.B, model.B, 1e-6)


@each
def test_derivatives_of_copies(key: str) -> None:
    """Analytic and dual derivatives of the large mechanism: those of the small one for each copy."""
    one, many = built(key, "small"), built(key, "large")
    if user_rows(one):
        return  # refused above
    exact, dual = (many.mech.derivatives(many.q, many.v, t=T, method=m) for m in ("analytic", "dual"))
    close(exact.a, dual.a, 1e-8)
    close(exact.lam, dual.lam, 1e-8)
    close(exact.a, np.kron(np.eye(many.copies), one.mech.derivatives(one.q, one.v, t=T).a), 1e-7)


@each
@sizes
def test_steps(key: str, size: str) -> None:
    """Implicit and explicit steps arrive at the same state, on the constraints."""
    b = built(key, size)
    span = (T, T + 2e-3)
    ends = [sr.simulate(b.mech, span, b.q, b.v, method=m, dt=1e-3) for m in ("radau", "rk4")]
    for run in ends:
        assert run.success and run.drift.max() < 1e-11 and run.velocity_drift.max() < 1e-9
    close(ends[0].q[-1], ends[1].q[-1], 1e-8)
    close(ends[0].v[-1], ends[1].v[-1], 1e-8)


@each
@sizes
def test_power(key: str, size: str) -> None:
    """d(energy)/dt is the power of drives, lam . b, and of forces that have no potential."""
    b = built(key, size)
    motion, t = b.mech.forward_dynamics(b.q, b.v, t=T), b.mech.terms(b.q, b.v, T)

    def energy(s: float) -> Array:
        q = b.mech.integrate(b.q, s * b.v + 0.5 * s * s * motion.a)
        return np.array(b.mech.energy(q, b.v + s * motion.a).total)

    power = motion.lam @ t.b
    if any(force.work() for _, force in b.mech.model.forces):
        power += b.v @ (b.plain.terms(b.q, b.v, T).h - t.h)
    near, far = ((energy(h) - energy(-h)) / (2 * h) for h in (1e-4, 2e-4))
    why = "energy and work differ: a force that is not conservative needs work(), another one its energy"
    close((4 * near - far) / 3, power, 1e-7, why)


@each
@sizes
def test_impact_and_assembly(key: str, size: str) -> None:
    """Constraints that close at once remove what they do not allow; a displaced pose is closed again."""
    b, rng = built(key, size), np.random.default_rng(9)
    t, wish = b.mech.terms(b.q, b.v, T), rng.normal(size=b.mech.nv)
    hit = b.mech.impact(b.q, wish, T)
    close(t.J @ hit.v, t.b, 1e-9)
    close(t.M @ (hit.v - wish), t.J.T @ hit.lam, 1e-9)
    assert hit.rank == b.mech.nc
    found = b.mech.assemble(b.mech.integrate(b.q, 0.05 * rng.normal(size=b.mech.nv)), t=T)
    assert found.success and found.residual < 1e-10
    close(b.mech.terms(found.q, b.v, T).phi, np.zeros(b.mech.nc), 1e-10)


# ---------------------------------------------------------------------- wrenches


@each
@sizes
def test_what_joints_transmit(key: str, size: str) -> None:
    """Balance of every subtree: along each coordinate its joint transmits what acts along that coordinate.

    A kind that holds on to bodies is a load on them; one that is missing among the loads shows up here.
    """
    b = built(key, size)
    tau = np.random.default_rng(11).normal(size=b.mech.nv)
    motion, t = b.mech.forward_dynamics(b.q, b.v, tau, t=T), b.mech.terms(b.q, b.v, T)
    through = tau - b.mech.model.armature * motion.a
    for group, (_, given) in zip(b.mech.model.groups, b.mech.model.constraints, strict=True):
        if not given.bodies() and not given.loads_bodies:
            through = through + t.J[group.rows].T @ motion.lam[group.rows]
        for k in map(b.mech.names.index, given.coordinates() if given.bodies() else ()):  # beside the bodies
            through[k] += t.J[group.rows, k] @ motion.lam[group.rows]
    if any(not force.bodies() for _, force in b.mech.model.forces):
        through = through + b.plain.terms(b.q, b.v, T).h - t.h
    for force in (
        force for _, force in b.mech.model.forces if force.deflects
    ):  # what the body itself resists
        bent = [k for node in force.nodes for k in range(*b.mech.index(node).v.indices(b.mech.nv))]
        plain = b.plain.terms(b.q, b.v, T)
        through[bent] += (plain.M @ motion.a + plain.h - t.M @ motion.a - t.h)[bent]
    for body in b.mech.model.bodies[1 : len(b.mech.model.bodies) // b.copies + 1]:
        own = b.mech.model.v_slices[b.mech.model.body_index(body.name)]
        J = b.mech.jacobian(b.q, body.name)[:, own]
        close(J.T @ motion.reaction(body.name, "world"), through[own], 1e-8)


@each
def test_reaction_or_a_named_refusal(key: str) -> None:
    """The wrench on the second body, at its end of the constraint, does the work of the multipliers."""
    b = built(key, "small")
    (name, given), *_ = b.mech.model.constraints
    motion, t = b.mech.forward_dynamics(b.q, b.v, t=T), b.mech.terms(b.q, b.v, T)
    if not isinstance(given, Element):
        with pytest.raises(sr.UnknownNameError, match=type(given).__name__):
            motion.reaction(name)
        return
    wrench = motion.reaction(name, "world")
    A, B = given.ends()
    at = b.mech.pose(b.q, B.body).apply(B.at.xyz)
    p_a = b.mech.pose(b.q, A.body).inverse().apply(at)
    relative = b.mech.jacobian(b.q, B.body, B.at.xyz) - b.mech.jacobian(b.q, A.body, p_a)
    beside = [b.mech.names.index(name) for name in given.coordinates()]
    close(np.delete(relative.T @ wrench, beside), np.delete(t.J.T @ motion.lam, beside), 1e-9)


@each
def test_point_contacts_pull_along_fixed_axes(key: str) -> None:
    """What calls itself a point contact exerts forces at B along axes of a that no pose changes."""
    b = built(key, "small")
    (_, given), *_ = b.mech.model.constraints
    if not given.is_point_contact:
        return
    moved = b.mech.integrate(b.q, 0.1 * np.random.default_rng(15).normal(size=b.mech.nv))
    axes = []
    for q in (b.q, moved):
        W = b.mech.evaluator.kernel.row_wrenches(q[None])[0][0]
        axes.append(W[:, :3] @ b.mech.pose(q, given.ends()[0].body).rotation)
        close(W[:, 3:], np.zeros((b.mech.nc, 3)), 1e-12)
    close(axes[0], axes[1], 1e-12)


@pytest.mark.parametrize("name", kinds.CONSTRAINTS)
def test_undefined_poses_are_refused_by_name(name: str) -> None:
    """A kind that has such poses says in words which ones; the message names the row."""
    kind, example = Constraint.kinds[name], kinds.CONSTRAINTS[name]
    assert (example.undefined is not None) == bool(kind.undefined), (
        f"{name}: `undefined` of its class says in words at which poses its rows are not defined,"
        f" `undefined=` of its example in {kinds.EXAMPLES_FILE} makes such a pose; have both or none"
    )
    if example.undefined is None:
        return
    mech, q = example.undefined()
    for ask in (mech.terms, mech.forward_dynamics, mech.derivatives):
        with pytest.raises(sr.InputError, match=rf"row\..*not defined.*\({kind.undefined}\)"):
            ask(q, np.zeros(mech.nv))
