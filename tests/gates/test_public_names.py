"""What users type: names, parameters and their order stay as promised. Add, don't rename."""

from __future__ import annotations

import dataclasses
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import sarrus as sr

TOP_LEVEL = """
    Pose MechanismSpec Mechanism Revolute Prismatic Helical Cylindrical Universal Spherical Planar Free Fixed
    Coupling Distance PointOnLine PointOnPlane Drive Rolling CustomConstraint
    PointSpring JointSpring JointDamper ConstantWrench
    load from_pinocchio save library decompose simulate CustomSystem
    linearize LinearModel linearize_trajectory equilibrium Equilibrium
    SarrusError SingularConstraintError
""".split()

LIBRARY = """
    pendulum double_pendulum slider_crank four_bar parallelogram five_bar n_four_bar andrews bricard bennett
    sarrus scott_russell flyball_governor jansen_leg stewart delta three_rrr three_r_on_slider loader
    cable_robot pantograph_leg dual_planar_arms dual_arm dual_arm_box quadruped rolling_disk
""".split()

# positional order as users write it; more parameters may follow
SIGNATURES = {
    "Pose": "xyz rpy quat matrix",
    "MechanismSpec": "gravity",
    "MechanismSpec.body": "name parent joint at mass com inertia armature damping friction limits",
    "MechanismSpec.close": "name a b joint at_a at_b",
    "MechanismSpec.constrain": "name constraint",
    "MechanismSpec.force": "name force",
    "Helical": "axis pitch",
    "Universal": "axis_a axis_b",
    "Coupling": "terms offset",
    "Distance": "a p_a b p_b length",
    "PointOnLine": "a p_a b p_b direction",
    "PointOnPlane": "a p_a b p_b normal",
    "Drive": "coordinate function rate acceleration",
    "Rolling": "body radius axis normal",
    "CustomConstraint": "phi n J gamma b scale",
    "PointSpring": "a p_a b p_b stiffness rest damping",
    "ConstantWrench": "body wrench point frame",
    "decompose": "J metric rank_tol",
    "Mechanism.mass_matrix": "q",
    "Mechanism.bias": "q v",
    "Mechanism.rnea": "q v a",
    "Mechanism.energy": "q v",
    "Mechanism.pose": "q body",
    "Mechanism.jacobian": "q body point frame",
    "Mechanism.terms": "q v t",
    "Mechanism.integrate": "q dv",
    "Mechanism.difference": "q0 q1",
    "Mechanism.mobility": "q t",
    "Mechanism.assemble": "q_guess fixed t",
    "Mechanism.sweep": "coordinate values q0",
    "Mechanism.forward_dynamics": "q v tau u t external formulation",
    "Mechanism.acceleration": "q v tau t",
    "Mechanism.inverse_dynamics": "q v a t actuated metric",
    "simulate": "system t_span q0 v0 control control_dt method dt rtol atol t_eval formulation correction"
    " energy events coordinates progress",
    "rollout": "mech q0 v0 u dt steps method policy parameters every device dtype threads client progress",
    "Mechanism.step": "q v u dt t tau method substeps",
    "Mechanism.step_derivatives": "q v u dt t tau method substeps",
    "CustomSystem": "nq nv M h phi J gamma",
    "linearize": "mech q v u t independent inputs outputs method",
    "equilibrium": "mech q_guess u",
    "linearize_trajectory": "trajectory independent inputs outputs method",
    "control.lqr": "model Q R",
}

DEFAULTS = {
    "Mechanism.jacobian": {"point": None, "frame": "world_aligned"},
    "Mechanism.forward_dynamics": {"t": 0.0, "formulation": "nullspace"},
    "decompose": {"metric": None, "rank_tol": 1e-9},
    "CustomConstraint": {"J": None, "gamma": None, "b": None, "scale": 1.0},
    "linearize": {"independent": None, "method": "analytic"},
    "simulate": {"method": "auto", "dt": None, "rtol": 1e-8, "atol": None, "correction": "project"},
}


def find(path: str) -> Any:
    here: Any = sr
    for part in path.split("."):
        here = getattr(here, part)
    return here


@pytest.mark.parametrize("name", TOP_LEVEL)
def test_top_level(name: str) -> None:
    assert hasattr(sr, name)
    assert name in sr.__all__


def test_all_names_exist_and_are_documented() -> None:
    for name in sr.__all__:
        thing = getattr(sr, name)
        assert inspect.ismodule(thing) or inspect.getdoc(thing), name


def test_every_exception_is_exported() -> None:
    import sarrus.errors
    import sarrus.formats.reading.messages

    for module in (sarrus.errors, sarrus.formats.reading.messages):
        for name, thing in vars(module).items():
            if (
                inspect.isclass(thing)
                and issubclass(thing, Exception)
                and thing.__module__.startswith("sarrus")
            ):
                assert getattr(sr, name) is thing and name in sr.__all__


