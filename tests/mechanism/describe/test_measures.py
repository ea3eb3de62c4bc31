"""Measures by name: geometry by hand, forces by virtual work, rates by differences along a run."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sarrus as sr


def engine(**more: Any) -> sr.MechanismSpec:
    """A slider-crank: crank 0.2 m, rod 0.5 m, a spring on the piston, a rod of fixed length to a lever."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    spec.point("A", (0, 0, 0)).point("B", (0.2, 0, 0)).point("C", (0.7, 0, 0)).point("wall", (1.2, 0, 0))
    spec.link("crank", "A", "B", mass=1.0).link("rod", "B", "C", mass=0.5)
    spec.part("piston", at=sr.Pose((0.7, 0, 0)), mass=0.3)
    spec.joint("turn", "ground", "crank", sr.Revolute("z"), at="A")
    spec.joint("big_end", "crank", "rod", sr.Revolute("z"), at="B")
    spec.joint("small_end", "rod", "piston", sr.Revolute("z"), at="C")
    spec.joint("bore", "ground", "piston", sr.Prismatic("x"), at="C")
    spec.force("spring", sr.PointSpring("piston", "C", "ground", "wall", 300.0, 0.4, damping=2.0))
    spec.actuate("turn")
    spec.measure("stroke", sr.Length("ground", "A", "piston", "C"))
    spec.measure("swing", sr.Angle("ground", "rod"))
    spec.measure("pin", sr.Position("crank", "B"))
    spec.measure("pin speed", sr.Speed("crank", "B"))
    spec.measure("pull", sr.ForceIn("spring"))
    spec.measure("torque", sr.ForceIn("turn"))
    spec.measure("side", sr.Reaction("bore", "world"))
    spec.measure("sum", lambda q, v, t: q[0] + 10 * t)
    return spec


