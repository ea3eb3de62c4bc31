"""Plots over time: the lines are the arrays of the trajectory, events are marked where they happened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.viz.figures.trajectory import PANELS


def curves(ax: Any) -> dict[str, np.ndarray]:
    return {str(line.get_label()): np.array(line.get_data()) for line in ax.lines}


def test_a_field_is_drawn_column_by_column(fall: sr.Trajectory) -> None:
    ax = fall.plot("v")
    drawn = curves(ax)
    for k, name in enumerate(fall.system.names):
        np.testing.assert_array_equal(drawn[name], [fall.t, fall.v[:, k]])
    assert ax.get_xlabel() == "t [s]" and "rad/s" in ax.get_ylabel()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(fall.system.names)


def test_events_are_marked(fall: sr.Trajectory) -> None:
    (event,) = fall.events
    ax = fall.plot("energy")
    np.testing.assert_allclose(curves(ax)["_singular pose"][0], event.t)
    np.testing.assert_array_equal(curves(ax)["energy"][1], fall.energy - fall.energy[0])


def test_users_events_look_different() -> None:
    run = sr.simulate(sr.library.pendulum(), (0.0, 0.8), dt=1e-2, events=lambda t, q, v: np.cos(q[0]))
    line = next(line for line in run.plot("q").lines if line.get_label() == "_event 0")
    assert line.get_color() != "#c1121f"


def test_singular_values_show_the_dip(fall: sr.Trajectory) -> None:
    ax = fall.plot("singular_values")
    smallest = curves(ax)["s2"]
    assert np.all(np.diff(smallest[0]) >= 0.0) and len(smallest[0]) == len(fall.t) + 1
    assert smallest[1].min() < 1e-6 < fall.singular_values.min()
    assert ax.get_yscale() == "log"


def test_the_default_is_one_panel_for_each_that_exists(fall: sr.Trajectory) -> None:
    axes = fall.plot()
    assert [ax.get_ylabel().split(" [")[0] for ax in axes] == [
        "q",
        "energy since start",
        "drift",
        "singular values of J",
        "constraint force",
    ]
    assert len(sr.simulate(sr.library.pendulum(), (0.0, 0.1), dt=1e-2).plot()) == 2
    axes[0].figure.draw_without_rendering()


@pytest.mark.parametrize("name", PANELS)
def test_every_panel_can_be_drawn(name: str, fall: sr.Trajectory) -> None:
    from matplotlib import pyplot as plt

    _, given = plt.subplots()
    ax = sr.viz.plot(fall, name, given)
    assert ax is given and ax.lines and ax.get_ylabel()
    ax.figure.draw_without_rendering()


def test_several_panels_share_their_time(fall: sr.Trajectory) -> None:
    axes = fall.plot(("rank", "u"))
    assert len(axes) == 2 and axes[0].get_shared_x_axes().joined(*axes)


def test_quaternions_are_plotted_by_index() -> None:
    spec = sr.MechanismSpec()
    spec.body("cart", joint=sr.Prismatic("x"), mass=1.0)
    spec.body("top", "cart", joint=sr.Spherical(), mass=1.0, inertia=(1, 1, 2))
    run = sr.simulate(spec.compile(), (0.0, 0.1), dt=1e-2)
    assert list(curves(run.plot("q")))[:5] == ["cart", "q[1]", "q[2]", "q[3]", "q[4]"]


def test_systems_given_as_functions_and_trajectories_without_their_system(tmp_path: Path) -> None:
    system = sr.CustomSystem(2, 2, M=np.eye(2), h=lambda q, v, t: q, phi=lambda q, v, t: [q[0] - q[1]])
    run = sr.simulate(system, (0.0, 0.2), [1.0, 1.0], dt=1e-2)
    assert list(curves(run.plot("v")))[:2] == list(system.names)
    alone = sr.Trajectory.load(run.save(tmp_path / "run.npz"))
    assert alone.system is None
    assert list(curves(alone.plot("v")))[:2] == ["v[0]", "v[1]"]
    assert len(alone.plot()) == 2


def test_wrong_requests_are_refused(fall: sr.Trajectory) -> None:
    with pytest.raises(sr.UnknownNameError, match="plot: unknown quantity 'speed'; existing names: 'q', 'v'"):
        fall.plot("speed")
    with pytest.raises(sr.UnknownNameError, match="unknown quantity 'speed'"):
        fall.plot(["q", "speed"])
    with pytest.raises(sr.InputError, match="nothing to plot: name at least one of 'q', 'v'"):
        fall.plot([])
    with pytest.raises(sr.InputError, match="plot takes ax for a single quantity only"):
        fall.plot(["q", "v"], ax=fall.plot("q"))


def test_measures_are_plotted_by_name() -> None:
    spec = sr.MechanismSpec().body("rod", joint=sr.Revolute("z"), mass=1.0, com=(1, 0, 0), inertia=(0, 1, 1))
    spec.measure("tip", sr.Position("rod", (2, 0, 0))).measure("pin", sr.Reaction("rod"))
    run = sr.simulate(
        spec.measure("square", lambda q, v, t: q[0] ** 2).compile(), (0, 0.1), v0=[1.0], dt=0.01
    )
    tip, square, pin = run.plot(["tip", "square", "pin"])
    assert tip.get_ylabel() == "tip [m]" and [line.get_label() for line in tip.lines] == ["x", "y", "z"]
    np.testing.assert_array_equal(tip.lines[1].get_ydata(), run["tip"][:, 1])
    assert square.get_ylabel() == "square" and len(pin.lines) == 6
    with pytest.raises(sr.UnknownNameError, match="'tip', 'pin', 'square'"):
        run.plot("tap")


def test_units_have_panels_of_their_own() -> None:
    """A cart with a pole: metres and radians, newtons and newton metres are never on one axis."""
    spec = sr.MechanismSpec()
    spec.body("cart", joint=sr.Prismatic("x"), mass=1.0)
    spec.body("pole", "cart", joint=sr.Revolute("y"), mass=1.0, com=(0, 0, 1), inertia=(0.1, 0.1, 0))
    spec.constrain("stay", sr.Distance("ground", (0, 0, 3), "pole", (0, 0, 1), 2.0))
    run = sr.simulate(spec.compile(), (0.0, 0.1), dt=1e-2)
    axes = run.plot(["q", "v", "lam", "constraint_force"])
    labels = [ax.get_ylabel() for ax in axes]
    assert labels == [
        "q [m]", "q [rad]", "v [m/s]", "v [rad/s]", "multipliers [N]", "constraint force [N]",
        "constraint force [N m]",
    ]  # fmt: skip
    assert [next(iter(curves(ax))) for ax in axes[:4]] == ["cart", "pole", "cart", "pole"]
    assert run.plot("q").get_ylabel() == "q [rad, m]"


def test_stacks_name_what_varies_most() -> None:
    run = sr.simulate(sr.library.net(3), (0.0, 0.05), dt=5e-3)
    ax = run.plot("constraint_force")
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    spread = np.ptp(run.constraint_force, axis=0)
    largest = {run.system.names[i] for i in np.argsort(-spread)[:8]}
    assert set(texts) == largest | {f"{run.system.nv - 8} more"}
    assert len(ax.lines) >= run.system.nv
