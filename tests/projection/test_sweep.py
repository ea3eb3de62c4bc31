"""Paths along one coordinate, on mechanisms whose path is known in closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sarrus as sr


def closed(mech: sr.Mechanism, path: sr.projection.sweep.Sweep) -> float:
    """Largest |phi| along a path."""
    return max(float(np.abs(mech.terms(q, np.zeros(mech.nv)).phi).max()) for q in path.q)


def test_a_crank_goes_all_the_way_round() -> None:
    mech = sr.library.four_bar()
    start = mech.default.q
    path = mech.sweep("crank", start[0] + np.linspace(0.0, 2 * math.pi, 40))
    assert path.success
    assert path.message == "Swept 'crank' through 40 values."
    assert closed(mech, path) < 1e-14
    np.testing.assert_allclose(path.q[:, 0], path.values, atol=0.0)
    np.testing.assert_allclose(np.cos(path.q[-1]), np.cos(path.q[0]), atol=1e-12)


def test_the_branch_is_kept_through_the_flat_pose_of_a_parallelogram() -> None:
    mech = sr.library.parallelogram()
    path = mech.sweep("left", np.linspace(0.7, 0.7 + 2 * math.pi, 61))
    assert path.success
    np.testing.assert_allclose(path.q[:, 1], -path.q[:, 0], atol=1e-12)


def test_the_branch_is_kept_when_a_value_is_the_singular_pose() -> None:
    mech = sr.library.parallelogram()
    path = mech.sweep("left", [math.pi / 2, 3 * math.pi / 4, math.pi, 5 * math.pi / 4])
    assert path.success
    np.testing.assert_allclose(path.q[:, 1], -path.q[:, 0], atol=1e-6)
    assert path.singular.tolist() == [False, False, True, False]


def test_large_steps_are_divided() -> None:
    mech = sr.library.slider_crank()
    path = mech.sweep("crank", [2 * math.pi / 3, 4 * math.pi / 3])
    assert path.success
    np.testing.assert_allclose(path.q[:, 1], 2 * math.pi - 2 * path.q[:, 0], atol=1e-12)


def test_a_dead_centre_is_reported_where_it_is() -> None:
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    bar = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": (0.1, 0.1, 0.1)}
    spec.body("crank", joint=sr.Revolute("z"), **bar)
    spec.body("rod", parent="crank", joint=sr.Revolute("z"), at=sr.Pose((0.4, 0, 0)), **bar)
    spec.body("piston", joint=sr.Prismatic("x"), mass=1.0)
    spec.close("pin", "rod", "piston", joint=sr.Revolute("z"), at_a=sr.Pose((1.0, 0, 0)))
    mech = spec.compile()
    start = mech.assemble([0.6, -0.8, 1.2], fixed={"crank": 0.6}).q
    path = mech.sweep("piston", np.linspace(start[2], 1.6, 30), q0=start)
    assert not path.success
    assert path.message.startswith("Stopped at 'piston' = 1.4 on the way to 1.4")
    assert 0 < len(path.q) < 30
    assert path.values[-1] <= 1.4
    assert closed(mech, path) < 1e-13


def test_a_path_may_start_at_a_singular_pose() -> None:
    mech = sr.library.five_bar()
    path = mech.sweep("link1", math.pi + np.linspace(0.0, 0.8, 9))
    assert path.success
    assert path.singular.tolist() == [True] + 8 * [False]
    assert closed(mech, path) < 1e-13


def test_redundant_freedoms_move_no_more_than_needed() -> None:
    mech = sr.library.dual_arm()
    path = mech.sweep(mech.names[0], mech.default.q[0] + np.linspace(0.0, 0.5, 6))
    assert path.success
    assert np.max(np.abs(np.diff(path.q, axis=0))) < 0.3


def test_no_start_is_said() -> None:
    mech = sr.library.four_bar()
    path = mech.sweep("rocker", [1e3 * math.pi + 0.1])
    assert not path.success
    assert path.q.shape == (0, 3)
    assert path.message.startswith("No start. Not assembled: 'pin'")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: sr.library.four_bar().sweep("krank", [0.0]),
            sr.UnknownNameError,
            "unknown coordinate 'krank'",
        ),
        (lambda: sr.library.four_bar().sweep("crank", []), sr.InputError, "at least one number"),
        (lambda: sr.library.four_bar().sweep("crank", [[], []]), sr.InputError, "at least one number"),
        (lambda: sr.library.four_bar().sweep("crank", [0.0, np.nan]), sr.InputError, "values must be finite"),
        (
            lambda: sr.library.rolling_disk().sweep("disc.wx", [0.0]),
            sr.InputError,
            "sweep: 'disc.wx' belongs to a Free joint",
        ),
        (lambda: wheel().sweep("rail", [0.0]), sr.InputError, r"velocities only \(rolling\)"),
    ],
)
def test_bad_input_is_refused(call: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()  # type: ignore[operator]


def wheel() -> sr.Mechanism:
    """A disc that rolls along a rail."""
    spec = sr.MechanismSpec()
    spec.body("rail", joint=sr.Prismatic("x"), mass=1.0, at=sr.Pose((0, 0, 0.5)))
    spec.body("disc", parent="rail", joint=sr.Revolute("y"), mass=1.0, inertia=(0.1, 0.1, 0.1))
    spec.constrain("ground", sr.Rolling("disc", 0.5, axis="y"))
    return spec.compile()


def scara() -> sr.Mechanism:
    """A five-bar that is no special case; its hinges on the ground are driven."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    h = spec.parameter("h", 0.9)
    for name, xyz in {"A": (0, 0), "B": (-0.2, 0.5), "P": (0.3, h), "C": (0.9, 0.5), "D": (0.6, 0)}.items():
        spec.point(name, (*xyz, 0))
    for name, one, two in (("ab", "A", "B"), ("bp", "B", "P"), ("cp", "C", "P"), ("dc", "D", "C")):
        spec.link(name, one, two, mass=1.0)
    ends = {
        "A": ("ground", "ab"),
        "B": ("ab", "bp"),
        "P": ("bp", "cp"),
        "C": ("cp", "dc"),
        "D": ("ground", "dc"),
    }
    for name, pair in ends.items():
        spec.joint(name, *pair, sr.Revolute("z"), at=name)
    spec.measure("tool", sr.Position("bp", "P"))
    return spec.compile()


