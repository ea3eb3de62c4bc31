"""The held box in MuJoCo: soft contacts with friction instead of loops, which the law knows nothing of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt
import pytest

import sarrus as sr
from sarrus import control as sc

from .held_box import GRIPS, loaded

Array = npt.NDArray[np.float64]

PAD = 0.05  # half edge of the hands [m]
SAMPLE = 0.002  # [s]


def numbers(values: npt.ArrayLike) -> str:
    return " ".join(f"{x:.12g}" for x in np.ravel(values))


def pads(mech: sr.Mechanism) -> dict[str, sr.Pose]:
    """Middle of the pad in the frame of each hand: its face lies 0.1 mm inside the box."""
    loops = {group.name: group.b for group in mech.model.groups if group.b}
    return {
        str(loops[name]): loop.at_b @ sr.Pose((0.0, 0.0, -0.0099)) for name, loop in mech.model.constraints
    }


def xml(mech: sr.Mechanism, mu: float) -> str:
    """Arms with pads for hands and a box that nothing but friction holds."""
    inside: dict[str, list[str]] = {}
    hands = pads(mech)
    for body in mech.model.bodies[1:]:
        x, y, z, w = body.at.quat
        frame = f'pos="{numbers(body.at.xyz)}" quat="{numbers([w, x, y, z])}"'
        I = np.asarray(body.inertia)
        I = np.diag(I) if I.ndim == 1 else I
        moments = numbers([I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])
        mass = f'pos="{numbers(body.com)}" mass="{body.mass}" fullinertia="{moments}"'
        if body.name == "box":
            parts = [
                f'<freejoint name="box"/><geom type="box" size="0.1 0.15 0.2" friction="{mu} 0.005 0.0001"/>'
            ]
        else:
            parts = [f'<joint name="{body.name}" axis="{numbers(body.joint.direction)}"/>']
            if body.name in hands:
                x, y, z, w = hands[body.name].quat
                turn = f'pos="{numbers(hands[body.name].xyz)}" quat="{numbers([w, x, y, z])}"'
                pad = f'size="{PAD} {PAD} 0.01" {turn} friction="{mu} 0.005 0.0001"'
                parts.append(f'<geom type="box" {pad}/>')
        text = f'<body name="{body.name}" {frame}><inertial {mass}/>{"".join(parts)}'
        inside.setdefault(body.parent, []).append(body.name)
        inside[f"text {body.name}"] = [text]

    def nested(name: str) -> str:
        return (
            inside[f"text {name}"][0] + "".join(nested(child) for child in inside.get(name, [])) + "</body>"
        )

    motors = "".join(f'<motor joint="{name}"/>' for name in mech.actuators)
    return (
        '<mujoco><option timestep="0.001" cone="elliptic" impratio="20" integrator="implicitfast"/>'
        '<default><geom solref="0.004 1" solimp="0.98 0.999 0.0005" condim="4"/></default>'
        f"<worldbody>{''.join(nested(one) for one in inside['ground'])}</worldbody>"
        f"<actuator>{motors}</actuator></mujoco>"
    )


class Plant:
    """MuJoCo with states in our coordinates."""

    def __init__(self, mech: sr.Mechanism, mu: float) -> None:
        self.model = mujoco.MjModel.from_xml_string(xml(mech, mu))
        self.data, self.names = mujoco.MjData(self.model), tuple(pads(mech))
        self.bridge = sr.bridge.mujoco(mech, self.model)
        self.bridge.to_mujoco(self.data, mech.default.q)

    def state(self) -> tuple[Array, Array]:
        return self.bridge.to_sarrus(self.data)

    def squeeze(self) -> float:
        """Sum of all normal forces on the box [N]."""
        found, one = 0.0, np.zeros(6)
        for k in range(self.data.ncon):
            mujoco.mj_contactForce(self.model, self.data, k, one)
            found += float(one[0])
        return found

    def hands(self) -> Array:
        """Places of all hands in the axes of the box (n, 3) [m]."""
        mujoco.mj_kinematics(self.model, self.data)
        box = self.data.body("box")
        return np.array([box.xmat.reshape(3, 3).T @ (self.data.body(n).xpos - box.xpos) for n in self.names])

    def run(self, law: Any, seconds: float, wrench: Callable[[float], Array]) -> Array:
        """Heights of the box (n,) at the samples."""
        heights = []
        while self.data.time < seconds:
            self.data.ctrl[:] = law(self.data.time, *self.state())
            self.data.xfrc_applied[self.model.body("box").id] = wrench(self.data.time)
            for _ in range(round(SAMPLE / self.model.opt.timestep)):
                mujoco.mj_step(self.model, self.data)
            heights.append(float(self.data.qpos[-5]))
        return np.array(heights)


def down(t: float) -> Array:
    """20 N down from 0.4 s on."""
    return np.array([0.0, 0.0, -20.0 if t > 0.4 else 0.0, 0.0, 0.0, 0.0])


@pytest.fixture(scope="module")
def mech() -> sr.Mechanism:
    return sr.library.dual_arm_box()


def grasp_of(mech: sr.Mechanism, mu: float) -> sc.Grasp:
    """The law uses the middle of the pads only, so that they do not tilt on an edge."""
    both = [sc.Patch(name, mu, torsion=0.01, half=(0.02, 0.02), least=30.0) for name in GRIPS]
    return sc.Grasp(mech, "box", both)


def test_friction_holds_the_box(mech: sr.Mechanism) -> None:
    """Held and pushed: it gives way by force / stiffness, MuJoCo's contact forces are the expected ones."""
    law = sc.ObjectImpedance(mech, grasp_of(mech, 0.4), stiffness=(500.0, 50.0), damping_ratio=1.0)
    plant = Plant(mech, 0.8)
    heights = plant.run(law, 1.4, down)
    assert heights[190] == pytest.approx(heights[0], abs=1e-4)
    assert heights[-1] - heights[0] == pytest.approx(-20.0 / 500.0, rel=0.05)
    assert isinstance(law.last, sc.ImpedanceSolution) and law.last.success
    np.testing.assert_allclose(plant.squeeze(), law.last.normal_forces.sum(), rtol=0.02)