@pytest.mark.parametrize(
    "package", [sr, sr.control, sr.library, sr.results, sr.viz], ids=lambda p: p.__name__
)
def test_completion_shows_what_users_call(package: Any) -> None:
    assert {name for name in dir(package) if not name.startswith("__")} == set(package.__all__)


def returned_names(owner: Any) -> set[str]:
    """Names of classes in the annotations of what the public methods and properties of a class return."""
    found: set[str] = set()
    for name, member in inspect.getmembers(owner):
        function = getattr(member, "fget", None) or getattr(member, "func", None) or member
        if not name.startswith("_") and inspect.isfunction(function):
            found |= words(inspect.signature(function).return_annotation)
    return found


def words(annotation: Any) -> set[str]:
    """Capitalized words of an annotation written as text."""
    return set(re.findall(r"\b[A-Z]\w+", annotation if isinstance(annotation, str) else ""))


def test_every_type_that_comes_back_is_exported() -> None:
    """From `sarrus.results`, or from the package whose name the user typed to get it."""
    known = {*sr.__all__, *sr.control.__all__, *sr.results.__all__, "Any", "Array", "Complex"}
    known |= {"None", "NDArray", "Path", "Self", "Constraint"}
    makers = [sr.Mechanism, sr.CustomSystem, sr.control.TaskHierarchy, sr.control.ObjectImpedance]
    makers += [sr.control.ProjectedInverseDynamics, sr.control.Grasp, sr.control.WrenchEstimator]
    makers += [getattr(sr.results, name) for name in sr.results.__all__]
    found = {name for maker in makers for name in returned_names(maker)}
    for name in sr.__all__:
        if inspect.isfunction(getattr(sr, name)):
            found |= words(inspect.signature(getattr(sr, name)).return_annotation)
    assert {"Motion", "Trajectory", "LinearModel", "Solution", "Sample"} <= found
    assert found <= known, f"not exported: {sorted(found - known)}"


def test_annotations_are_for_users_too() -> None:
    """`py.typed` lies in the package: type checkers read its annotations (PEP 561)."""
    assert (Path(sr.__file__).parent / "py.typed").exists()


@pytest.mark.parametrize("name", LIBRARY)
def test_library(name: str) -> None:
    assert inspect.getdoc(getattr(sr.library, name))


@pytest.mark.parametrize("path", SIGNATURES)
def test_parameters(path: str) -> None:
    parameters = [p for p in inspect.signature(find(path)).parameters.values() if p.name != "self"]
    wanted = SIGNATURES[path].split()
    assert [p.name for p in parameters][: len(wanted)] == wanted
    for p in parameters[len(wanted) :]:
        assert p.default is not inspect.Parameter.empty or p.kind is inspect.Parameter.VAR_KEYWORD
    given = {p.name: p.default for p in parameters}
    for name, value in DEFAULTS.get(path, {}).items():
        assert given[name] == value


@pytest.fixture(scope="module")
def mech() -> sr.Mechanism:
    return sr.library.five_bar()


def test_sizes_names_and_state(mech: sr.Mechanism) -> None:
    for name in ("nq", "nv", "nc", "nu", "names", "length", "default"):
        assert hasattr(mech, name)
    assert mech.neutral().shape == (mech.nq,)
    assert mech.default.q.shape == (mech.nq,)
    assert mech.default.v.shape == (mech.nv,)
    assert len(mech.names) == mech.nv


def test_results_have_their_fields(mech: sr.Mechanism) -> None:
    q, v = mech.default.q, mech.default.v
    motion = mech.forward_dynamics(q, v)
    results = {
        "M h phi J b gamma": mech.terms(q, v),
        "kinetic potential total": mech.energy(q, v),
        "dof rank redundant gruebler condition is_singular explain": mech.mobility(q),
        "q residual iterations success message gaps": mech.assemble(q),
        "a constraint_force lam lam_unique rank reaction": motion,
        "tau u lam constraint_force residual controllable": mech.inverse_dynamics(q, v, motion.a),
        "rank dof singular_values P N pinv tangent normal solve": sr.decompose(mech.terms(q, v).J),
    }
    for names, result in results.items():
        for name in names.split():
            assert hasattr(result, name), (type(result).__name__, name)
        assert dataclasses.is_dataclass(result)
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(result, names.split()[0], None)


def test_formulations(mech: sr.Mechanism) -> None:
    q, v = mech.assemble([1.9, 1.0, 2.0, 1.0]).q, mech.default.v
    for name in (
        "nullspace",
        "svd",
        "projection",
        "projection_symmetric",
        "projection_gamma",
        "lagrange",
        "partition",
    ):
        assert mech.forward_dynamics(q, v, formulation=name).a.shape == (mech.nv,)


def test_a_mechanism_cannot_be_changed(mech: sr.Mechanism) -> None:
    with pytest.raises(AttributeError):
        mech.colour = "red"
    heavier = mech.with_(mass={mech.body_names[1]: 9.0})
    assert heavier.mass_matrix(mech.default.q)[0, 0] != mech.mass_matrix(mech.default.q)[0, 0]
