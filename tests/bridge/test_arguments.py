"""Bridges, servos and their runs refuse what makes no sense in one way."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import sarrus as sr

ODD: list[Any] = [
    None, 3, -1, 2.5, "x", "", [], {}, object(), np.zeros(3), np.full(2, np.nan), True, 10**400, (1, 2),
    lambda: 0, sr.Pose(), np.array("a"), b"x", float("inf"), type, {"a": 1}, [None],
]  # fmt: skip


@pytest.fixture(scope="module")
def plants(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    mech = sr.library.slider_crank()
    file = tmp_path_factory.mktemp("plant") / "crank.xml"
    sr.save(mech, file)
    model = mujoco.MjModel.from_xml_path(str(file))
    arm = pin.buildSampleModelManipulator()
    other = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><joint/><geom size='.1'/></body></worldbody></mujoco>"
    )
    return {
        "mech": mech,
        "model": model,
        "data": mujoco.MjData(model),
        "foreign": mujoco.MjData(other),
        "mujoco": sr.bridge.mujoco(mech, model),
        "pinocchio": sr.bridge.pinocchio(sr.from_pinocchio(arm), arm),
        "servos": sr.bridge.servos(mech),
    }


def calls(plants: dict[str, Any]) -> dict[str, Callable[[Any, Any], Any]]:
    b, p, s, mech, v = (plants[x] for x in ("mujoco", "pinocchio", "servos", "mech", "data"))
    rest = np.zeros(mech.nv)
    return {
        "mujoco": sr.bridge.mujoco,
        "MujocoBridge": sr.bridge.MujocoBridge,
        "MujocoBridge with a mechanism": lambda x, y: sr.bridge.MujocoBridge(mech, y),
        "PinocchioBridge": sr.bridge.PinocchioBridge,
        "PinocchioBridge with a mechanism": lambda x, y: sr.bridge.PinocchioBridge(mech, y),
        "Servos": sr.bridge.Servos,
        "Servos with a mechanism": lambda x, y: sr.bridge.Servos(
            mech, 3 if y is None or isinstance(y, dict) else y
        ),
        "states": b.states,
        "to_sarrus": lambda x, y: b.to_sarrus(x),
        "to_mujoco": lambda x, y: b.to_mujoco(x, mech.default.q, y),
        "to_mujoco data": lambda x, y: b.to_mujoco(v, x, y),
        "to_ctrl": lambda x, y: b.to_ctrl(x, y, rest),
        "to_u": lambda x, y: b.to_u(x, y, rest),
        "velocity_map": lambda x, y: b.velocity_map(x),
        "run": b.run,
        "law of run": lambda x, y: b.run(lambda t, q, v: x, 0.01),
        "data of run": lambda x, y: b.run(lambda t, q, v: rest, 0.01, data=x if x is not None else 3),
        "force": lambda x, y: s.force(x, y, rest),
        "ctrl": lambda x, y: s.ctrl(x, y, rest),
        "pinocchio to_sarrus": p.to_sarrus,
        "to_pinocchio": lambda x, y: p.to_pinocchio(x, "no velocity"),
        "to_tau": p.to_tau,
        "pinocchio to_u": p.to_u,
        "pinocchio run": p.run,
        "start of a run": lambda x, y: p.run(lambda t, q, v: v, 0.01, start=x if x is not None else 3),
        "constraints of a run": lambda x, y: p.run(lambda t, q, v: v, 0.01, constraints=[x]),
    }


def test_odd_arguments_are_input_errors(plants: dict[str, Any]) -> None:
    """No call of these takes any of them; each says so as the library does everywhere."""
    foreign = []
    for name, call in calls(plants).items():
        pairs = itertools.product(ODD, ODD) if len(inspect.signature(call).parameters) > 1 else ()
        for x, y in pairs:
            try:
                with np.errstate(all="ignore"):
                    call(x, y)
            except sr.SarrusError:
                continue
            except Exception as error:
                foreign.append(f"{name}({x!r:.20}, {y!r:.20}): {type(error).__name__}: {error}")
    assert not foreign, "\n".join(foreign[:20])


def test_messages_say_what_is_wanted(plants: dict[str, Any], tmp_path: Path) -> None:
    b, s, p = plants["mujoco"], plants["servos"], plants["pinocchio"]
    q, v = plants["mech"].default
    for match, call in {
        "data must be the mujoco.MjData of the model, got int": lambda: b.to_sarrus(3),
        r"data must be of the bridge's own model, with nq, nv = \(4, 4\), got \(1, 1\)": (
            lambda: b.to_mujoco(plants["foreign"], q)
        ),
        r"the law of run must be a function of \(t,q,v\)": lambda: b.run(3, 1.0),
        "dt must be a multiple of MuJoCo's step of 0.002 s, got 0.003 s": lambda: b.run(
            lambda t, q, v: np.zeros(2), 1.0, dt=0.003
        ),
        "what the law returns at t = 0 s must be 2 finite numbers, got 'x'": lambda: b.run(
            lambda t, q, v: "x", 1.0
        ),
        "q must have shape": lambda: s.force(np.zeros(2), 1.0, v),
        r"ctrl must be one vector of shape \(2,\) here": lambda: s.force(np.zeros((3, 2)), q, v),
        "constraints must be several pinocchio.RigidConstraintModel": lambda: p.run(
            lambda t, q, v: np.zeros(6), 1.0, constraints=[3]
        ),
        r"start must be a state \(q, v\), got 3": lambda: p.run(lambda t, q, v: np.zeros(6), 1.0, start=3),
        "laws must be a mapping": lambda: sr.bridge.Servos(plants["mech"], 3),
    }.items():
        with pytest.raises(sr.InputError, match=match):
            call()
