"""Charts that users write: theorem 2.3.1 of [Spencer2004], its pendulum, and the K of its 2.4.1."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr
from sarrus.projection.user_chart import UserChart

G = 9.81


@pytest.fixture(scope="module")
def pendulum() -> sr.CustomSystem:
    """The pendulum of 2.3 in Cartesian coordinates, one row."""
    return sr.CustomSystem(
        2,
        2,
        M=np.eye(2),
        h=np.array([0.0, G]),
        phi=lambda q, v, t: np.array([q @ q - 1.0]),
        J=lambda q, v, t: 2.0 * q[None],
        gamma=lambda q, v, t: np.array([-2.0 * v @ v]),
        potential=lambda q, v, t: G * q[1],
    )


def test_the_pendulum_passes_the_points_where_its_chart_fails(pendulum: sr.CustomSystem) -> None:
    """y = q1 does not determine the pose at q2 = 0: another chart takes over there, and says so."""
    q, v = np.array([0.6, -0.8]), 4.0 * np.array([0.8, 0.6])
    full = sr.simulate(pendulum, (0.0, 2.0), q, v, dt=1e-2)
    chart = sr.Chart(lambda q, y: q[:1] - y, 1, name="q1")
    run = sr.simulate(pendulum, (0.0, 2.0), q, v, dt=1e-2, coordinates=chart)
    assert np.abs(full.q[:, 1]).min() < 2e-2  # it goes through
    assert np.abs(run.q - full.q).max() < 1e-4
    changes = [event for event in run.events if event.kind == "chart"]
    assert [event.note for event in changes] == ["tangent space", "q1", "tangent space"]
    assert all(abs(event.q[1]) < 0.75 for event in changes)
    assert run.drift.max() < 1e-12


def test_one_chart_after_the_other(pendulum: sr.CustomSystem) -> None:
    """Two charts of the user's cover the circle between them."""
    q, v = np.array([0.6, -0.8]), 4.0 * np.array([0.8, 0.6])
    charts = [sr.Chart(lambda q, y: q[:1] - y, 1, name="q1"), sr.Chart(lambda q, y: q[1:] - y, 1, name="q2")]
    run = sr.simulate(pendulum, (0.0, 1.0), q, v, dt=1e-2, coordinates=charts)
    notes = [event.note for event in run.events if event.kind == "chart"]
    assert notes[0] == "q2"
    full = sr.simulate(pendulum, (0.0, 1.0), q, v, dt=1e-2)
    assert np.abs(run.q - full.q).max() < 1e-4


def end_error(
    system: sr.CustomSystem | sr.Mechanism, q: np.ndarray, v: np.ndarray, **options: object
) -> float:
    """Largest error of q at the end of one second, against dopri5 in full coordinates at rtol = 1e-12."""
    right = sr.simulate(system, (0.0, 1.0), q, v, method="dopri5", rtol=1e-12, atol=1e-13)
    run = sr.simulate(system, (0.0, 1.0), q, v, method="rk4", **options)
    assert run.success
    return float(np.abs(run.q[-1] - right.q[-1]).max())


@pytest.mark.parametrize("given", [["q1", "q2"], ["q1"], ["q2"]])
def test_charts_on_a_circle_are_left_in_time(pendulum: sr.CustomSystem, given: list[str]) -> None:
    """Left at 0.6 of the best quality, the chart's error is 13.2, 13.0 and 4.7 times that of the library's
    coordinates on these three starts; kept until 0.1 it was 20,000 times as large on the first two."""
    charts = {
        "q1": sr.Chart(lambda q, y: q[:1] - y, 1, name="q1"),
        "q2": sr.Chart(lambda q, y: q[1:] - y, 1, name="q2"),
    }
    q, v = np.array([0.6, -0.8]), 5.0 * np.array([0.8, 0.6])
    error = end_error(pendulum, q, v, dt=1e-2, coordinates=[charts[name] for name in given])
    assert error < 20.0 * end_error(pendulum, q, v, dt=1e-2, coordinates="tangent")