def tool_of_scara(alpha: np.ndarray, delta: np.ndarray, h: float = 0.9) -> np.ndarray:
    """The upper intersection of two circles about B and C, whose cranks have turned by these angles."""

    def end(hinge: complex, drawn: complex, angle: np.ndarray) -> np.ndarray:
        return hinge + (drawn - hinge) * np.exp(1j * angle)

    B, C = end(0, -0.2 + 0.5j, alpha), end(0.6, 0.9 + 0.5j, delta)
    P = 0.3 + 1j * h
    r, s, d = abs(P - (-0.2 + 0.5j)), abs(P - (0.9 + 0.5j)), abs(C - B)
    x = (r**2 - s**2 + d**2) / (2 * d)
    return B + (C - B) / d * (x + 1j * np.sqrt(r**2 - x**2))


def test_several_coordinates_move_together_and_end_where_they_are_sent() -> None:
    mech = scara()
    alpha, delta = np.linspace(0.0, -0.5, 6), 0.25 * np.sin(np.linspace(0.0, 4.0, 6))
    path = mech.sweep({"A": alpha, "D": delta})
    assert path.success and path.coordinate == ("A", "D") and path.values.shape == (6, 2)
    np.testing.assert_allclose(path.q[:, mech.index("A").q][:, 0], alpha, atol=1e-15)
    tool = tool_of_scara(alpha, delta)
    np.testing.assert_allclose(path["tool"][:, :2], np.stack([tool.real, tool.imag], -1), atol=1e-12)
    np.testing.assert_allclose(path.curve("bp", "P"), path["tool"], atol=1e-15)
    assert "'A', 'D'" in path.message


