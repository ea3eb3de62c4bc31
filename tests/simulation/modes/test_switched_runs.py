"""Constraints that close and open during a run: by the clock, by events, by contact."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr

from .machines import G, falling_mass, rod, table, three_arm_grip, two_bars, walker


def switches(run: sr.Trajectory) -> list[sr.Event]:
    return [event for event in run.events if event.kind == "switch"]


def test_a_mass_falls_on_the_floor_and_is_lifted_off() -> None:
    """Touches at sqrt(2 h / g), loses m g h, is pulled off when the lift exceeds the weight."""
    mech = falling_mass()
    lift = lambda t, q, v: [max(0.0, 100.0 * (t - 0.5))]  # noqa: E731
    run = sr.simulate(mech, (0.0, 1.0), [1.0], [0.0], switches=sr.Contact("floor"), control=lift)
    down, up = switches(run)
    assert down.t == pytest.approx(np.sqrt(2.0 / G), abs=1e-10)
    assert down.closed == ("floor",) and down.impact is not None
    assert down.impact.energy_lost == pytest.approx(2.0 * G, rel=1e-10)
    assert up.t == pytest.approx(0.5 + 2.0 * G / 100.0, abs=1e-8)
    assert up.opened == ("floor",) and up.impact is None
    resting = (run.t > down.t) & (run.t < up.t)
    assert np.abs(run.q[resting]).max() < 1e-12
    np.testing.assert_array_equal(run.active[resting], True)
    assert run.lam.min() > -1e-6 and run.lam[run.t < down.t].max() == 0.0
    after = 1.0 - up.t
    np.testing.assert_allclose(run.q[-1, 0], 100.0 * after**3 / 12.0, rtol=1e-6)
    assert isinstance(run, sr.SwitchedTrajectory) and len(run.segments) == 3
    assert "19.62 J lost" in str(down)


def test_a_loop_that_closes_during_a_run() -> None:
    """Momentum before and after, and the energy of the run falls by just what the impact says."""
    mech = two_bars()
    q, v = np.array([0.9, -1.7, 0.2]), np.array([0.5, 1.0, -2.0])
    run = sr.simulate(mech, (0.0, 0.6), q, v, switches=sr.Switch("pin", on=0.25, latch=True), dt=1e-3)
    (event,) = switches(run)
    assert event.t == 0.25 and event.impact is not None
    i = int(np.flatnonzero(run.t == 0.25)[0])
    assert run.t[i + 1] == 0.25
    np.testing.assert_array_equal(run.q[i], run.q[i + 1])
    assert run.energy[i] - run.energy[i + 1] == pytest.approx(event.impact.energy_lost, rel=1e-12)
    M = mech.mass_matrix(run.q[i])
    np.testing.assert_allclose(M @ (run.v[i + 1] - run.v[i]), event.impact.impulse, atol=1e-13)
    held = run.segments[1].system
    N = held.decompose(run.q[i]).N
    np.testing.assert_allclose(N.T @ M @ run.v[i + 1], N.T @ M @ run.v[i], atol=1e-13)
    assert held.mobility(run.q[-1]).dof == 1
    assert run.segments[1].drift.max() < 1e-12
    assert max(np.ptp(s.energy) for s in run.segments) < 1e-7


def test_opening_is_smooth() -> None:
    mech = sr.library.four_bar()
    run = sr.simulate(mech, (0.0, 0.4), switches=sr.Switch("pin", off=0.2))
    i = int(np.flatnonzero(run.t == 0.2)[0])
    np.testing.assert_array_equal(run.v[i], run.v[i + 1])
    assert np.abs(run.a[i] - run.a[i + 1]).max() > 1e-3
    assert np.ptp(run.energy) < 1e-8
    assert not run.active[-1, 0] and run.active[0, 0]
    assert np.abs(run.lam[-1]).max() == 0.0 < np.abs(run.lam[0]).max()


def test_a_three_arm_grip_closes_one_arm_after_the_other() -> None:
    mech, q = three_arm_grip()
    v = np.random.default_rng(0).normal(size=mech.nv)
    hands = [sr.Switch(f"hand{k}", on=0.1 * (k + 1), latch=True) for k in range(3)]
    run = sr.simulate(mech, (0.0, 0.4), q, v, switches=hands)
    hits = [event.impact for event in switches(run)]
    assert [hit.rank for hit in hits if hit] == [3, 6, 9]
    assert [s.system.nc for s in run.segments] == [0, 6, 12, 18]
    assert run.impacts == tuple(hits)
    assert run.energy[0] - run.energy[-1] == pytest.approx(run.energy_lost, abs=1e-6)
    assert run.segments[-1].drift.max() < 1e-12
    assert np.abs(run.v[-1]).max() < 1e-10  # a structure


def test_an_event_closes_and_another_opens() -> None:
    """A pendulum is caught at the bottom by a weld and let go again."""
    spec = sr.MechanismSpec(gravity=(0.0, -G, 0.0))
    spec.body("rod", joint=sr.Revolute("z"), mass=1.0, com=(1.0, 0.0, 0.0))
    spec.constrain("brake", sr.Coupling({"rod": 1.0}))
    bottom = lambda t, q, v: q[0] + np.pi / 2  # noqa: E731
    switch = sr.Switch("brake", on=bottom, off=[1.5], latch=True)
    run = sr.simulate(spec.compile(), (0.0, 2.0), [0.0], [0.0], switches=switch, dt=1e-3)
    closing, opening = switches(run)
    assert closing.q[0] == pytest.approx(-np.pi / 2, abs=1e-9)
    assert closing.impact is not None and closing.impact.energy_lost == pytest.approx(G, rel=1e-7)
    assert opening.t == 1.5
    np.testing.assert_allclose(run.q[-1], -np.pi / 2, atol=1e-9)


def test_hard_stops() -> None:
    """A door swings against its stop, rests there, and is pushed off again."""
    spec = sr.MechanismSpec(gravity=(0.0, -G, 0.0))
    door = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": (0, 0.1, 0.1), "limits": (-1.0, 0.5)}
    spec.body("door", joint=sr.Revolute("z"), **door)
    mech = spec.compile()
    push = lambda t, q, v: [12.0 if t > 1.0 else 0.0]  # noqa: E731
    run = sr.simulate(mech, (0.0, 2.0), [0.3], [2.0], stops=True, control=push, control_dt=0.1)
    events = switches(run)
    assert [e.closed or e.opened for e in events] == [("door.lower",), ("door.lower",), ("door.upper",)]
    assert events[1].t == pytest.approx(1.1, abs=0.11)
    assert run.q.min() > -1.0 - 1e-12 and run.q.max() < 0.5 + 1e-12
    assert run.q[-1, 0] == pytest.approx(0.5, abs=1e-12)
    lower, upper = (run.active_names.index(f"door.{end}") for end in ("lower", "upper"))
    assert run.active[-1].tolist() == [lower == -1, True] and upper == 1


def test_a_table_lands_on_four_feet_at_once() -> None:
    mech = table()
    feet = [sr.Contact(f"leg{i}") for i in range(4)]
    load = {"top": (lambda t: [0, 0, -max(0.0, 100.0 * (t - 0.5)), 0, 0, 0], (0.8, 0.0, 0.0))}
    q = [0, 0, 1.0, 0, 0, 0, 1]
    run = sr.simulate(mech, (0.0, 1.3), q, np.zeros(6), switches=feet, external=load, dt=4e-3)
    landing, tipping = switches(run)
    assert landing.closed == ("leg0", "leg1", "leg2", "leg3")
    assert landing.impact is not None and landing.impact.rank == 3
    assert landing.impact.energy_lost == pytest.approx(4.0 * G * 0.3, rel=1e-9)
    assert tipping.t == pytest.approx(0.5 + 4.0 * G * 0.5 / 0.3 / 100.0, abs=1e-6)
    assert tipping.opened == ("leg2", "leg3")


def test_feet_of_a_loaded_table_push() -> None:
    """A load near one corner: the multipliers of least norm would pull at the opposite foot."""
    mech = table()
    load = {"top": ([0, 0, -200.0, 0, 0, 0], (0.4, 0.4, 0.0))}
    feet = [sr.Contact(f"leg{i}") for i in range(4)]
    run = sr.simulate(mech, (0.0, 0.1), [0, 0, 0.7, 0, 0, 0, 1], switches=feet, external=load, dt=1e-2)
    assert run.success and run.segments[0].lam.min() < -10.0 < -1e-6 < run.lam.min() and not switches(run)
    assert run.lam.sum(axis=1) == pytest.approx(200.0 + 4.0 * G, rel=1e-9)
    np.testing.assert_allclose(run.lam @ [[1, 1], [1, -1], [-1, 1], [-1, -1]], 160.0, rtol=1e-9)  # moments


def test_a_tilted_table_rattles_to_rest() -> None:
    """Infinitely many impacts in a finite time; each loses energy, and in the end it stands."""
    mech = table()
    q = np.array([0, 0, 1.2, *sr.Pose(rpy=(0.1, 0.05, 0.0)).quat])
    feet = [sr.Contact(f"leg{i}") for i in range(4)]
    run = sr.simulate(mech, (0.0, 0.6), q, np.zeros(6), switches=feet, dt=5e-3)
    assert run.success
    lost = [e.impact.energy_lost for e in switches(run) if e.impact]
    assert len(lost) > 5 and min(lost) > -1e-12
    assert run.energy[0] - run.energy[-1] == pytest.approx(sum(lost), rel=1e-6)
    assert run.q[-1, 2] == pytest.approx(0.7, abs=1e-8) and np.abs(run.v[-1, 2:5]).max() < 1e-6


def test_ends_that_stick_where_they_land() -> None:
    """One end lands, the rod turns about it, the other end lands: points that were never declared."""
    mech, q = rod()
    ends = [sr.Contact(name, row=f"{name}.tz", latch=True) for name in ("left", "right")]
    run = sr.simulate(mech, (0.0, 0.6), q, [0.5, 0, 0, 0, 0, 0], switches=ends, dt=2e-3)
    first, second = switches(run)
    assert first.closed == ("right",) and second.closed == ("left",)
    landed = [mech.pose(state, "rod").apply((0.5, 0, 0)) for state in (first.q, run.q[-1])]  # type: ignore[union-attr]
    np.testing.assert_allclose(landed[0], landed[1], atol=1e-9)
    assert run.energy[0] - run.energy[-1] == pytest.approx(run.energy_lost, abs=1e-8)
    assert np.abs(run.v[-1, [0, 1, 2, 4, 5]]).max() < 1e-9


def test_a_cable_goes_slack_and_taut() -> None:
    """A ball thrown up on a cable: Distance with side -1."""
    spec = sr.MechanismSpec(name="ball", length=1.0)
    spec.body("x", joint=sr.Prismatic("x"), mass=0.0)
    spec.body("ball", parent="x", joint=sr.Prismatic("z"), mass=1.0)
    spec.constrain("cable", sr.Distance("ground", (0, 0, 0), "ball", (0, 0, 0), 1.0))
    mech = spec.compile()
    start = np.array([0.3, -np.sqrt(1.0 - 0.09)])
    v = mech.consistent_velocity(start, [2.0, 0.0])
    v *= 5.0 / np.linalg.norm(v)
    run = sr.simulate(mech, (0.0, 1.5), start, v, switches=sr.Contact("cable", side=-1.0))
    events = switches(run)
    assert events[0].opened == ("cable",) and events[1].closed == ("cable",)
    slack = events[0]
    # the tension m v^2 / l + m g cos vanishes there
    assert slack.v @ slack.v == pytest.approx(G * slack.q[1], rel=1e-6)
    assert np.linalg.norm(run.q, axis=1).max() < 1.0 + 1e-9
    assert run.lam.max() < 1e-5


def test_a_walking_linkage_steps_onto_stops() -> None:
    mech, q = walker()
    treads = [sr.Contact("tread1"), sr.Contact("tread2")]
    loose = mech.with_constraints([n for n, _ in mech.model.constraints if not n.startswith("tread")])
    v = loose.consistent_velocity(q, fixed={"crank": 6.0, "step1": 0.0, "step2": 0.0})
    drive = lambda t, q, v: [60.0 * (6.0 - v[0])]  # noqa: E731
    options = {"control": drive, "control_dt": 2e-3, "dt": 2e-3}
    run = sr.simulate(mech, (0.0, 2.5), q, v, switches=treads, stops=True, **options)
    assert run.success, run.message
    events = switches(run)
    for tread in ("tread1", "tread2"):
        assert sum(tread in e.closed for e in events) >= 2
        assert sum(tread in e.opened for e in events) >= 2
        closed = run.active[:, run.active_names.index(tread)]
        gap = run.lam[:, mech.row_names.index(f"{tread}.ty")]
        assert gap[closed].min() > -1e-2 and np.abs(gap[~closed]).max() == 0.0
    assert run.drift.max() < 1e-10
    hits = [e.impact for e in events if e.impact]
    assert len(hits) >= 4 and all(hit.energy_lost == pytest.approx(hit.dissipated, abs=1e-9) for hit in hits)


def test_user_events_count_through_switches() -> None:
    mech = falling_mass()

    def high(t: float, q: np.ndarray, v: np.ndarray) -> float:
        return float(q[0]) - 0.5

    high.terminal = 3  # type: ignore[attr-defined]
    lift = lambda t, q, v: [40.0 if 0.6 < t < 1.3 else 0.0]  # noqa: E731
    options = {"control": lift, "control_dt": 0.1, "dt": 0.01}
    run = sr.simulate(mech, (0.0, 5.0), [1.0], [0.0], switches=sr.Contact("floor"), events=high, **options)
    crossings = [e for e in run.events if e.kind == "user"]
    assert len(crossings) == 3 and run.status == 1
    assert run.t[-1] == crossings[-1].t


def test_minimal_coordinates_between_switches() -> None:
    mech = two_bars()
    q, v = np.array([0.9, -1.7, 0.2]), np.array([0.5, 1.0, -2.0])
    options = {"switches": sr.Switch("pin", on=0.1, latch=True), "dt": 2e-3}
    full = sr.simulate(mech, (0.0, 0.2), q, v, **options)
    run = sr.simulate(mech, (0.0, 0.2), q, v, coordinates="tangent", **options)
    assert np.abs(full.q[-1] - run.q[-1]).max() < 1e-7


def test_times_that_were_asked_for() -> None:
    mech = falling_mass()
    times = np.linspace(0.0, 1.0, 11)
    run = sr.simulate(mech, (0.0, 1.0), [1.0], [0.0], switches=sr.Contact("floor"), t_eval=times)
    np.testing.assert_allclose(run.t, times, rtol=1e-14)
    np.testing.assert_allclose(run.q[run.t > 0.46], 0.0, atol=1e-12)
    assert run.at(0.25).q[0] == pytest.approx(1.0 - G * 0.25**2 / 2.0, abs=1e-6)


class TestBadInput:
    def start(self, given: object, **options: object) -> sr.Trajectory:
        return sr.simulate(two_bars(), (0.0, 0.3), [0.9, -1.7, 0.2], switches=given, **options)  # type: ignore[arg-type]

    def test_names_and_types(self) -> None:
        with pytest.raises(sr.UnknownNameError, match=r"unknown constraint 'pun'.*'pin'"):
            self.start(sr.Switch("pun", on=0.1))
        with pytest.raises(sr.InputError, match="Switch or Contact objects"):
            self.start(["pin"])
        with pytest.raises(sr.InputError, match="has two switches"):
            self.start([sr.Switch("pin", on=0.1), sr.Contact("pin")])
        with pytest.raises(sr.UnknownNameError, match=r"unknown row 'pin.qq'"):
            self.start(sr.Contact("pin", row="pin.qq"))

    def test_values(self) -> None:
        with pytest.raises(sr.InputError, match="never switches"):
            sr.Switch("pin")
        with pytest.raises(sr.InputError, match="side of Contact"):
            sr.Contact("pin", side=2.0)
        with pytest.raises(sr.InputError, match=r"on of Switch\('pin'\) must be a time"):
            sr.Switch("pin", on=np.nan)

    def test_contacts_that_start_inside(self) -> None:
        with pytest.raises(sr.InputError, match=r"contact 'floor' starts inside by 0\.5.*turn the side"):
            sr.simulate(falling_mass(), (0.0, 0.1), [-0.5], [0.0], switches=sr.Contact("floor"))

    def test_a_gap_that_is_left_stops_the_run(self) -> None:
        run = self.start(sr.Switch("pin", on=0.1))
        assert not run.success and "'pin' was to close there, but is open by" in run.message
        assert "latch=True" in run.message and run.t[-1] == 0.1

    def test_stops_need_limits(self) -> None:
        with pytest.raises(sr.InputError, match=r"no coordinate of 'two_bars' has limits"):
            self.start((), stops=True)

    def test_user_systems_cannot_switch(self) -> None:
        system = sr.CustomSystem(1, 1, M=np.eye(1))
        with pytest.raises(sr.InputError, match="need a Mechanism"):
            sr.simulate(system, (0.0, 1.0), switches=sr.Switch("x", on=0.5))

    def test_a_drive_that_contradicts(self) -> None:
        spec = sr.MechanismSpec(gravity=(0.0, 0.0, 0.0))
        spec.body("mass", joint=sr.Prismatic("x"), mass=1.0)
        spec.constrain("belt", sr.Drive("mass", lambda t: t, lambda t: 1.0, lambda t: 0.0))
        spec.constrain("brake", sr.Coupling({"mass": 1.0}))
        switch = sr.Switch("brake", on=0.5, latch=True)
        run = sr.simulate(spec.compile(), (0.0, 1.0), [0.0], [1.0], switches=switch)
        assert not run.success and "A drive contradicts what closes" in run.message


@pytest.mark.parametrize("method", ["auto", "dopri5", "radau"])
@pytest.mark.parametrize("limit", [0.1, 0.3, 0.45])
def test_no_method_steps_over_a_stop(limit: float, method: str) -> None:
    """A parabola of 0.5 m, so smooth that one step could take all of it, meets a stop on its way up."""
    spec = sr.MechanismSpec(gravity=(0, 0, -4.0))
    spec.body("ball", joint=sr.Prismatic("z"), mass=1.0, limits=(None, limit))
    mech = spec.compile()
    hit = (2.0 - np.sqrt(4.0 - 8.0 * limit)) / 4.0
    stopped = sr.simulate(mech, (0, 1.5), [0.0], [2.0], stops=True, method=method)
    assert stopped.q[-1, 0] == pytest.approx(limit - 2.0 * (1.5 - hit) ** 2, abs=1e-7)
    seen = sr.simulate(mech, (0, 1.5), [0.0], [2.0], events=[lambda t, q, v: q[0] - limit], method=method)
    assert [event.t for event in seen.events if event.kind == "user"] == pytest.approx([hit, 1.0 - hit])


@pytest.mark.parametrize("x", [0.3, 1 / 3, 0.5, 0.7])
def test_a_latch_that_is_released_stays_open(x: float) -> None:
    """It closes at q = x and opens at 1.5 s, where q - x is 0, 1e-16 or -1e-16."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("b", joint=sr.Prismatic("x"), mass=1.0)
    mech = spec.constrain("brake", sr.Coupling({"b": 1.0})).compile()

    def reached(t: float, q: np.ndarray, v: np.ndarray) -> float:
        return float(q[0] - x)

    reached.direction = 1  # type: ignore[attr-defined]
    brake = sr.Switch("brake", on=reached, off=1.5, latch=True)
    run = sr.simulate(mech, (0, 2), [0.0], [1.0], switches=[brake], tau=[1.0])
    assert len(switches(run)) == 2 and run.q[-1, 0] == pytest.approx(x + 0.125)