def test_a_push_that_only_a_reserve_survives(mech: sr.Mechanism) -> None:
    """60 N down and up again within 0.8 s, friction 0.55 of which the law assumes 0.5, no least force.

    With default arguments the hands stay where they are; with the push read off the displacement, as in the
    paper, they slip by more than a centimetre.
    """

    def push(t: float) -> Array:
        return np.array(
            [0.0, 0.0, -60.0 * np.sin(np.pi * min(max(t - 0.2, 0.0) / 0.8, 1.0)) ** 2, 0.0, 0.0, 0.0]
        )

    grasp = sc.Grasp(mech, "box", [sc.Patch(name, 0.5, torsion=0.01, half=(0.02, 0.02)) for name in GRIPS])
    moved, low = {}, {}
    for how, options in (("ours", {}), ("paper", {"external": "displacement", "reserve": (0.0, 0.0)})):
        plant = Plant(mech, 0.55)
        start = plant.hands()
        heights = plant.run(sc.ObjectImpedance(mech, grasp, damping_ratio=1.0, **options), 1.2, push)
        moved[how], low[how] = np.abs(plant.hands() - start).max(), heights.min() - heights[0]
    assert moved["ours"] < 5e-4 and -0.12 < low["ours"] < -0.07
    assert moved["paper"] > 0.01


def test_an_added_weight_is_found_and_carried(mech: sr.Mechanism) -> None:
    """A box of 1.2 kg that the law takes for one of 0.7 kg: the mass to 2% in half a second, height kept."""
    heavy = loaded(mech, sc.Payload(0.5, (0.0, 0.0, 0.1)))
    estimator = sc.WrenchEstimator(mech, "box", payload=True)
    law = sc.ObjectImpedance(mech, grasp_of(mech, 0.4), external=estimator, compensate=True)
    heights = Plant(heavy, 0.8).run(law, 0.5, lambda t: np.zeros(6))
    assert estimator.last is not None
    assert estimator.last.payload.mass == pytest.approx(0.5, rel=0.02)
    assert abs(heights[-1] - heights[0]) < 2e-3


def test_the_box_is_moved_by_friction(mech: sr.Mechanism) -> None:
    start = mech.pose(mech.default.q, "box")
    end = sr.Pose(start.xyz + np.array([0.0, 0.05, 0.05]), matrix=start.rotation)
    law = sc.ObjectImpedance(mech, grasp_of(mech, 0.4), sc.MinimumJerk(start, end, 0.6), (800.0, 60.0))
    plant = Plant(mech, 0.8)
    heights = plant.run(law, 0.9, lambda t: np.zeros(6))
    assert heights[-1] == pytest.approx(end.xyz[2], abs=1e-3)
    assert plant.data.qpos[-6] == pytest.approx(end.xyz[1], abs=1e-3)


def test_three_arms_of_three_kinds_hold_by_friction() -> None:
    """A Panda, a UR5 and an LWR: pushed, the box gives way by force / stiffness and no hand slips."""
    mech = sr.library.arms_around_box(("panda", "ur5", "lwr"))
    hands = [sc.Patch(f"grip{k}", 0.4, torsion=0.01, half=(0.02, 0.02), least=20.0) for k in (1, 2, 3)]
    law = sc.ObjectImpedance(mech, sc.Grasp(mech, "box", hands), damping_ratio=1.0)
    plant = Plant(mech, 0.8)
    start = plant.hands()
    heights = plant.run(law, 1.4, down)
    assert heights[190] == pytest.approx(heights[0], abs=5e-4)
    assert heights[-1] - heights[0] == pytest.approx(-20.0 / 500.0, rel=0.05)
    assert np.abs(plant.hands() - start).max() < 1e-3
    assert isinstance(law.last, sc.ImpedanceSolution) and law.last.success
    np.testing.assert_allclose(plant.squeeze(), law.last.normal_forces.sum(), rtol=0.03)


def test_too_little_friction_is_said_and_the_box_falls(mech: sr.Mechanism) -> None:
    """Motors that cannot squeeze as hard as mu = 0.05 needs: the status says so at once, then it slips."""
    bounds = sc.TorqueBounds((-25.0, 25.0))
    law = sc.ObjectImpedance(mech, grasp_of(mech, 0.05), limits=bounds)
    first = law.solve(0.0, *mech.default)
    assert first.status == sc.Status.INFEASIBLE and "friction" in first.message
    heights = Plant(mech, 0.05).run(law, 0.4, lambda t: np.zeros(6))
    assert heights[-1] < heights[0] - 0.05