def test_coordinates_by_name() -> None:
    """Of joints that carry and of joints that were cut, beyond a turn, with their derivatives."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    r = spec.parameter("r", 0.2)
    spec.point("A", (0, 0, 0)).point("B", (r, 0, 0)).point("C", (0.5 + r, 0, 0))
    spec.link("crank", "A", "B", mass=1.0).link("rod", "B", "C", mass=0.5)
    spec.part("piston", at=sr.Pose((0.5 + r, 0, 0)), mass=0.3)
    spec.joint("turn", "ground", "crank", sr.Revolute("z"), at="A")
    spec.joint("big_end", "crank", "rod", sr.Revolute("z"), at="B")
    spec.joint("small_end", "rod", "piston", sr.Revolute("z"), at="C")
    spec.joint("bore", "ground", "piston", sr.Prismatic("x"), at="C")
    for name in ("turn", "bore"):
        spec.measure(name, sr.Coordinate(name))
    mech = spec.compile()
    turn = np.linspace(0.0, 8.0, 9)
    swept = mech.sweep("turn", turn)
    np.testing.assert_array_equal(swept["turn"], turn)
    stroke = 0.2 * np.cos(turn) + np.sqrt(0.25 - (0.2 * np.sin(turn)) ** 2) - 0.7
    np.testing.assert_allclose(swept["bore"], stroke, atol=1e-12)
    slope = mech.parameter_derivatives(swept.q[1], fixed=["turn"]).measures["r"]
    s = 0.2 * np.sin(1.0)
    assert slope["bore"] == pytest.approx(
        np.cos(1.0) - s * np.sin(1.0) / np.sqrt(0.25 - s**2) - 1.0, abs=1e-9
    )
    assert slope["turn"] == 0.0
    with pytest.raises(sr.errors.UnknownNameError, match=r"unknown coordinate 'bor'.*Did you mean 'bore'"):
        spec.measure("x", sr.Coordinate("bor")).compile()


def test_geometry_and_springs_by_hand() -> None:
    mech = engine().compile()
    q = mech.assemble(fixed={"turn": 0.6}).q
    found = mech.measure(q)
    swing = -np.arcsin(0.2 * np.sin(0.6) / 0.5)
    stroke = 0.2 * np.cos(0.6) + 0.5 * np.cos(swing)
    assert found["stroke"] == pytest.approx(stroke, abs=1e-12)
    assert found["swing"] == pytest.approx(swing, abs=1e-12)
    np.testing.assert_allclose(found["pin"], [0.2 * np.cos(0.6), 0.2 * np.sin(0.6), 0], atol=1e-12)
    np.testing.assert_allclose(found["pin speed"], 0.0)
    assert found["pull"] == pytest.approx(300.0 * (1.2 - stroke - 0.4), abs=1e-9)
    assert found["torque"] == 0.0
    assert found["sum"] == q[0]
    assert mech.measure(q, u=[2.5])["torque"] == 2.5


def test_batches_and_runs() -> None:
    mech = engine().compile()
    v0 = np.zeros(mech.nv)
    v0[mech.index("turn").v] = 20.0
    run = sr.simulate(mech, (0.0, 1.0), v0=mech.consistent_velocity(mech.default.q, v0))
    assert run.success
    assert abs(run["swing"]).max() < 0.5
    tip = run["pin"]
    for k in (0, 5, len(run.t) - 1):
        one = mech.measure(run.q[k], run.v[k], run.t[k])
        for name in ("stroke", "pin", "pin speed", "pull", "sum"):
            np.testing.assert_allclose(run[name][k], one[name], atol=1e-12)
        np.testing.assert_allclose(run["side"][k], one["side"], atol=1e-7 * (1 + np.abs(one["side"]).max()))
    np.testing.assert_array_equal(run.reaction("bore", "world"), run["side"])
    table = run.to_dataframe()
    np.testing.assert_array_equal(table["pin[1]"], tip[:, 1])
    np.testing.assert_array_equal(table["stroke"], run["stroke"])
    rate = np.gradient(tip, run.t, axis=0, edge_order=2)
    size = np.abs(run["pin speed"]).max()
    np.testing.assert_allclose(
        rate[2:-2], run["pin speed"][2:-2], atol=0.05 * size
    )  # second-order differences
    both = mech.measure(run.q[:6].reshape(2, 3, -1), run.v[:6].reshape(2, 3, -1))
    assert both["stroke"].shape == (2, 3) and both["pin"].shape == (2, 3, 3)


def test_angles_go_on_beyond_pi_along_a_run() -> None:
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("wheel", joint=sr.Revolute("z"), mass=1.0, inertia=(1, 1, 1))
    spec.measure("turned", sr.Angle("ground", "wheel")).measure(
        "about x", sr.Angle("ground", "wheel", "x", direction_b="z")
    )
    run = sr.simulate(spec.compile(), (0.0, 2.0), [0.0], [10.0])
    np.testing.assert_allclose(run["turned"], 10.0 * run.t, atol=1e-9)
    assert spec.compile().measure([4.0])["turned"] == pytest.approx(4.0 - 2 * np.pi)


def test_forces_in_rods_couplings_and_drives() -> None:
    """A weight on a rod: tension is positive. A drive that holds a weight: its force by virtual work."""
    spec = sr.MechanismSpec(gravity=(0, 0, -9.81))
    spec.body("weight", joint=sr.Prismatic("z"), at=sr.Pose((0, 0, -1.0)), mass=2.0)
    spec.constrain("rod", sr.Distance("ground", (0, 0, 0), "weight", (0, 0, 0), 1.0))
    spec.body("hoist", joint=sr.Prismatic("z"), mass=3.0).constrain(
        "lift", sr.Drive("hoist", lambda t: 0.5 * t**2)
    )
    spec.measure("tension", sr.ForceIn("rod")).measure("lifting", sr.ForceIn("lift"))
    mech = spec.compile()
    found = mech.measure([0.0, 0.0])
    assert found["tension"] == pytest.approx(2.0 * 9.81, rel=1e-12)
    assert found["lifting"] == pytest.approx(3.0 * (9.81 + 1.0), rel=1e-9)
    run = sr.simulate(mech, (0.0, 0.5))
    np.testing.assert_allclose(run["lifting"], 3.0 * 10.81, rtol=1e-8)


def test_springs_and_dampers_on_coordinates() -> None:
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("x", joint=sr.Prismatic("x"), mass=1.0)
    spec.force("s", sr.JointSpring("x", 50.0, 0.1)).force("d", sr.JointDamper("x", 3.0))
    spec.measure("s", sr.ForceIn("s")).measure("d", sr.ForceIn("d"))
    mech = spec.compile()
    found = mech.measure([0.3], [2.0])
    assert found == {"s": pytest.approx(10.0), "d": pytest.approx(6.0)}
    assert mech.acceleration([0.3], [2.0], [0.0])[0] == pytest.approx(-16.0)


def test_reactions_of_a_pendulum_by_hand() -> None:
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    spec.link("bar", (0, 0, 0), (1, 0, 0), mass=2.0).joint(
        "pivot", "ground", "bar", sr.Revolute("z"), at=(0, 0, 0)
    )
    spec.measure("pivot", sr.Reaction("pivot", "world"))
    mech = spec.compile()
    lift = mech.measure([0.0])["pivot"]  # released horizontally: a quarter of the weight
    np.testing.assert_allclose(lift, [0, 2.0 * 9.81 / 4, 0, 0, 0, 0], atol=1e-12)
    run = sr.simulate(mech, (0, 0.5))
    np.testing.assert_allclose(run["pivot"][-1], mech.measure(run.q[-1], run.v[-1])["pivot"], atol=1e-9)


def driven_slide(**given: Any) -> sr.MechanismSpec:
    """2 kg up a vertical slide, with a measure of the force along it."""
    spec = sr.MechanismSpec(gravity=(0, 0, -9.81)).body("lift", joint=sr.Prismatic("z"), mass=2.0, **given)
    return spec.measure("push", sr.ForceIn("lift"))


def test_force_along_a_coordinate_is_that_of_drives_and_inputs() -> None:
    """m (g + a): by a Drive, by one of a multiple of the coordinate, by one beside an input."""
    for factor in (1.0, 2.0):
        spec = driven_slide()
        spec.constrain("screw", sr.Drive({"lift": factor}, lambda t, c=factor: c * t * t))
        run = sr.simulate(spec.compile(), (0, 0.1))
        np.testing.assert_allclose(run["push"], 2.0 * 11.81, rtol=1e-9)
        helped = sr.simulate(spec.compile(), (0, 0.1), tau=[5.0])
        np.testing.assert_allclose(helped["push"], 2.0 * 11.81, rtol=1e-9)


def test_force_along_a_coordinate_that_nothing_drives_warns() -> None:
    spec = driven_slide(friction=50.0, friction_model="coulomb")
    spec.force("spring", sr.JointSpring("lift", 10.0))
    mech = spec.compile()
    with pytest.warns(sr.SarrusWarning, match=r"nothing drives 'lift'.*names of its own: 'spring'\."):
        assert sr.simulate(mech, (0, 0.01))["push"][-1] == 0.0
    assert mech.measure([0.0], u=[3.0])["push"] == 3.0


def test_measures_are_kept(tmp_path: Path) -> None:
    spec = engine()
    spec._measures.pop("sum")  # functions cannot be written
    mech = spec.compile()
    sr.save(mech, tmp_path / "engine.json")
    q = mech.default.q
    for copy in (
        sr.load(tmp_path / "engine.json"),
        pickle.loads(pickle.dumps(mech)),
        mech.with_(mass={"rod": 1.0}),
    ):
        assert list(copy.measure(q)) == ["stroke", "swing", "pin", "pin speed", "pull", "torque", "side"]
        assert copy.measure(q)["stroke"] == pytest.approx(mech.measure(q)["stroke"])


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (lambda: sr.Length("rod", (0, 0, 0), "rod", (1, 0, 0)), "two different bodies"),
        (lambda: sr.Length("rood", (0, 0, 0), "rod", (1, 0, 0)), "measure 'm'.*'rood'"),
        (lambda: sr.Position("rod", "Z"), "measure 'm'.*'Z'"),
        (lambda: sr.Angle("ground", "rod", axis="x", direction_a="x"), "must not be parallel"),
        (lambda: sr.ForceIn("nothing"), "measure 'm'.*'nothing'.*'spring'"),
        (lambda: sr.Reaction("nothing"), "measure 'm'.*'nothing'.*'bore'"),
        (lambda: sr.Reaction("bore", "C"), "frame of Reaction must be one of"),
        (lambda: 3, "must be one of"),
        (lambda: lambda q: q, "must be a function of"),
    ],
)
def test_bad_measures(measure: Any, message: str) -> None:
    with pytest.raises(sr.SarrusError, match=message):
        engine().measure("m", measure()).compile()


def test_reactions_with_external_wrenches_are_refused() -> None:
    mech = engine().compile()
    run = sr.simulate(mech, (0, 0.01), external={"rod": [1.0, 0, 0, 0, 0, 0]})
    with pytest.raises(sr.InputError, match="external wrenches"):
        run["side"]
    assert run["pull"].shape == run.t.shape


def test_bad_names_and_values() -> None:
    mech = engine().compile()
    run = sr.simulate(mech, (0, 0.01))
    with pytest.raises(sr.UnknownNameError, match="'stroke'"):
        run["strok"]
    with pytest.raises(sr.ModelError, match="exists already"):
        engine().measure("stroke", sr.Position("rod"))
    wrong = engine().measure("m", lambda q, v, t: q[99]).compile()
    with pytest.raises(sr.InputError, match=r"measure 'm'.*IndexError"):
        wrong.measure(wrong.default.q)
    none = {name: np.shape(x) for name, x in mech.measure(np.zeros((0, mech.nq))).items()}
    assert none["side"] == (0, 6) and none["stroke"] == (0,)
    odd = engine().measure("m", lambda q, v, t: "text").compile()
    with pytest.raises(sr.InputError, match="measure 'm': its function must return a number"):
        odd.measure(odd.default.q)


def door(second: Any) -> sr.MechanismSpec:
    """20 kg, its centre 0.4 m out, on two hinges 1.6 m apart."""
    spec = sr.MechanismSpec(gravity=(0, 0, -9.81))
    spec.part("door", mass=20.0, com=(0.4, 0, 0.8), inertia=(1, 1, 1))
    spec.joint("low", "ground", "door", sr.Revolute("z"), at=(0, 0, 0))
    spec.joint("high", "ground", "door", second, at=(0, 0, 1.6))
    return spec.measure("low", sr.Reaction("low", "world"))


def test_loads_that_a_rigid_model_does_not_determine_warn() -> None:
    """Two hinges of a door may share its weight in any way; a hinge and a ball that may slide may not."""
    twice = door(sr.Revolute("z")).compile()
    with pytest.warns(sr.SarrusWarning, match=r"measure 'low': redundant rows.*reaction_unique"):
        twice.measure(twice.default.q)
    motion = twice.forward_dynamics(twice.default.q, twice.default.v)
    assert motion.reaction_unique("low").tolist() == [False] * 5 + [True]
    pairs = np.stack([twice.default.q] * 2)
    assert twice.forward_dynamics(pairs, 0 * pairs).reaction_unique("low").shape == (2, 6)
    mech = engine().compile()  # planar loads through hinges in space: the redundant entries carry nothing
    with warnings.catch_warnings():
        warnings.simplefilter("error", sr.SarrusWarning)
        mech.measure(mech.assemble(fixed={"turn": 0.6}).q)


def test_open_poses_are_measured_with_a_warning() -> None:
    mech = sr.library.peaucellier()
    q = np.array(mech.default.q)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mech.measure(q)
    q[0] += 0.1
    with pytest.warns(sr.SarrusWarning, match=r"leaves '.*' open by .* m: .* mech.assemble"):
        mech.measure(q)
    with pytest.warns(sr.SarrusWarning, match="pose number 1 to measure"):
        mech.measure(np.array([mech.default.q, q]))


def test_angles_between_few_states() -> None:
    """Turns of hinges are those of their coordinates, however far apart the states are that were kept."""
    mech = sr.library.four_bar()
    crank = mech.names[0]
    spec = sr.formats.json.spec_of(mech)
    mech = spec.measure("angle", sr.Angle("ground", "crank")).compile()
    q = mech.default.q
    v = mech.consistent_velocity(q, fixed={crank: 100.0})
    run = sr.simulate(mech, (0.0, 2.0), q, v, t_eval=np.linspace(0.0, 2.0, 11))
    assert np.ptp(run["angle"]) == pytest.approx(np.ptp(run.q[:, 0]), rel=1e-12)


def test_angles_of_a_body_that_spins_freely() -> None:
    """10 rad/s about a principal axis: nothing limits the steps but the turns themselves."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("a", joint=sr.Free(), mass=1.0, inertia=(1.0, 2.0, 2.5)).measure(
        "angle", sr.Angle("ground", "a")
    )
    mech, times = spec.compile(), np.linspace(0.0, 2.0, 41)
    for kept in ({"t_eval": times}, {}, {"method": "radau", "t_eval": times}, {"method": "dopri5"}):
        run = sr.simulate(mech, (0.0, 2.0), v0=[0, 0, 0, 0, 0, 10.0], **kept)
        assert run["angle"] == pytest.approx(10.0 * run.t, abs=1e-9)


def test_turns_that_cannot_be_counted_are_said() -> None:
    """A body that starts to spin and stops again between the only two states that were kept."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("a", joint=sr.Spherical(), mass=1.0, inertia=(1.0, 1.0, 1.0))
    mech = spec.measure("angle", sr.Angle("ground", "a")).compile()
    run = sr.simulate(mech, (0.0, 1.0), tau=lambda t, q, v: [0, 0, 60.0 * (1 - 2 * t)], t_eval=[0.0, 1.0])
    with pytest.warns(sr.SarrusWarning, match="whole turns may be miscounted"):
        run["angle"]