@pytest.mark.parametrize("name", ["crank", "coupler", "rocker"])
def test_a_chart_that_turns_back_is_left_in_time(name: str) -> None:
    """The rocker of a crank-rocker stands still twice a turn."""
    mech = sr.library.four_bar(gravity=0.0)
    q = np.array(mech.default.q)
    v = mech.consistent_velocity(q, fixed={"crank": 6.0})
    error = end_error(mech, q, v, dt=1e-2, coordinates=[name])
    assert error < 10.0 * end_error(mech, q, v, dt=1e-2, coordinates="tangent")


def test_a_nonlinear_chart(pendulum: sr.CustomSystem) -> None:
    """The angle, given implicitly, is good everywhere."""
    q, v = np.array([0.6, -0.8]), 4.0 * np.array([0.8, 0.6])
    chart = sr.Chart(lambda q, y: [q[0] * np.cos(y[0]) + q[1] * np.sin(y[0])], 1, y0=[0.6], name="angle")
    run = sr.simulate(pendulum, (0.0, 1.0), q, v, dt=1e-2, coordinates=chart)
    full = sr.simulate(pendulum, (0.0, 1.0), q, v, dt=1e-2)
    assert not [event for event in run.events if event.kind == "chart"]
    assert np.abs(run.q - full.q).max() < 1e-5


def parallel_four_bar() -> sr.MechanismSpec:
    """The parallel robot of figure 2.4: q1 on its own, q2, q3, q4 in series, tips pinned together."""
    spec = sr.MechanismSpec(gravity=(0.0, -G, 0.0))
    hinge, long, short = sr.Revolute("z"), 0.7, 0.4
    bar = {"mass": 1.0, "inertia": (0.0, 0.02, 0.02)}
    spec.body("q1", joint=hinge, com=(long / 2, 0.0, 0.0), **bar)
    spec.body("q2", joint=hinge, com=(short / 2, 0.0, 0.0), **bar)
    spec.body("q3", parent="q2", joint=hinge, at=sr.Pose((short, 0, 0)), com=(long / 2, 0, 0), **bar)
    spec.body("q4", parent="q3", joint=hinge, at=sr.Pose((long, 0, 0)), com=(short / 2, 0, 0), **bar)
    spec.close("A", "q1", "q4", joint=sr.Spherical(), at_a=sr.Pose((long, 0, 0)), at_b=sr.Pose((short, 0, 0)))
    return spec


def test_k_of_the_parallelogram() -> None:
    """K is constant, [Spencer2004] 2.4.1, and is the derivative of Psi."""
    mech = parallel_four_bar().compile()
    K = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -1.0], [-1.0, 1.0]])
    chart = sr.Chart(lambda q, y: q[:2] - y, 2)
    for q1, q2 in ((1.1, 0.2), (2.0, -0.4)):
        q = np.array([q1, q2, q1 - q2, q2 - q1 - np.pi])
        assert mech.assemble(q).residual < 1e-12
        N = mech.decompose(q).N
        np.testing.assert_allclose(N @ np.linalg.inv(N[:2]), K, atol=1e-12)
        used = UserChart(mech.evaluator, chart)
        used.begin(q)
        y = np.array([q1, q2, 0.0, 0.0])
        columns = []
        for step in 1e-3 * np.eye(4)[:2]:
            columns.append((used.state(y + step, 0.0)[0] - used.state(y - step, 0.0)[0]) / 2e-3)
        np.testing.assert_allclose(np.array(columns).T, K, atol=1e-10)
        rate = used.state(np.array([q1, q2, 0.3, -0.7]), 0.0)[1]
        np.testing.assert_allclose(rate, K @ [0.3, -0.7], atol=1e-12)


def test_names_of_coordinates() -> None:
    mech = parallel_four_bar().compile()
    q = np.array([1.1, 0.2, 0.9, -0.9 - np.pi])
    full = sr.simulate(mech, (0.0, 0.3), q, dt=4e-3)
    run = sr.simulate(mech, (0.0, 0.3), q, dt=4e-3, coordinates=["q1", "q2"])
    assert np.abs(full.q - run.q).max() < 1e-7


