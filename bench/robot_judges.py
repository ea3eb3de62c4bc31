"""Robot files in MuJoCo, Pinocchio and Drake: largest relative differences of M, h, J and accelerations."""

from __future__ import annotations

import logging
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import sarrus as sr
from sarrus.formats.writing.inertias import Inertia

from .twins.mujoco_terms import constrained_acceleration, row_space, terms

Array = npt.NDArray[np.float64]
STATES = 3
REACH = 0.05  # of random states around the default one [rad], or times L [m]
FELT = 1e-11  # inertia of a coordinate, relative to the largest: below it accelerations are rounding
OURS = ("loop_joint", "default_state", "sarrus_declarations")


class NotComparedError(Exception):
    """Another library does not read a file, or has no such joints."""


def states(mech: sr.Mechanism) -> list[tuple[Array, Array]]:
    """Random states on the constraints, near the default one."""
    rng, found = np.random.default_rng(0), []
    for _ in range(STATES):
        q = mech.integrate(mech.default.q, REACH * rng.standard_normal(mech.nv) * mech.units.unit)
        if mech.nc:
            q = mech.assemble(q).q
        wish = rng.standard_normal(mech.nv)
        v = mech.consistent_velocity(q, wish) if mech.nc else wish
        found.append((np.asarray(q), np.asarray(v)))
    return found


def felt(mech: sr.Mechanism, q: Array) -> npt.NDArray[np.bool_]:
    """Coordinates with inertia (nv,): the acceleration of others is what a speck of armature makes of it."""
    diagonal = np.diag(mech.mass_matrix(q))
    return np.asarray(diagonal > FELT * diagonal.max())


def frictionless(mech: sr.Mechanism) -> sr.Mechanism:
    """Without dry friction, which is smoothed here and exact elsewhere."""
    return mech.with_(friction={body.name: 0.0 for body in mech.model.bodies if any(body.friction)})


def in_mujoco(mech: sr.Mechanism, file: Path) -> float:
    """Differences from MuJoCo reading a file; u is what its servos do without a signal."""
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(file))
    bridge, worst = sr.bridge.mujoco(mech, model), 0.0
    same = len(bridge._map.others) == 0 and not bridge._map.tendons
    for q, v in states(mech):
        ctrl = np.zeros(model.nu)
        there = terms(bridge, q, v, ctrl)
        a = mech.forward_dynamics(q, v, u=bridge.to_u(ctrl, q, v)).a
        gap = float(np.abs(there.phi).max(initial=0.0)) / mech.length
        worst = max(worst, there.difference(a, felt(mech, q)), gap)
        if same:
            M = there.T.T @ there.M @ there.T
            worst = max(worst, relative(mech.mass_matrix(q), M))
            J = mech.terms(q, v).J
            if len(J):
                worst = max(worst, float(np.abs(row_space(J) - row_space(there.J @ there.T)).max()))
    return worst


def bare(mech: sr.Mechanism) -> sr.Mechanism:
    """Without forces and armature, which other readers of URDF and SDF do not see."""
    spec = sr.MechanismSpec.from_declared(mech.model.declared | {"forces": ()})
    return spec.compile().with_default(*mech.default)


def as_others_read(file: Path) -> sr.Mechanism:
    """The tree of a URDF without the elements that only our reader knows."""
    ET.register_namespace("drake", "http://drake.mit.edu")  # as files call it
    root = ET.parse(file).getroot()
    for element in [one for one in root if one.tag in OURS]:
        root.remove(element)
    plain = file.with_name(f"plain_{file.name}")
    plain.write_bytes(ET.tostring(root))
    try:
        return frictionless(bare(sr.load(plain)))
    except sr.FormatError as error:
        raise NotComparedError(f"without our own elements it is no mechanism: {error}") from error
    finally:
        plain.unlink()


def in_pinocchio(mech: sr.Mechanism, file: Path) -> float:
    """M and h of the tree in Pinocchio; loops are not part of its URDF."""
    import pinocchio as pin

    mech = as_others_read(file)
    try:
        model = pin.buildModelFromUrdf(str(file))
    except ValueError as error:
        raise NotComparedError(f"Pinocchio: {error}") from error
    model.gravity.linear = mech.model.gravity
    data, bridge, worst = model.createData(), sr.bridge.pinocchio(mech, model), 0.0
    for q, v in states(mech):
        T, (theirs, speed) = bridge.velocity_map(q), bridge.to_pinocchio(q, v)
        M = pin.crba(model, data, theirs)
        M = T.T @ (np.triu(M) + np.triu(M, 1).T) @ T
        h = T.T @ pin.nonLinearEffects(model, data, theirs, speed)
        worst = max(worst, terms_differ(mech, q, v, M, h))
    return worst