def brakes() -> sr.Mechanism:
    """Three masses that slide, two of them with brakes."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="brakes")
    for name in ("a", "b", "clock"):
        spec.body(name, joint=sr.Prismatic("x"), mass=1.0)
    for name in ("a", "b"):
        spec.constrain(f"brake_{name}", sr.Coupling({name: 1.0}))
    return spec.compile()


@pytest.mark.parametrize("factor", [1.0, 3.7, -0.1])
def test_switches_that_happen_at_one_time_all_act(factor: float) -> None:
    first = sr.Switch("brake_a", on=lambda t, q, v: q[2] - 0.3, latch=True)
    second = sr.Switch("brake_b", on=lambda t, q, v: factor * (q[2] - 0.3), latch=True)
    run = sr.simulate(brakes(), (0.0, 1.0), [0, 0, 0], [1.0, 2.0, 1.0], switches=[first, second])
    assert run.success and len(run.events) == 1 and set(run.events[0].closed) == {"brake_a", "brake_b"}
    assert run.v[-1] == pytest.approx([0.0, 0.0, 1.0], abs=1e-9)


def test_a_switch_acts_at_the_time_of_another_by_the_clock() -> None:
    by_function = sr.Switch("brake_a", on=lambda t, q, v: t - 0.5, latch=True)
    by_clock = sr.Switch("brake_b", on=0.5, latch=True)
    run = sr.simulate(brakes(), (0.0, 1.0), [0, 0, 0], [1.0, 2.0, 1.0], switches=[by_function, by_clock])
    assert run.success and run.v[-1] == pytest.approx([0.0, 0.0, 1.0], abs=1e-9)


def test_a_terminal_event_at_the_time_of_a_switch_ends_the_run() -> None:
    def reached(t: float, q: np.ndarray, v: np.ndarray) -> float:
        return float(q[2] - 0.3)

    reached.terminal = True  # type: ignore[attr-defined]
    switch = sr.Switch("brake_a", on=lambda t, q, v: q[2] - 0.3, latch=True)
    run = sr.simulate(brakes(), (0.0, 1.0), [0, 0, 0], [1.0, 0.0, 1.0], switches=[switch], events=reached)
    assert run.t[-1] == pytest.approx(0.3, abs=1e-9)


@pytest.mark.parametrize("end", [0.3, 0.5, 1.0])
def test_a_run_goes_on_after_a_switch_by_function_in_its_last_piece(end: float) -> None:
    """Compiled steps are ahead of the functions of switches: the run was at its end before it goes back."""
    late = sr.Switch("pin", on=lambda t, q, v: t - (end - 0.02), latch=True)
    run = sr.simulate(two_bars(), (0.0, end), [0.9, -1.7, 0.2], switches=late, method="rk4", dt=1e-3)
    assert run.success and run.t[-1] == end
    assert [event.closed for event in switches(run)] == [("pin",)]
