"""Events at which measures reach values, against functions of the user's and closed forms."""

import numpy as np
import pytest

import sarrus as sr


def pendulum() -> sr.Mechanism:
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    spec.point("tip", (1, 0, 0)).link("rod", (0, 0, 0), "tip", mass=1.0)
    spec.joint("pin", "ground", "rod", sr.Revolute("z"), at=(0, 0, 0))
    spec.measure("tip", sr.Position("rod", "tip")).measure("angle", sr.Angle("ground", "rod"))
    spec.measure("load", sr.Reaction("pin", frame="world")).measure("mine", lambda q, v, t: [q[0], v[0]])
    spec.actuate("pin")
    return spec.compile()


def test_a_position_reaches_a_value_where_a_function_says_so() -> None:
    mech = pendulum()

    def height(t: float, q: np.ndarray, v: np.ndarray) -> float:
        return float(np.sin(q[0])) + 0.4

    run = sr.simulate(mech, (0, 2), events=[mech.event("tip[1]", -0.4, direction=-1), height])
    ours = [event.t for event in run.events if event.name == "tip[1] = -0.4"]
    theirs = [event.t for event in run.events if event.name == "height"]
    np.testing.assert_allclose(
        ours, [t for t in theirs if run.at(t).v[0] * np.cos(run.at(t).q[0]) < 0], atol=1e-9
    )
    assert len(ours) >= 1 and len(theirs) > len(ours)


def test_an_angle_counts_whole_turns_and_no_jumps() -> None:
    mech = pendulum().with_(gravity=(0, 0, 0))
    run = sr.simulate(mech, (0, 1.05), v0=[4.5 * np.pi], events=mech.event("angle", 0.5 * np.pi))
    np.testing.assert_allclose([event.t for event in run.events], [1 / 9, 5 / 9, 1.0], atol=1e-8)
    assert not sr.simulate(mech, (0, 0.9), v0=[np.pi], events=mech.event("angle", -0.1)).events  # not at pi


def test_a_reaction_with_the_control_of_the_run_ends_it() -> None:
    """A rod that is turned faster and faster: the pin pulls with m r omega^2."""
    mech = pendulum().with_(gravity=(0, 0, 0))

    def control(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array([2.0])

    mech.event("load[0]", 3.0, control=control)
    event = mech.event("mine[1]", 3.0, terminal=True)
    run = sr.simulate(mech, (0, 5), control=control, events=event)
    inertia = mech.mass_matrix(mech.default.q)[0, 0]
    assert run.t[-1] == pytest.approx(3.0 * inertia / 2.0, rel=1e-8) and run.status == 1
    pull = mech.event("load[5]", 0.0, control=control)(0.0, np.zeros(1), np.zeros(1))
    assert pull == pytest.approx(2.0)  # the motor's torque goes through the joint


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("tip", 0.0, "name one of them: 'tip.0.'"),
        ("tip[3]", 0.0, "3 number"),
        ("angle[1]", 0.0, "1 number"),
        ("height", 0.0, "unknown measure 'height'"),
        ("angle", np.nan, "finite"),
        (3, 0.0, "unknown measure"),
    ],
)
def test_bad_events_are_refused(name: str, value: float, message: str) -> None:
    with pytest.raises(sr.SarrusError, match=message):
        pendulum().event(name, value)