def terms_differ(mech: sr.Mechanism, q: Array, v: Array, M: Array, h: Array, rotors: bool = False) -> float:
    """Differences of M, without armature unless `rotors`, and of h without damping from another library's."""
    ours = mech.mass_matrix(q) - (0.0 if rotors else np.diag(mech.model.armature))
    losses = np.array([x for body in mech.model.bodies[1:] for x in body.damping])
    size = float(np.abs(M).max())  # h of a machine that turns in a plane can be rounding
    return max(relative(ours, M), relative(mech.bias(q, v) - losses * v, h, size))


def sensitivity(mech: sr.Mechanism, draws: int = 5) -> float:
    """Largest relative change of accelerations when M and J change by the spacing of floats, at random.

    Of the largest entry of each, lengths divided by L. No two ways to compute them agree better than that.
    """
    rng, eps, worst = np.random.default_rng(0), np.finfo(float).eps, 0.0
    unit, rows = np.asarray(mech.units.unit), np.asarray(mech.units.row_unit)
    for q, v in [(mech.default.q, np.zeros(mech.nv)), *states(mech)]:
        given, seen = mech.terms(q, v), felt(mech, q)
        M, h, J = given.M * np.outer(unit, unit), given.h * unit, given.J * unit / rows[:, None]
        rank = mech.forward_dynamics(q, v).rank
        a = unit * constrained_acceleration(M, h, J, given.gamma / rows, rank)
        for _ in range(draws):
            dM, dJ = (eps * np.abs(X).max(initial=0.0) * rng.standard_normal(X.shape) for X in (M, J))
            near = constrained_acceleration(M + (dM + dM.T) / 2, h, J + dJ, given.gamma / rows, rank)
            worst = max(worst, relative((unit * near)[seen], a[seen], 1.0))
    return worst


def relative(ours: Array, theirs: Array, least: float = 1e-6) -> float:
    """Largest difference over the largest entry, or over the least."""
    return float(np.abs(ours - theirs).max(initial=0.0) / max(np.abs(theirs).max(initial=0.0), least))


def in_drake(mech: sr.Mechanism, file: Path) -> float:
    """M and h of the tree in Drake, hinges, slides and free bodies; it refuses loops in SDF and URDF."""
    try:
        from pydrake.multibody.parsing import Parser
        from pydrake.multibody.plant import MultibodyPlant
    except ImportError as error:
        raise NotComparedError("Drake is not installed") from error
    logging.getLogger("drake").setLevel(logging.ERROR)  # it warns of elements that are for our reader
    mech = bare(mech) if file.suffix == ".sdf" else as_others_read(file)
    inertias = [Inertia(body.mass, np.array(body.com), body.inertia_matrix) for body in mech.model.bodies]
    if not all(one.is_possible and (one.mass or not np.any(one.inertia)) for one in inertias):
        raise NotComparedError("Drake changes inertias that no body can have")
    plant = MultibodyPlant(0.0)
    try:
        Parser(plant).AddModels(str(file))
        if file.suffix == ".urdf" and not any(body.joint.is_free for body in mech.model.bodies[1:]):
            _weld_root(plant)
        plant.mutable_gravity_field().set_gravity_vector(mech.model.gravity)
        plant.Finalize()
    except RuntimeError as error:
        raise NotComparedError(f"Drake: {error!s:.100}") from error
    twin = _DrakeTwin(mech, plant, drawn_at_default=file.suffix == ".sdf")
    twin.rotors = b"drake:rotor_inertia" in file.read_bytes()
    return max(twin.difference(q, v) for q, v in states(mech))


