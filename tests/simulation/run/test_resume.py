"""Runs that go on: the same bits as one run, from memory and from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sarrus as sr

L = sr.library
FIELDS = ("t", "q", "v", "a", "u", "tau", "drift", "velocity_drift", "rank")


def swing(t: float, q: np.ndarray, v: np.ndarray) -> list[float]:
    return [np.sin(9.0 * t) - 0.1 * float(v[0])]


def drag(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return -0.1 * v


CASES: dict[str, tuple[Any, float, float, dict[str, Any]]] = {
    "rk4": (L.four_bar, 0.3, 0.5, {}),
    "end off the grid": (L.four_bar, 0.3004, 0.5, {}),
    "semi_implicit_euler": (L.four_bar, 0.3, 0.5, {"method": "semi_implicit_euler"}),
    "dopri5": (L.dual_arm, 0.2, 0.4, {"method": "dopri5"}),
    "dopri5 through singular poses": (L.n_four_bar, 0.7143, 1.5, {"method": "dopri5"}),
    "radau": (L.dual_arm, 0.2003, 0.4, {"method": "radau", "rtol": 1e-5, "atol": 1e-7}),
    "radau through singular poses": (L.n_four_bar, 0.7143, 1.5, {"method": "radau"}),
    "radau, sampled": (L.four_bar, 0.305, 0.5, {"control": swing, "control_dt": 0.02, "method": "radau"}),
    "radau, control": (L.four_bar, 0.305, 0.5, {"control": swing, "method": "radau"}),
    "radau, rolling": (L.rolling_disk, 0.105, 0.2, {"method": "radau"}),
    "rk4 through singular poses": (L.n_four_bar, 0.7143, 1.5, {}),
    "from a singular pose": (L.five_bar, 0.3, 0.5, {}),
    "thinned": (L.four_bar, 0.3, 0.5, {"store_every": 7}),
    "energy kept": (L.four_bar, 0.3, 0.5, {"energy": True}),
    "baumgarte": (L.four_bar, 0.3, 0.5, {"correction": "baumgarte"}),
    "no correction": (L.four_bar, 0.3, 0.5, {"correction": "none"}),
    "svd": (L.bennett, 0.1, 0.15, {"formulation": "svd", "dt": 5e-3}),
    "control": (L.four_bar, 0.305, 0.5, {"control": swing}),
    "sampled control": (L.four_bar, 0.305, 0.5, {"control": swing, "control_dt": 0.02}),
    "sampled, adaptive": (L.four_bar, 0.305, 0.5, {"control": swing, "control_dt": 0.02, "method": "dopri5"}),
    "control and drag": (L.four_bar, 0.305, 0.5, {"control": swing, "control_dt": 0.02, "tau": drag}),
    "constant force": (L.four_bar, 0.3, 0.5, {"tau": [0.1, 0.0, 0.0]}),
    "quaternions": (L.stewart, 0.1, 0.2, {}),
    "rolling": (L.rolling_disk, 0.1, 0.2, {}),
    "redundant rows": (L.bricard, 0.1, 0.2, {}),
}


def equal(a: sr.Trajectory, b: sr.Trajectory) -> None:
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    assert 0 <= a.nfev - b.nfev <= 3  # those of a step that was broken off count, too
    assert [(e.kind, e.t) for e in a.events] == [(e.kind, e.t) for e in b.events]


@pytest.mark.parametrize("case", CASES)
def test_same_bits_from_a_file(case: str, tmp_path: Path) -> None:
    make, half, end, options = CASES[case]
    mech = make()
    whole = sr.simulate(mech, (0.0, end), **options)
    sr.simulate(mech, (0.0, half), **options).save(tmp_path / "half.npz")
    functions = {name: options[name] for name in ("control", "tau") if callable(options.get(name))}
    equal(sr.Trajectory.load(tmp_path / "half.npz").resume(end, **functions), whole)


def test_same_bits_in_memory_and_in_many_pieces() -> None:
    mech = L.four_bar()
    options: dict[str, Any] = {"control": swing, "control_dt": 0.02}
    run = sr.simulate(mech, (0.0, 0.1), **options)
    for end in (0.155, 0.2, 0.3337, 0.5):
        run = run.resume(end)
    equal(run, sr.simulate(mech, (0.0, 0.5), **options))
    assert run.message == "Reached the end, t = 0.5 s."


def test_interrupted_runs_go_on() -> None:
    mech, calls = L.four_bar(), {"n": 0}

    def interrupted(t: float, q: np.ndarray, v: np.ndarray) -> list[float]:
        calls["n"] += 1
        if calls["n"] == 333:
            raise KeyboardInterrupt
        return swing(t, q, v)

    run = sr.simulate(mech, (0.0, 0.4), control=interrupted, dt=1e-3)
    assert run.status == -2 and run.t[-1] < 0.1
    equal(run.resume(0.4), sr.simulate(mech, (0.0, 0.4), control=swing, dt=1e-3))


def test_drives_need_their_mechanism(tmp_path: Path) -> None:
    spec = sr.MechanismSpec(gravity=(0.0, -9.81, 0.0))
    spec.body("a", joint=sr.Revolute("z"), mass=1.0, com=(1.0, 0.0, 0.0))
    spec.body("b", parent="a", joint=sr.Revolute("z"), at=sr.Pose((1.0, 0.0, 0.0)), mass=1.0, com=(1.0, 0, 0))
    spec.constrain("drive", sr.Drive("a", np.sin, np.cos, lambda t: -np.sin(t)))
    mech = spec.compile()
    sr.simulate(mech, (0.0, 0.1)).save(tmp_path / "half.npz")
    with pytest.raises(sr.InputError, match=r"system=\.\.\."):
        sr.Trajectory.load(tmp_path / "half.npz").resume(0.2)
    equal(sr.Trajectory.load(tmp_path / "half.npz", mech).resume(0.2), sr.simulate(mech, (0.0, 0.2)))


def test_times_that_were_asked_for() -> None:
    mech = L.four_bar()
    run = sr.simulate(mech, (0.0, 0.2), t_eval=[0.0, 0.1]).resume(0.4, t_eval=[0.25, 0.4])
    np.testing.assert_array_equal(run.t, [0.0, 0.1, 0.25, 0.4])


class TestBadInput:
    def test_functions_have_to_be_given_again(self, tmp_path: Path) -> None:
        sr.simulate(L.four_bar(), (0.0, 0.1), control=swing, tau=drag).save(tmp_path / "run.npz")
        with pytest.raises(
            sr.InputError, match=r"used control, tau, which a file cannot keep.*control=\.\.\."
        ):
            sr.Trajectory.load(tmp_path / "run.npz").resume(0.2)

    def test_only_forward(self) -> None:
        with pytest.raises(sr.InputError, match=r"t_end must lie after the trajectory, 0.1 s; got 0.05"):
            sr.simulate(L.four_bar(), (0.0, 0.1)).resume(0.05)

    def test_charts_and_events_start_anew(self) -> None:
        message = "cannot be resumed.*Start a new run from its last state"
        with pytest.raises(sr.InputError, match=message):
            sr.simulate(L.four_bar(), (0.0, 0.01), coordinates="tangent").resume(0.2)

        def stop(t: float, q: np.ndarray, v: np.ndarray) -> float:
            return t - 0.0305

        stop.terminal = True  # type: ignore[attr-defined]
        with pytest.raises(sr.InputError, match=message):
            sr.simulate(L.four_bar(), (0.0, 0.1), events=stop).resume(0.2)
