"""Trajectory: its fields, and its ways out: tables, files."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import sarrus as sr
from tests.simulation.machines import four_bar_moving, held_ball, spinning_top


@pytest.fixture(scope="module")
def run():
    return sr.simulate(four_bar_moving(), (0.0, 0.3), control=lambda t, q, v: [t], dt=1e-3)


def test_shapes_and_fields(run):
    n, mech = len(run), run.system
    assert n == 301 and run.t.shape == (n,)
    for name, width in {
        "q": 3,
        "v": 3,
        "a": 3,
        "tau": 3,
        "u": 1,
        "constraint_force": 3,
        "lam": mech.nc,
    }.items():
        assert getattr(run, name).shape == (n, width), name
    for name in ("energy", "drift", "velocity_drift", "rank"):
        assert getattr(run, name).shape == (n,), name
    assert run.success and run.status == 0 and run.message == "Reached the end, t = 0.3 s."
    assert run.nfev == 4 * 300 + 1
    assert run.events == ()
    assert "four_bar" in repr(run) and "301 states" in repr(run)


def test_arrays_are_read_only(run):
    for name in ("t", "q", "v", "a", "u", "tau", "lam", "constraint_force", "energy", "drift", "rank"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(run, name)[0] = 0


def test_forces_satisfy_the_equations_of_motion(run):
    """M a + h = tau + J.T lam, at every stored state."""
    mech = run.system
    for i in range(0, len(run), 30):
        terms = mech.terms(run.q[i], run.v[i])
        left = terms.M @ run.a[i] + terms.h
        np.testing.assert_allclose(left, run.tau[i] + run.constraint_force[i], atol=1e-11)
        np.testing.assert_allclose(terms.J.T @ run.lam[i], run.constraint_force[i], atol=1e-10)


def test_forces_of_an_uncorrected_run_are_those_of_its_accelerations():
    run = sr.simulate(four_bar_moving(), (0.0, 0.5), dt=4e-3, correction="baumgarte")
    for q, v, lam, force in list(zip(run.q, run.v, run.lam, run.constraint_force, strict=True))[::10]:
        np.testing.assert_allclose(run.system.terms(q, v).J.T @ lam, force, rtol=1e-6, atol=1e-6)


def test_the_power_of_inputs_is_the_change_of_energy(run):
    power = np.sum(run.tau * run.v, axis=1)
    work = np.sum(0.5 * (power[1:] + power[:-1]) * np.diff(run.t))
    assert run.energy[-1] - run.energy[0] == pytest.approx(work, rel=1e-4)


# ---------------------------------------------------------------------- tables


def test_a_table_has_named_columns(run):
    pytest.importorskip("pandas")
    frame = run.to_dataframe()
    assert frame.index.name == "t" and len(frame) == len(run)
    for name in ("q.crank", "v.coupler", "a.rocker", "u.crank", "lam.pin.tx", "energy", "drift", "rank"):
        assert name in frame.columns
    np.testing.assert_array_equal(frame["v.rocker"].to_numpy(), run.v[:, 2])


def test_a_table_names_the_parts_of_quaternions():
    pytest.importorskip("pandas")
    frame = sr.simulate(spinning_top(), (0.0, 0.01)).to_dataframe()
    expected = ["q.top.x", "q.top.y", "q.top.z", "q.top.qx", "q.top.qy", "q.top.qz", "q.top.qw"]
    assert list(frame.columns[:7]) == expected and "v.top.wx" in frame.columns


# ---------------------------------------------------------------------- files


def test_what_is_saved_is_what_is_loaded(run, tmp_path):
    path = run.save(tmp_path / "swing.traj")
    assert [p.name for p in tmp_path.iterdir()] == ["swing.traj"]
    again = sr.Trajectory.load(path)
    for name in ("t", "q", "v", "a", "u", "tau", "lam", "constraint_force", "energy", "drift", "rank"):
        np.testing.assert_array_equal(getattr(again, name), getattr(run, name), err_msg=name)
    assert (again.status, again.message, again.nfev) == (run.status, run.message, run.nfev)
    assert again.system.name == run.system.name  # the description travels along
    np.testing.assert_array_equal(again.at(0.1234).q, run.at(0.1234).q)


def test_events_are_saved(tmp_path):
    run = sr.simulate(sr.library.slider_crank(), (0.0, 1.6), events=lambda t, q, v: t - 0.5)
    again = sr.Trajectory.load(run.save(tmp_path / "toggle"))
    assert [str(event) for event in again.events] == [str(event) for event in run.events]
    for one, two in zip(run.events, again.events, strict=True):
        np.testing.assert_array_equal(one.q, two.q)
        np.testing.assert_array_equal(one.singular_values, two.singular_values)


def test_a_system_of_functions_is_given_when_loading(tmp_path):
    system = sr.CustomSystem(1, 1, M=[[1.0]], h=lambda q, v, t: 4.0 * q)
    run = sr.simulate(system, (0.0, 0.1), [1.0], [0.0])
    path = run.save(tmp_path / "oscillator")
    alone = sr.Trajectory.load(path)
    np.testing.assert_array_equal(alone.q, run.q)
    assert alone.system is None
    with pytest.raises(sr.InputError, match=r"at\(\) needs the system that moved"):
        alone.at(0.05)
    np.testing.assert_array_equal(sr.Trajectory.load(path, system).at(0.05).q, run.at(0.05).q)
    with pytest.raises(sr.InputError, match="nq = 1, nv = 1; the system given has nq = 3, nv = 3"):
        sr.Trajectory.load(path, four_bar_moving())


def test_what_is_no_trajectory_is_refused(tmp_path, run):
    with pytest.raises(sr.InputError, match="cannot be read: No such file"):
        sr.Trajectory.load(tmp_path / "nowhere")
    (tmp_path / "text").write_text("t,q\n0,1\n")
    with pytest.raises(sr.InputError, match="is not a trajectory"):
        sr.Trajectory.load(tmp_path / "text")
    np.savez(tmp_path / "arrays.npz", t=np.zeros(3))
    with pytest.raises(sr.InputError, match="is not a trajectory"):
        sr.Trajectory.load(tmp_path / "arrays.npz")
    path = run.save(tmp_path / "whole")
    (tmp_path / "half").write_bytes(path.read_bytes()[:2000])
    with pytest.raises(sr.InputError, match="is not a trajectory"):
        sr.Trajectory.load(tmp_path / "half")


def test_a_newer_version_is_refused(tmp_path, run, monkeypatch):
    run.save(tmp_path / "now")
    monkeypatch.setattr(sys.modules["sarrus.simulation.trajectory.files"], "VERSION", 99)
    path = run.save(tmp_path / "future")
    monkeypatch.undo()
    with pytest.raises(sr.InputError, match=r"version 99 of the format.*update sarrus"):
        sr.Trajectory.load(path)


def test_a_failed_write_leaves_the_old_file(tmp_path, run, monkeypatch):
    path = run.save(tmp_path / "kept")
    before = path.read_bytes()
    failing = lambda *a, **k: (_ for _ in ()).throw(OSError("disk full"))  # noqa: E731
    monkeypatch.setattr(np.lib.format, "write_array", failing)
    with pytest.raises(sr.InputError, match="disk full"):
        run.save(path)
    assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["kept"]


# ---------------------------------------------------------------------- progress


def test_progress_is_shown_on_the_side(capsys):
    run = sr.simulate(held_ball(), (0.0, 0.5), progress=True)
    assert run.success and capsys.readouterr().out == ""


def test_progress_without_rich_is_text(capsys, monkeypatch):
    import builtins

    real = builtins.__import__

    def no_rich(name, *args, **kwargs):
        if name.startswith("rich"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", no_rich)
    assert sr.simulate(held_ball(), (0.0, 0.5), progress=True).success
    said = capsys.readouterr()
    assert said.out == "" and "simulate: t = " in said.err and "%" in said.err


def test_saving_into_a_folder_that_does_not_exist_names_it(run, tmp_path):
    with pytest.raises(sr.SarrusError, match=r"folder .*missing' of 'run.npz' does not exist; make it first"):
        run.save(tmp_path / "missing" / "run.npz")
