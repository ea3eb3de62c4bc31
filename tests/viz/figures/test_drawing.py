"""Drawings: lines on the axes are where the mechanism is, and follow it."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.viz.figures.drawing import Drawing
from sarrus.viz.scenes.boxes import ROUND, body_boxes

MASS = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)}


def segments(ax: Any) -> list[list[list[float]]]:
    """End points of all lines of two points."""
    lines = [np.array(line.get_data()).T for line in ax.lines if len(line.get_xdata()) == 2]
    return [np.round(line, 9).tolist() for line in lines if not np.allclose(line[0], line[1])]


def test_bars_are_where_the_mechanism_is() -> None:
    mech = sr.library.four_bar()
    ax = mech.plot()
    tips = [mech.pose(mech.default.q, name).xyz[:2] for name in ("coupler", "rocker")]
    wanted = [[[0, 0], tips[0]], [tips[0], tips[1]], [tips[1], [1, 0]]]
    drawn = segments(ax)
    for bar in np.round(np.array(wanted), 9).tolist():
        assert bar in drawn
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x [m]", "y [m]")
    assert ax.get_aspect() == 1.0


def test_another_pose_on_given_axes() -> None:
    from matplotlib import pyplot as plt

    mech = sr.library.four_bar()
    q = mech.assemble(mech.default.q, fixed={"crank": 1.4}).q
    _, given = plt.subplots()
    ax = sr.viz.draw(mech, q, given, color="k", alpha=0.3, masses=False, ground=False)
    assert ax is given
    crank = np.round([[0.0, 0.0], mech.pose(q, "coupler").xyz[:2]], 9).tolist()
    assert crank in segments(ax)
    assert {line.get_alpha() for line in ax.lines} == {0.3}
    assert len(ax.lines) == 4  # three bars and their pins


def test_both_axes_may_be_shared() -> None:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, sharex=True, sharey=True)
    for ax in axes:
        sr.library.five_bar().plot(ax=ax)
    figure.draw_without_rendering()


def test_names_and_ground() -> None:
    ax = sr.library.four_bar(closure="pin").plot(labels=True)
    assert [text.get_text() for text in ax.texts] == ["crank", "coupler", "rocker"]
    supports = [line for line in ax.lines if line.get_markersize() > 20]
    assert np.array(supports[0].get_data()).T.tolist() == [
        [0, 0],
        [1, 0],
    ]  # a line seen from its end is a pin


@pytest.mark.parametrize("name", sr.library.MECHANISMS)
def test_all_of_the_library_can_be_drawn(name: str) -> None:
    mech = sr.library.MECHANISMS[name]()
    ax = mech.plot()
    assert len(ax.lines) + len(ax.collections) > 0
    ax.figure.draw_without_rendering()


def test_drawings_follow_the_mechanism_in_space() -> None:
    mech = sr.library.stewart()
    q = np.stack([mech.default.q, mech.assemble(fixed={"piston1": 0.1}).q])
    drawing = Drawing(mech, q)
    before = [np.array(line.get_data_3d()) for line in drawing.ax.lines]
    drawing.move(1)
    after = [np.array(line.get_data_3d()) for line in drawing.ax.lines]
    assert any(not np.allclose(a, b) for a, b in zip(before, after, strict=True))
    drawing.move(0)
    for line, data in zip(drawing.ax.lines, before, strict=True):
        np.testing.assert_array_equal(np.array(line.get_data_3d()), data)


def test_plates_and_faces_follow_too() -> None:
    mech = sr.library.three_rrr()
    q = np.stack([mech.default.q, mech.assemble(mech.default.q, fixed={mech.names[0]: 0.2}).q])
    drawing = Drawing(mech, q)
    (face,) = drawing.ax.patches
    before = face.get_xy().copy()
    drawing.move(1)
    assert not np.allclose(face.get_xy(), before)


def test_limits_that_hold_all_poses() -> None:
    fall = sr.simulate(sr.library.pendulum(), (0.0, 1.5), dt=5e-3)
    drawing = Drawing(fall.system, fall.q)
    drawing.fit()
    (x0, x1), (y0, y1) = drawing.ax.get_xlim(), drawing.ax.get_ylim()
    tips = np.array([np.cos(fall.q[:, 0]), np.sin(fall.q[:, 0])])
    assert x0 < tips[0].min() and tips[0].max() < x1
    assert y0 < tips[1].min() and tips[1].max() < y1


def test_rails_reach_the_slider_and_springs_their_ends() -> None:
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    spec.body("cart", joint=sr.Prismatic("x"), **MASS)
    spec.body("pole", "cart", joint=sr.Revolute("z"), com=(0, 1.0, 0), **MASS)
    spec.force("spring", sr.PointSpring("ground", (-1, 0, 0), "cart", (0, 0, 0), 10.0))
    mech = spec.compile()
    drawing = Drawing(mech, [[2.0, 0.0], [-3.0, 0.0]])
    rail = next(s for s in segments(drawing.ax) if s[0][1] == s[1][1] == 0.0 and s[1][0] > 2.0)
    assert rail[0][0] < -3.0
    zigzag = next(np.array(line.get_data()).T for line in drawing.ax.lines if len(line.get_xdata()) > 8)
    np.testing.assert_allclose(zigzag[[0, -1]], [[-1, 0], [2, 0]], atol=1e-12)
    assert np.abs(zigzag[:, 1]).max() > 0.05


def test_planes_have_rails_in_space() -> None:
    spec = sr.MechanismSpec()
    spec.body("ball", joint=sr.Free(), **MASS)
    spec.constrain("table", sr.PointOnPlane("ground", (0, 0, 0), "ball", (0, 0, 0), "z"))
    ax = spec.compile().plot(masses=False)
    assert len(ax.lines) == 3  # two lines of the plane, and the pin


def test_wrong_axes_and_wrong_shapes_are_refused() -> None:
    from matplotlib import pyplot as plt

    _, flat = plt.subplots()
    with pytest.raises(
        sr.InputError, match=r"'stewart' moves in space: draw it on axes made with projection='3d'"
    ):
        sr.library.stewart().plot(ax=flat)
    mech = sr.library.five_bar()
    with pytest.raises(sr.InputError, match=r"draw shows one pose: q must have shape \(4,\), got \(2, 4\)"):
        mech.plot(np.zeros((2, 4)))


def test_planar_mechanisms_can_be_drawn_in_space() -> None:
    from matplotlib import pyplot as plt

    ax = plt.figure().add_subplot(projection="3d")
    sr.library.five_bar().plot(ax=ax)
    assert ax.get_zlabel() == "z [m]"


def test_without_matplotlib_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(sr.InputError, match=r"needs the package matplotlib.*pip install 'sarrus\[viz\]'"):
        sr.library.five_bar().plot()


def test_a_held_box_has_its_edges() -> None:
    """All twelve, between corners half an edge away from its middle; it moves with the run."""
    mech = sr.library.dual_arm_box()
    corners = body_boxes(mech)["box"].corners()
    np.testing.assert_allclose(np.abs(corners), np.tile([0.1, 0.15, 0.2], (8, 1)), atol=1e-12)
    pairs = {frozenset(pair) for pair in itertools.pairwise(ROUND)}
    lengths = sorted(float(np.linalg.norm(np.subtract(*corners[list(pair)]))) for pair in pairs)
    np.testing.assert_allclose(lengths, [0.2] * 4 + [0.3] * 4 + [0.4] * 4, atol=1e-12)
    lifted = mech.assemble(np.array(mech.default.q), fixed={"left2": 0.4}).q
    drawing = Drawing(mech, [mech.default.q, lifted])
    drawing.move(1)
    (edges,) = (
        line for line in drawing.ax.lines if line.get_linewidth() == 1.5 and line.get_linestyle() == "-"
    )
    wanted = [mech.pose(lifted, "box").apply(corner) for corner in corners[list(ROUND)]]
    np.testing.assert_allclose(np.transpose(edges.get_data_3d()), wanted, atol=1e-12)


def test_bodies_are_solids_where_the_lines_are() -> None:
    """Pixels along each bar are coloured, and pointing there gives the name of the body; sticks have none."""
    mech = sr.library.four_bar()
    ax = mech.plot(masses=False)
    ax.figure.canvas.draw()
    (artist,) = (a for a in ax.get_children() if type(a).__name__ == "Solids")
    for body, length in (("crank", 0.3), ("coupler", 0.9), ("rocker", 0.7)):
        middle = mech.pose(mech.default.q, body).apply((0.5 * length, 0.0, 0.0))[:2]
        x, y = ax.transData.transform(middle)
        event = SimpleNamespace(x=x, y=y)
        assert artist.contains(event)[0]
        assert artist.format_cursor_data(artist.get_cursor_data(event)) == body
    assert not artist.contains(SimpleNamespace(x=ax.bbox.x0 + 2, y=ax.bbox.y1 - 2))[0]
    for how in ({"look": "sticks"}, {"alpha": 0.5}, {"color": "k"}):
        assert "Solids" not in {type(a).__name__ for a in mech.plot(**how).get_children()}
    with pytest.raises(sr.InputError, match="look must be 'solid' or 'sticks', got 'wire'"):
        mech.plot(look="wire")


def test_limits_hold_the_solids_in_space() -> None:
    mech = sr.library.double_wishbone()
    ax = mech.plot()
    low, high = np.array([ax.get_xlim(), ax.get_ylim(), ax.get_zlim()]).T
    from sarrus.viz.scenes.scene import Scene

    scene = Scene(mech, np.atleast_2d(mech.default.q))
    assert np.all(low <= scene.low + 1e-3) and np.all(scene.high - 1e-3 <= high)


def test_loads_have_values_and_frames_their_axes() -> None:
    ax = sr.library.double_wishbone().plot()
    assert [text.get_text() for text in ax.texts] == ["road: 3500 N"]
    assert not sr.library.double_wishbone().plot(loads=False).texts
    mech = sr.library.four_bar()
    more = len(mech.plot(frames=True).lines) - len(mech.plot().lines)
    assert more == 3 * len(mech.body_names)


@pytest.mark.parametrize("tight", [None, "tight"])
def test_solids_lie_on_their_axes_in_vector_files(tight: str | None, tmp_path: Path) -> None:
    """The picture of the solids in an SVG file is as large as the axes, at their place."""
    ax = sr.library.four_bar().plot()
    path = tmp_path / "x.svg"
    ax.figure.savefig(path, bbox_inches=tight, dpi=150)
    text = path.read_text()
    image = re.search(r"<image [^>]*>", text)
    axes = re.search(r'id="patch_2">\s*<path d="M ([\d.]+) [\d.]+ \s*L ([\d.]+) [\d.]+ ', text)
    assert image is not None and axes is not None
    left, right = map(float, axes.groups())
    given = dict(re.findall(r'\b(x|width)="([-\d.]+)"', image[0]))
    assert float(given["width"]) == pytest.approx(right - left, abs=1.0)
    assert float(given["x"]) == pytest.approx(left, abs=1.0)