def refused_by(file: Path) -> str:
    """The library that belongs to a format, where it cannot read a file; empty where it can, or is absent."""
    name = {".xml": "MuJoCo", ".urdf": "Pinocchio", ".sdf": "Drake"}[file.suffix]
    try:
        if file.suffix == ".xml":
            import mujoco

            mujoco.MjModel.from_xml_path(str(file))
        elif file.suffix == ".urdf":
            import pinocchio as pin

            pin.buildModelFromUrdf(str(file))
        else:
            from pydrake.multibody.parsing import Parser
            from pydrake.multibody.plant import MultibodyPlant

            plant = MultibodyPlant(0.0)  # the parser does not keep it alive
            Parser(plant).AddModels(str(file))
    except ImportError:
        return ""
    except (ValueError, RuntimeError):
        return name
    return ""


def _weld_root(plant: Any) -> None:
    """A URDF whose root stands on the ground: Drake lets it float."""
    from pydrake.multibody.tree import JointIndex

    children = {int(plant.get_joint(JointIndex(j)).child_body().index()) for j in plant.GetJointIndices()} | {
        0
    }
    bodies = [plant.get_body(i) for model in _models(plant) for i in plant.GetBodyIndices(model)]
    for body in bodies:
        if int(body.index()) not in children:
            plant.WeldFrames(plant.world_frame(), body.body_frame())


def _models(plant: Any) -> list[Any]:
    from pydrake.multibody.tree import ModelInstanceIndex

    return [ModelInstanceIndex(i) for i in range(plant.num_model_instances())]


class _DrakeTwin:
    """A plant of Drake with the coordinates of a mechanism; columns are matched by names."""

    def __init__(self, mech: sr.Mechanism, plant: Any, drawn_at_default: bool) -> None:
        self.mech, self.plant, self.context = mech, plant, plant.CreateDefaultContext()
        self.drawn = mech.default.q if drawn_at_default else np.zeros(mech.nq)  # joints of SDF are zero there
        single = {}
        for j in plant.GetJointIndices():
            joint = plant.get_joint(j)
            if joint.num_velocities() == 1:
                single[joint.name()] = joint
        self.rotors = False  # whether the file gives inertias of rotors, which are in Drake's M
        self.joints: list[tuple[int, int, Any]] = []
        self.free: list[tuple[slice, Any]] = []
        for k, body in enumerate(mech.model.bodies[1:], start=1):
            qs, vs = mech.model.q_slices[k], mech.model.v_slices[k]
            if body.joint.is_free and plant.HasBodyNamed(body.name):
                self.free.append((vs, plant.GetBodyByName(body.name)))
                continue
            for i, name in enumerate(body.coordinate_names):
                joint = single.get(name) or single.get(f"{name}_joint")
                if joint is None:
                    raise NotComparedError("it has balls or joints of several axes: not compared in Drake")
                self.joints.append((qs.start + i, vs.start + i, joint))

    def difference(self, q: Array, v: Array) -> float:
        """Of M and h at one state."""
        from pydrake.math import RigidTransform
        from pydrake.multibody.math import SpatialVelocity

        plant, context = self.plant, self.context
        T, drift = np.zeros((plant.num_velocities(), self.mech.nv)), np.zeros(plant.num_velocities())
        theirs, speed = plant.GetPositions(context), np.zeros(plant.num_velocities())
        for iq, iv, joint in self.joints:
            theirs[joint.position_start()] = q[iq] - self.drawn[iq]
            speed[joint.velocity_start()] = v[iv]
            T[joint.velocity_start(), iv] = 1.0
        plant.SetPositionsAndVelocities(context, np.concatenate([theirs, speed]))
        for vs, body in self.free:
            X = self.mech.pose(q, body.name())
            linear, angular = v[vs][:3], v[vs][3:]
            plant.SetFreeBodyPose(context, body, RigidTransform(X.matrix))
            twist = SpatialVelocity(X.rotation @ angular, X.rotation @ linear)
            plant.SetFreeBodySpatialVelocity(context, body, twist)
            first = body.floating_velocities_start_in_v()
            T[first : first + 3, vs.start + 3 : vs.stop] = X.rotation
            T[first + 3 : first + 6, vs.start : vs.start + 3] = X.rotation
            drift[first + 3 : first + 6] = X.rotation @ np.cross(angular, linear)
        M = plant.CalcMassMatrix(context)
        h = plant.CalcBiasTerm(context) - plant.CalcGravityGeneralizedForces(context)
        return terms_differ(self.mech, q, v, T.T @ M @ T, T.T @ (M @ drift + h), self.rotors)
