"""The nearest formulations in TSID, an inverse dynamics controller in C++, for the same mechanisms.

Its step from Python is three calls: compute the problem, solve it (eiquadprog, a dual active-set method),
decode the torques. One weighted quadratic program in accelerations and contact forces; dynamics of the free
base and contacts are its equalities.

Its Python module must have been built for the Pinocchio that is installed (for 1.10.0 that is 4.0.0): with
another one it cannot take a model, and `available` says no.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pinocchio as pin

import sarrus as sr

from .pinocchio_twin import PinocchioTwin, pinocchio_twin

Array = npt.NDArray[np.float64]

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of converters that it registers twice
    import tsid

SMALL = 1e-5  # weight of the regularization of forces and postures
MOST = 1e4  # [N]


class TsidStep:
    """One problem: a robot, its contacts and tasks. Call it for one step.

    Args:
        mech: the mechanism, its Free body first in the twin.
        base: name of that body.
    """

    def __init__(self, mech: sr.Mechanism, base: str) -> None:
        self.twin: PinocchioTwin = pinocchio_twin(mech, first=base)
        self._base, self._model = base, self.twin.model
        q, v = (np.array(x) for x in mech.default)
        self.q, self.v = self.twin.to_peer(q, v)
        self._tasks: list[Callable[[], None]] = []
        self._mech = mech

    def frame(self, name: str, joint: int, at: Any) -> str:
        """A frame of this name on a joint."""
        self._model.addFrame(pin.Frame(name, joint, 0, at, pin.FrameType.OP_FRAME))
        return name

    def start(self) -> None:
        """All frames are there: the robot and an empty problem."""
        self.robot = tsid.RobotWrapper(self._model, tsid.RootJointType.FLOATING_BASE_SYSTEM, False)
        self.problem = tsid.InverseDynamicsFormulationAccForce("step", self.robot, False)
        self.problem.computeProblemData(0.0, self.q, self.v)

    def pose_task(self, frame: str, acceleration: Array) -> None:
        """A frame shall stay where it is, and accelerate as given (6,), world axes."""
        task = tsid.TaskSE3Equality(frame, self.robot, frame)
        task.setKp(100.0 * np.ones(6))
        task.setKd(20.0 * np.ones(6))
        task.useLocalFrame(False)
        self.problem.addMotionTask(task, 1.0, 1, 0.0)
        at = self.robot.framePosition(self.problem.data(), self._model.getFrameId(frame))
        sample = tsid.TrajectorySample(12, 6)
        sample.value(tsid.SE3ToVector(at))
        sample.second_derivative(acceleration)
        task.setReference(sample)
        self._tasks.append(task)

    def finish(self) -> None:
        """A little of least motion, and the solver in its size."""
        posture = tsid.TaskJointPosture("posture", self.robot)
        posture.setKp(np.ones(self.robot.na))
        posture.setKd(2.0 * np.ones(self.robot.na))
        sample = tsid.TrajectorySample(self.robot.na)
        sample.value(self.q[7:])
        posture.setReference(sample)
        self.problem.addMotionTask(posture, SMALL, 1, 0.0)
        self._tasks.append(posture)
        self.solver = tsid.SolverHQuadProgFast("qp")
        self.solver.resize(self.problem.nVar, self.problem.nEq, self.problem.nIn)

    def __call__(self) -> Array:
        """Torques (na,) of one step."""
        data = self.problem.computeProblemData(0.0, self.q, self.v)
        self._found = self.solver.solve(data)
        u: Array = self.problem.getActuatorForces(self._found)
        return u

    @property
    def acceleration(self) -> Array:
        """Of the last step (nv,), in the order of our mechanism."""
        if self._found.status != 0:
            raise RuntimeError(f"TSID ended with the status {self._found.status}")
        return self.twin.from_peer(np.array(self.problem.getAccelerations(self._found)))

    @property
    def sizes(self) -> str:
        """Variables, equalities and inequalities."""
        return f"{self.problem.nVar} variables, {self.problem.nEq} + {self.problem.nIn} rows"


def standing(mech: sr.Mechanism, mu: float, ahead: float) -> TsidStep:
    """The quadruped on four points with four-sided friction cones; its trunk shall accelerate ahead."""
    step = TsidStep(mech, "trunk")
    for name, _ in mech.model.constraints:
        loop = _loop(step, mech, name)
        step.frame(name, loop.joint2_id, loop.joint2_placement)
    step.frame("held", 1, pin.SE3.Identity())
    step.start()
    for name, _ in mech.model.constraints:
        contact = tsid.ContactPoint(name, step.robot, name, np.array([0.0, 0.0, 1.0]), mu, 0.0, MOST)
        contact.useLocalFrame(False)
        contact.setKp(np.zeros(3))
        contact.setKd(np.zeros(3))
        step.problem.addRigidContact(contact, SMALL)
        step._tasks.append(contact)
    step.pose_task("held", np.array([ahead, 0.0, 0.0, 0.0, 0.0, 0.0]))
    step.finish()
    return step


def holding(mech: sr.Mechanism, box: str) -> TsidStep:
    """Two arms on a box, one ball contact each: it has no friction between two bodies that move, no patch."""
    step = TsidStep(mech, box)
    names = [name for name, _ in mech.model.constraints]
    for name in names:
        loop = _loop(step, mech, name)
        step.frame(f"{name}.a", loop.joint1_id, loop.joint1_placement)
        step.frame(f"{name}.b", loop.joint2_id, loop.joint2_placement)
    step.frame("held", 1, pin.SE3.Identity())
    step.start()
    for name in names:
        contact = tsid.ContactTwoFramePositions(name, step.robot, f"{name}.a", f"{name}.b", -MOST, MOST)
        contact.setKp(np.zeros(3))
        contact.setKd(np.zeros(3))
        step.problem.addRigidContact(contact, SMALL)
        step._tasks.append(contact)
    step.pose_task("held", np.zeros(6))
    step.finish()
    return step


def available() -> bool:
    """Whether TSID can take a model of the Pinocchio that is installed."""
    try:
        tsid.RobotWrapper(pin.buildSampleModelHumanoidRandom(), False)
    except MemoryError:
        return False
    return True


def _loop(step: TsidStep, mech: sr.Mechanism, name: str) -> Any:
    names = [one for one, _ in mech.model.constraints]
    return step.twin.constraints[names.index(name)]