def test_a_grid_has_all_combinations() -> None:
    mech, alpha, delta = scara(), np.linspace(0.3, -0.3, 4), np.linspace(-0.2, 0.4, 5)
    grid = mech.sweep({"A": alpha, "D": delta}, grid=True)
    assert grid.q.shape == (4, 5, 5) and grid.success.all() and grid.values.shape == (4, 5, 2)
    tool = tool_of_scara(*np.meshgrid(alpha, delta, indexing="ij"))
    np.testing.assert_allclose(grid["tool"][..., :2], np.stack([tool.real, tool.imag], -1), atol=1e-12)
    far = mech.sweep({"A": np.linspace(0.0, 2.5, 6), "D": np.linspace(0.0, -1.0, 5)}, grid=True)
    reached = np.isfinite(far.q).all(axis=-1)
    assert 0 < reached.sum() < reached.size and (far.reached == reached.sum(axis=1)).all()
    assert np.isfinite(far["tool"]).all(axis=-1).tolist() == reached.tolist()


def test_a_grid_of_each_variant() -> None:
    mech, alpha, delta = scara(), np.linspace(0.3, -0.3, 4), np.linspace(-0.2, 0.4, 5)
    height = np.array([0.9, 0.95, 1.05])
    grid = mech.sweep({"A": alpha, "D": delta}, grid=True, parameters={"h": height})
    assert grid.q.shape == (3, 4, 5, 5) and grid.success.all() and grid["tool"].shape == (3, 4, 5, 3)
    for i, h in enumerate(height):
        tool = tool_of_scara(*np.meshgrid(alpha, delta, indexing="ij"), h)
        np.testing.assert_allclose(grid["tool"][i, ..., :2], np.stack([tool.real, tool.imag], -1), atol=1e-12)
    np.testing.assert_allclose(grid.curve("bp", "P"), grid["tool"], atol=1e-14)
    frame = grid.to_dataframe()
    assert list(frame.index.names) == ["path0", "path1", "A", "D"] and len(frame) == 60
    part = mech.sweep({"A": [0.0, 1.5], "D": [0.0, -0.5, -1.5]}, grid=True, parameters={"h": [0.9, 1.4]})
    reached = np.isfinite(part.q).all(axis=-1)
    assert (part.reached == reached.sum(axis=-1)).all() and reached[1].sum() > reached[0].sum()


def test_a_path_of_several_ends_where_the_mechanism_is_stretched() -> None:
    mech = scara()
    path = mech.sweep({"A": [0.0, 1.5], "D": [0.0, -1.5]})
    assert not path.success and path.reached == 1 and "'A' = " in path.message
    share = float(path.message.split("'A' = ")[1].split()[0]) / 1.5
    B, C = (-0.2 + 0.5j) * np.exp(1.5j * share), 0.6 + (0.3 + 0.5j) * np.exp(-1.5j * share)
    stretched, folded = abs(0.5 + 0.4j) + abs(0.6 - 0.4j), abs(0.6 - 0.4j) - abs(0.5 + 0.4j)
    assert min(abs(abs(C - B) - stretched), abs(abs(C - B) - folded)) < 1e-4