class TestBadInput:
    def start(self, coordinates: object, **options: object) -> sr.Trajectory:
        return sr.simulate(sr.library.four_bar(), (0.0, 0.01), coordinates=coordinates, **options)  # type: ignore[arg-type]

    def test_unknown(self) -> None:
        with pytest.raises(sr.InputError, match=r'coordinates must be one of "full", "partition"'):
            self.start("polar")
        with pytest.raises(sr.UnknownNameError, match=r"unknown coordinate 'crunk'.*Did you mean 'crank'"):
            self.start(["crunk"])

    def test_too_many_coordinates(self) -> None:
        with pytest.raises(sr.InputError, match="2 coordinates, and the mechanism 1 degrees of freedom"):
            self.start(["crank", "rocker"])

    def test_first_condition_of_the_theorem(self) -> None:
        with pytest.raises(sr.InputError, match=r"eq\. \(2\.27\)"):
            self.start(sr.Chart(lambda q, y: 0.0 * y, 1))

    def test_second_condition_of_the_theorem(self) -> None:
        with pytest.raises(sr.InputError, match=r"eq\. \(2\.28\): y does not determine the pose"):
            self.start(sr.Chart(lambda q, y: y - 1.0, 1))

    def test_no_place_for_rolling(self) -> None:
        chart = sr.Chart(lambda q, y: q[:3] - y, 3)
        with pytest.raises(sr.InputError, match="restrict velocities only"):
            sr.simulate(sr.library.rolling_disk(), (0.0, 0.1), coordinates=chart)

    def test_functions_of_a_chart(self) -> None:
        with pytest.raises(sr.InputError, match="R of a Chart must be a function"):
            sr.Chart(3.0, 1)  # type: ignore[arg-type]
        with pytest.raises(sr.InputError, match="n of a Chart must be a positive whole number"):
            sr.Chart(lambda q, y: y, 0)
        with pytest.raises(sr.InputError, match=r"R of chart 'bad' must return finite numbers"):
            self.start(sr.Chart(lambda q, y: [1.0, 2.0], 1, name="bad"))

    def test_a_chart_that_fails_during_the_run_stops_it(self) -> None:
        calls = {"n": 0}

        def R(q: np.ndarray, y: np.ndarray) -> np.ndarray:
            calls["n"] += 1
            if calls["n"] > 4000:
                raise RuntimeError("out of paper")
            return q[:1] - y

        run = sr.simulate(sr.library.four_bar(), (0.0, 1.0), coordinates=sr.Chart(R, 1))
        assert not run.success and "out of paper" in run.message and len(run) > 3

    def test_corrections_have_no_place(self) -> None:
        with pytest.raises(sr.InputError, match="stay on the constraints by themselves"):
            self.start("tangent", correction="baumgarte")
        with pytest.raises(sr.InputError, match="coordinates='full' only"):
            self.start("tangent", method="radau")


def test_a_matrix_is_answered_with_the_chart_that_means_it() -> None:
    mech = sr.library.four_bar()
    with pytest.raises(sr.InputError, match=r"combinations y = R q are Chart"):
        sr.simulate(mech, (0.0, 0.01), coordinates=np.eye(3)[:1])


def test_charts_without_names_are_told_apart() -> None:
    """One that cannot be used at the start does not speak for the others; events and messages count them."""
    pendulum = sr.CustomSystem(2, 2, M=np.eye(2), h=[0.0, 9.81], phi=lambda q, v, t: [q @ q - 1.0])
    x, y = (sr.Chart(lambda q, y, i=i: [q[i] - y[0]], 1) for i in (0, 1))
    named = [sr.Chart(one.R, 1, name=name) for one, name in ((x, "x"), (y, "y"))]
    runs = [
        sr.simulate(pendulum, (0.0, 1.0), [0.0, -1.0], [7.0, 0.0], coordinates=charts, dt=1e-3)
        for charts in ([x, y], named)
    ]
    assert all(run.success for run in runs) and np.array_equal(runs[0].q, runs[1].q)
    said = [[event.name for event in run.events if event.kind == "chart"] for run in runs]
    assert len(said[0]) == len(said[1]) > 0
    for ours, theirs in zip(*said, strict=True):
        assert ours.replace("chart 1", "x").replace("chart 2", "y") == theirs
    with pytest.raises(sr.InputError, match=r"chart 'chart 1': .*; chart 'chart 2': "):
        sr.simulate(pendulum, (0.0, 1.0), [0.0, -1.0], [7.0, 0.0], coordinates=[y, y], dt=1e-3)
