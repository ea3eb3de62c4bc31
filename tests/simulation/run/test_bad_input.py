"""Bad arguments to `simulate`: one clear error each, read here."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sarrus as sr

MECH = sr.library.slider_crank()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"t_span": (1.0, 0.0)}, r"t_span must run forward, start before end, got \(1, 0\)"),
        ({"t_span": (0.0, 0.0)}, r"t_span must run forward"),
        ({"t_span": (0.0, math.nan)}, r"t_span must be two finite times"),
        ({"t_span": (-math.inf, 0.0)}, r"t_span must be two finite times"),
        ({"t_span": 5.0}, r"t_span must be a pair .*for T seconds write \(0, T\)"),
        ({"t_span": ("now", "then")}, r"t_span must be two finite times"),
        ({"dt": 0.0}, r"dt must be a finite positive number, got 0\.0"),
        ({"dt": -1e-3}, r"dt must be a finite positive number"),
        ({"dt": math.nan}, r"dt must be a finite positive number"),
        ({"dt": "small"}, r"dt must be a finite positive number, got 'small'"),
        ({"dt": 1e-20}, r"below the resolution of time"),
        ({"rtol": 0.0}, r"rtol must be a finite positive number"),
        ({"atol": -1.0}, r"atol must be a finite positive number"),
        ({"method": "leapfrog"}, r'method must be one of "rk4", "semi_implicit_euler", "dopri5".*leapfrog'),
        (
            {"correction": "hope"},
            r'correction must be one of "none", "project", "baumgarte", "soft"; got .hope',
        ),
        ({"formulation": "magic"}, r'must be one of "nullspace".*got .magic'),
        ({"coordinates": "polar"}, r"coordinates must be"),
        ({"t_eval": [0.5, 0.2]}, r"t_eval must be a list of increasing times"),
        ({"t_eval": [0.5, 2.0]}, r"t_eval must lie within t_span = \(0, 1\), got times from 0\.5 to 2"),
        ({"t_eval": [math.nan]}, r"t_eval must be finite"),
        ({"store_every": 0}, r"store_every must be a whole number of steps, at least 1"),
        ({"control": 3.0}, r"control must be a callable control\(t, q, v\) -> u"),
        ({"control_dt": 0.1}, r"without control"),
        ({"control": lambda t, q, v: [0, 0], "control_dt": 0.0}, r"control_dt must be a finite positive"),
        ({"tau": [1.0]}, r"tau must have shape \(2,\)"),
        ({"tau": [math.nan, 0.0]}, r"tau must be finite"),
        ({"tau": np.zeros((3, 2))}, r"tau must have shape \(2,\), got \(3, 2\)"),
        ({"external": [1.0]}, r"external must be a mapping \{body: wrench or function of t\}"),
        ({"external": {"wheel": np.zeros(6)}}, r"unknown body 'wheel'; existing names: 'ground', 'crank'"),
        ({"external": {"rod": np.zeros(3)}}, r"external wrench on 'rod' .* must have shape \(6,\)"),
        ({"external": {"rod": np.zeros((2, 6))}}, r"external wrench on 'rod' must have shape \(6,\), got"),
        ({"baumgarte": (1.0, 1.0)}, r'baumgarte gains are for correction="baumgarte" only'),
        ({"baumgarte": (1.0, -1.0), "correction": "baumgarte"}, r"baumgarte gains .* must not be negative"),
        ({"baumgarte": (1.0,), "correction": "baumgarte"}, r"baumgarte .* must have shape \(2,\)"),
        ({"projection_metric": "taxicab"}, r'projection_metric must be "mass" or "euclidean"'),
        (
            {"projection_metric": "euclidean", "correction": "none"},
            r'projection_metric is for correction="proj',
        ),
        (
            {"projection_metric": "euclidean", "coordinates": "tangent"},
            r"projection_metric .* full coordinates",
        ),
        ({"projection_metric": "euclidean", "method": "radau"}, r"works with projection_metric='mass' only"),
        ({"softness": 1e-3}, r'softness is for correction="soft" only'),
        ({"softness": -1.0, "correction": "soft"}, r"softness must be positive"),
        (
            {"formulation": "lagrange", "correction": "soft"},
            r"damps the inverse of J, which .*lagrange.* take",
        ),
        ({"chart_rule": "mood"}, r'chart_rule must be "quality" or "condition"'),
        ({"chart_rule": "condition"}, r"are for runs in minimal coordinates; give coordinates="),
        ({"chart_thresholds": (0.7, 0.6), "coordinates": "tangent"}, r"0 < leave <= enter < 1; got"),
        (
            {"chart_thresholds": (5, 9), "chart_rule": "condition", "coordinates": "tangent"},
            r"1 < enter <= leave; got",
        ),
        ({"events": 3}, r"events must be a function g\(t, q, v\) or several"),
        ({"events": [3]}, r"events\[0\] must be a function"),
        ({"events": lambda t, q, v: None}, r"event 'event 0' must return a finite number .* got None"),
        ({"events": lambda t, q, v: "no"}, r"must return a finite number .* got 'no'"),
        ({"events": lambda t, q, v: q}, r"must return a finite number"),
        ({"events": lambda t, q, v: math.nan}, r"must return a finite number .* got nan at t = 0 s"),
        ({"q0": [1.0]}, r"q0 must have shape \(2,\)"),
        ({"q0": [math.nan, 0.0]}, r"q0 must be finite"),
        ({"v0": [1.0, 2.0, 3.0]}, r"v0 must have shape \(2,\)"),
        ({"energy": True, "tau": [1.0, 0.0]}, r"conservative systems only, but here tau does work"),
        ({"energy": True, "control": lambda t, q, v: [0, 0]}, r"here control does work"),
        ({"energy": True, "correction": "none"}, r'correction is "none", not "project"'),
    ],
)
def test_the_message_says_what_is_wrong(arguments, said):
    arguments = {"t_span": (0.0, 1.0), **arguments}
    with pytest.raises(sr.SarrusError, match=said):
        sr.simulate(MECH, **arguments)


def test_events_with_strange_attributes():
    def event(t, q, v):
        return 1.0

    event.terminal = -1
    with pytest.raises(sr.InputError, match=r"terminal of event 'event' must be a bool or a number"):
        sr.simulate(MECH, (0.0, 1.0), events=event)
    event.terminal, event.direction = True, "up"
    with pytest.raises(sr.InputError, match=r"direction of event 'event' must be a number \(-1, 0 or 1\)"):
        sr.simulate(MECH, (0.0, 1.0), events=event)


def test_a_pose_that_does_not_close_is_offered_assembly():
    with pytest.raises(sr.InputError) as caught:
        sr.simulate(MECH, (0.0, 1.0), [2.0, 2.0])
    said = str(caught.value)
    assert "'slider_crank' at t = 0 s" in said and "|phi| is 0.152 m" in said
    assert "'slider.ty'" in said and "system.assemble(q0).q" in said
    q = MECH.assemble([2.0, 2.0]).q
    assert sr.simulate(MECH, (0.0, 0.01), q).success


def test_a_velocity_off_the_constraints_is_offered_a_consistent_one():
    with pytest.raises(sr.InputError) as caught:
        sr.simulate(MECH, (0.0, 1.0), v0=[2.0, 2.0])
    assert "|J v - b| is 3" in str(caught.value) and "consistent_velocity(q0, v0)" in str(caught.value)
    v = MECH.consistent_velocity(MECH.default.q, [2.0, 2.0])
    assert sr.simulate(MECH, (0.0, 0.01), v0=v).success


def test_small_gaps_are_closed_without_asking():
    """Six digits of a pose are a pose; the first state is on the constraints all the same."""
    run = sr.simulate(MECH, (0.0, 0.01), np.round(MECH.default.q, 7))
    assert run.drift[0] <= 1e-12


def test_what_is_no_system():
    with pytest.raises(sr.InputError, match=r"got a MechanismSpec; compile it: spec\.compile\(\)"):
        sr.simulate(sr.MechanismSpec(), (0.0, 1.0))
    with pytest.raises(sr.InputError, match=r"a Mechanism or a CustomSystem, got str"):
        sr.simulate("robot.xml", (0.0, 1.0))


def test_a_mechanism_without_actuators_cannot_be_controlled():
    spec = sr.MechanismSpec()
    spec.body("top", joint=sr.Free(), mass=1.0, inertia=(1.0, 1.0, 1.0))
    with pytest.raises(sr.InputError, match=r"no actuators .* spec\.actuate"):
        sr.simulate(spec.compile(), (0.0, 1.0), control=lambda t, q, v: [])


@pytest.mark.parametrize(
    ("name", "said"),
    [("andrews", "constant wrenches do work"), ("flyball_governor", "damping")],
)
def test_energy_is_kept_in_conservative_systems_only(name, said):
    with pytest.raises(sr.InputError, match=said):
        sr.simulate(sr.library.MECHANISMS[name](), (0.0, 1.0), energy=True)


def test_energy_of_driven_and_user_systems_is_not_kept():
    spec = sr.MechanismSpec()
    spec.body("wheel", joint=sr.Revolute("z"), mass=1.0, inertia=(1.0, 1.0, 1.0))
    spec.constrain("motor", sr.Drive("wheel", lambda t: t))
    with pytest.raises(sr.InputError, match="drives do work"):
        sr.simulate(spec.compile(), (0.0, 1.0), energy=True)
    with pytest.raises(sr.InputError, match="supplies its own terms"):
        sr.simulate(sr.CustomSystem(1, 1, M=[[1.0]]), (0.0, 1.0), energy=True)
    with pytest.raises(sr.InputError, match="external wrenches need bodies"):
        sr.simulate(sr.CustomSystem(1, 1, M=[[1.0]]), (0.0, 1.0), external={"q0": np.zeros(6)})


def test_numbers_of_steps_beyond_64_bits_keep_the_first_and_the_last():
    run = sr.simulate(sr.library.pendulum(), (0.0, 0.1), method="rk4", dt=1e-2, store_every=2**70)
    assert run.t.tolist() == [0.0, 0.1]


@pytest.mark.parametrize("fixed", [["crank"], "crank", 0.3, ("crank", 0.3)])
def test_held_coordinates_are_a_mapping(fixed):
    mech = sr.library.four_bar()
    with pytest.raises(sr.InputError, match="fixed must be a mapping"):
        mech.assemble(fixed=fixed)
    with pytest.raises(sr.InputError, match="fixed must be a mapping"):
        mech.consistent_velocity(mech.default.q, fixed=fixed)


def test_masked_states_are_refused():
    q0 = np.ma.masked_array([0.1, 0.2, 0.3], mask=[False, True, False])
    with pytest.raises(sr.InputError, match="masked values"):
        sr.simulate(sr.library.four_bar(), (0.0, 0.1), q0)
    with pytest.raises(sr.InputError, match="masked values"):
        sr.library.four_bar().mass_matrix(q0)


def test_samples_far_beyond_the_end() -> None:
    """One sample for the whole run; control_dt / dt overflows."""
    control = {"control": lambda t, q, v: [0.0], "control_dt": 1e308}
    run = sr.simulate(sr.library.four_bar(), (0.0, 0.01), dt=1e-3, **control)
    assert run.success and len(run) == 11