def test_tables_and_plots_of_sweeps() -> None:
    pytest.importorskip("pandas")
    mech = scara()
    path = mech.sweep({"A": [0.0, 0.1, 0.2], "D": [0.0, 0.1, 0.0]})
    table = path.to_dataframe()
    assert list(table.index.names) == ["A", "D"] and "tool[1]" in table and len(table) == 3
    np.testing.assert_array_equal(table["tool[1]"], path["tool"][:, 1])
    grid = mech.sweep({"A": [0.0, 0.1], "D": [0.0, 0.1, 0.2]}, grid=True).to_dataframe()
    assert list(grid.index.names) == ["path", "A", "D"] and len(grid) == 6
    single = sr.library.slider_crank().sweep("crank", [0.2, 0.3]).to_dataframe()
    assert single.index.name == "crank" and list(single.index) == [0.2, 0.3]
    assert len(path.plot()) == 1 and path.plot("q").get_xlabel() == "A [rad]"
    curve = path.plot_curve("bp", "P").lines[-1].get_xydata()
    np.testing.assert_allclose(curve, path["tool"][:, :2])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.sweep({"A": [0.0, 1.0], "D": [0.0, 1.0, 2.0]}), "as many values each.*grid=True"),
        (lambda m: m.sweep({"A": [0.0, 1.0]}, [0.0]), "not both"),
        (lambda m: m.sweep("A"), "got no values"),
        (lambda m: m.sweep(np.zeros(2), [0.0]), "takes the name of a coordinate"),
        (lambda m: m.sweep({}), "at least one coordinate"),
        (lambda m: m.sweep({"A": [0.0, 1.0], "D": [[0.0], [1.0]]}, grid=True), r"one list \(n,\)"),
        (lambda m: m.sweep({"A": [0.0], "D": [0.0]}, fixed={"D": 0.0}), "swept and cannot be held"),
        (lambda m: m.sweep("A", [0.0])["height"], "unknown measure"),
        (lambda m: m.sweep("A", [[0.0], [0.1]]).plot(), r"choose one of a batch: sweep\[i\]"),
    ],
)
def test_bad_sweeps_of_several_are_refused(call: object, message: str) -> None:
    with pytest.raises(sr.SarrusError, match=message):
        call(scara())


def crank_rocker(less: float) -> sr.Mechanism:
    """2.3 + 3.2 = 3 + 2.5 m is a change point; a shorter crank turns all the way round without one."""
    crank, coupler, rocker, base = 2.3 - less, 3.0, 2.5, 3.2
    hinge, spec = sr.Revolute("z"), sr.MechanismSpec(gravity=(0, 0, 0))
    bar = {"mass": 1.0, "inertia": (1.0, 1.0, 1.0)}
    spec.body("crank", joint=hinge, **bar)
    spec.body("coupler", "crank", joint=hinge, at=sr.Pose((crank, 0, 0)), **bar)
    spec.body("rocker", joint=hinge, at=sr.Pose((base, 0, 0)), **bar)
    ends = {"at_a": sr.Pose((coupler, 0, 0)), "at_b": sr.Pose((rocker, 0, 0))}
    return spec.close("pin", "coupler", "rocker", joint=hinge, **ends).compile()


@pytest.mark.parametrize("less", [1e-7, 1e-6, 1e-5, 1e-4, 1e-2])
def test_the_branch_is_kept_past_a_near_change_point(less: float) -> None:
    """Coupler and rocker keep their side, the sign of the sine between them, in steps of 10 degrees."""
    mech = crank_rocker(less)
    q = mech.assemble([1.1, -0.5, 1.5], fixed={"crank": 1.1}).q
    path = mech.sweep("crank", 1.1 + np.radians(np.arange(0.0, 381.0, 10.0)), q)
    side = np.sin(path.q[:, 2] - path.q[:, 0] - path.q[:, 1])
    assert path.success and np.all(side * side[0] > 0.0)
    np.testing.assert_allclose(np.cos(path.q[36]), np.cos(path.q[0]), atol=1e-9)  # a whole turn


def test_change_points_are_still_passed() -> None:
    mech = crank_rocker(0.0)
    q = mech.assemble([1.1, -0.5, 1.5], fixed={"crank": 1.1}).q
    path = mech.sweep("crank", 1.1 + np.radians(np.arange(0.0, 381.0, 10.0)), q)
    side = np.sin(path.q[:, 2] - path.q[:, 0] - path.q[:, 1])
    assert path.success and side[0] * side[-1] < 0.0
