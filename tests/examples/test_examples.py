"""The demo and the gallery run, return the numbers of the papers and of laws, and leave a picture."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from tests.studio_kernel import needs_kernel

plt = pytest.importorskip("matplotlib.pyplot")

ROOT = Path(__file__).parents[2]
GALLERY = sorted((ROOT / "examples" / "gallery").glob("*.py"))

# [Spencer2004] example 2: when all bars lie in one line; the same to 1e-5 s for steps of 0.25 to 2 ms
FIRST, SECOND = 0.65081514, 1.853791


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, float]]:
    """Run a script's main in an empty folder; it must leave the picture, and the page, that it names."""
    monkeypatch.chdir(tmp_path)

    def run_one(script: str, **how: Any) -> dict[str, float]:
        module = runpy.run_path(str(ROOT / "examples" / script))
        result: dict[str, float] = module["main"](**how)
        named = {module[name] for name in ("PICTURE", "PAGE") if name in module}
        assert {path.relative_to(tmp_path) for path in tmp_path.glob("out/*")} == named
        assert all(path.stat().st_size > 20_000 for path in named)
        return result

    return run_one


def test_the_demo(run: Callable[..., dict[str, float]], capsys: pytest.CaptureFixture[str]) -> None:
    found = run("demo.py")
    assert found["drift"] < 1e-12
    assert found["energy_error"] < 1e-5
    assert found["first_singular"] == pytest.approx(FIRST, abs=1e-7)
    assert found["rank"] == 1
    assert found["speed"] > 1.0
    printed = capsys.readouterr().out
    assert (
        len(printed.splitlines()) <= 20
        and max(len(x) for x in printed.splitlines() if not x.startswith("Motion:")) <= 100
    )
    for word in (
        "loop opens by",
        "energy is off by",
        "bars in line at",
        "relative to real time",
        "Picture:",
        "Motion:",
    ):
        assert word in printed


def test_slider_crank(run: Callable[..., dict[str, float]]) -> None:
    found = run("gallery/slider_crank.py")
    assert found["passes"] == 2
    assert found["off_upright"] < 1e-9
    assert found["lam_jump"] > 100.0
    assert found["force_step"] < found["force_step_elsewhere"] < 1.0
    assert found["drift"] < 1e-12
    assert found["energy_error"] < 1e-8


def test_five_bar_from_rest(run: Callable[..., dict[str, float]]) -> None:
    found = run("gallery/five_bar_from_rest.py", duration=3.0)
    assert found["back"] == pytest.approx(
        2.0 * found["lowest"], abs=1e-4
    )  # the motion is its own mirror in time
    assert found["back"] == pytest.approx(2.8254, abs=1e-4)
    assert found["off_pose"] < 1e-6
    assert found["drift"] < 1e-12
    assert found["energy_error"] < 1e-6


def test_five_bar_balances(run: Callable[..., dict[str, float]]) -> None:
    found = run("gallery/five_bar_balances.py", duration=1.0)
    assert found["drift"] < 1e-12 < found["drift_free"] < 1e-4
    assert found["energy"] < 1e-6 and 1.0 < found["least_condition"] < 10.0


def test_five_bar_methods(run: Callable[..., dict[str, float]]) -> None:
    found = run("gallery/five_bar_methods.py", duration=0.9)
    assert found["singular_1"] == pytest.approx(FIRST, abs=1e-7)
    assert found["project_drift"] < 1e-12 and found["energy_drift"] < 1e-12 < found["lagrange_drift"]
    assert found["energy_energy"] < 1e-11 < found["project_energy"] < found["lagrange_energy"]


def test_five_bar_conditioning(run: Callable[..., dict[str, float]]) -> None:
    found = run("gallery/five_bar_conditioning.py", duration=0.8, dt=2e-3)
    assert found["t"] == pytest.approx(FIRST, abs=1e-6)
    assert found["term"] < 1.0 < 100.0 < found["spike"]  # a limit, and a pole
    errors = [found[f"energy {name}"] for name in ("null space", "softness 0.001", "softness 0.1")]
    assert errors == sorted(errors)


def test_loader_linear(run: Callable[..., dict[str, float]]) -> None:
    found = run("gallery/loader_linear.py", duration=0.4)
    assert found["resting"] < 1e-6 < 0.1 < found["falling"]  # theorem 4.1.1
    assert found["off"] < 0.02 and found["same"] < 1e-8


@pytest.mark.slow
def test_five_bar_methods_in_full(run: Callable[..., dict[str, float]]) -> None:
    found = run("gallery/five_bar_methods.py")
    assert found["singular_2"] == pytest.approx(SECOND, abs=1e-5)
    assert found["project_energy"] < 1e-5 and found["energy_energy"] < 1e-11
    assert found["lagrange_energy"] > 1.0 and found["lagrange_drift"] > 1e-5


def test_ilqr_five_bar(run: Callable[..., dict[str, float]]) -> None:
    found = run("gallery/ilqr_five_bar.py", rounds=15)
    assert found["last"] < 0.05 * found["first"] and found["miss"] < 0.05
    assert found["drift"] < 1e-12


def test_crocoddyl_five_bar(run: Callable[..., dict[str, float]]) -> None:
    pytest.importorskip("crocoddyl", reason="Crocoddyl is an extra: make bridges installs it")
    found = run("crocoddyl_five_bar.py", rounds=30)
    assert found["open"] > 0.01 and found["gap"] < 1e-12 and found["miss"] < 1e-3


def test_casadi_five_bar(run: Callable[..., dict[str, float]]) -> None:
    pytest.importorskip("casadi", reason="CasADi is an extra: make bridges installs it")
    found = run("casadi_five_bar.py")
    assert found["success"] and found["open"] > 0.01 and found["gap"] < 1e-12 and found["miss"] < 1e-6


def test_learn_delta(run: Callable[..., dict[str, float]]) -> None:
    pytest.importorskip("gymnasium")
    found = run("gallery/learn_delta.py", generations=2, copies=16)
    assert found["last"] > found["first"]


def test_structures(run: Callable[..., dict[str, float]]) -> None:
    assert max(run("gallery/structures.py").values()) < 1e-11


def test_sarrus_linkage(run: Callable[..., dict[str, float]]) -> None:
    found = run("gallery/sarrus_linkage.py")
    assert -9.81 < found["up"] < -9.0
    assert found["sideways"] < 1e-12 and found["turning"] < 1e-12


def test_machines(run: Callable[..., dict[str, float]]) -> None:
    assert run("gallery/machines.py")["open"] < 1e-12


def test_three_fingers(run: Callable[..., dict[str, float]]) -> None:
    """Friction carries the weight, or the ball falls by at least what is missing."""
    sunk = run("gallery/three_fingers.py")
    assert abs(sunk["1.05"]) < 1e-12
    assert sunk["0.95"] > 0.5 * 0.05 * 9.81 * 0.1**2


def test_surface_machines(run: Callable[..., dict[str, float]]) -> None:
    impacts = run("gallery/surface_machines.py")
    assert all(impacts.values()) and impacts["ratchet"] > 10


def test_balance(run: Callable[..., dict[str, float]]) -> None:
    """Least mean square of the shaking force: half of the piston's mass is balanced."""
    assert run("gallery/balance.py")["counterweight"] == pytest.approx(0.3 + 0.8 / 2, rel=1e-4)


def test_path_points(run: Callable[..., dict[str, float]]) -> None:
    """Four starts: 0.022 m on average, of a path 1.1 m high."""
    found = run("gallery/path_points.py")
    assert found["after"] < 0.0230 < found["before"]


def test_straight_line(run: Callable[..., dict[str, float]]) -> None:
    """[Norton2008] table 3-1 has 2.2 and 2.8, on a grid."""
    found = run("gallery/straight_line.py")
    assert found["ground"] == pytest.approx(2.2, abs=0.025)
    assert found["coupler"] == pytest.approx(2.8, abs=0.0375)
    assert found["deviation"] == pytest.approx(1.0, abs=0.11)  # 400 samples: three times 1 / sqrt(800)


def test_branches(run: Callable[..., dict[str, float]]) -> None:
    found = run("gallery/branches.py")
    assert found["branches"] == 3 and found["cone_mobility"] == 2
    assert found["open"] < 1e-10 and found["drift"] < 1e-12


def test_formulation_study(run: Callable[..., dict[str, float]]) -> None:
    found = run("gallery/formulation_study.py", repeat=5)
    assert found["residual"] < 1e-12
    assert found["nullspace"] < 0.5 * found["projection"] < found["partition"]  # compiled, NumPy, NumPy


def test_constraint_inertia(run: Callable[..., dict[str, float]]) -> None:
    found = run("gallery/constraint_inertia.py", states=15)
    arms, bars = "two welded arms", "two four-bars through a singular pose"
    usual, best = (found[f"{arms}, M_c'', {gamma}"] for gamma in ("gamma = |M|", "best gamma"))
    assert usual == pytest.approx(613.0, abs=2.0) and best == pytest.approx(257.0, abs=2.0)
    assert found[f"{bars}, J M^-1 J.T"] > 100.0 > 10.0 * found[f"{bars}, M_c'', best gamma"]


def test_elastic_arm(run: Callable[..., dict[str, float]]) -> None:
    found = run("gallery/elastic_arm.py", duration=0.4, dt=4e-3)
    assert found["off"] < 5e-3 and found["drift"] < 1e-12 and found["force"] > 5.0
    assert 1.0 < found["frequency"] < 20.0


def test_sympy_system(run: Callable[..., dict[str, float]]) -> None:
    pytest.importorskip("sympy")
    found = run("gallery/sympy_system.py", duration=1.4)
    assert found["apart"] < 1e-10
    assert found["singular"] == pytest.approx(1.352463, abs=1e-5)
    assert found["drift"] < 1e-12


def test_three_rrr_tasks(run: Callable[..., dict[str, float]]) -> None:
    found = run("gallery/three_rrr_tasks.py", duration=2.0, dt=5e-3)
    assert found["off_critical"] < 1e-6
    assert found["passive_torque"] == 0.0
    assert found["swing"] > 0.02 and found["energy_change"] < 1e-6
    assert found["largest_torque"] < 10.1
    assert found["drift"] < 1e-12


def test_three_rrr_singular(run: Callable[..., dict[str, float]]) -> None:
    found = run("gallery/three_rrr_singular.py", duration=1.4, dt=8e-3)
    assert found["controllable"] == 2 and found["torque"] > 50.0
    assert found["growth"] == pytest.approx(10.0, rel=0.3)  # as one over the angle, close to the pose


def test_quadruped_trot(run: Callable[..., dict[str, float]]) -> None:
    found = run("gallery/quadruped_trot.py", distance=0.06, duration=0.3)
    assert found["distance"] == pytest.approx(0.06, abs=2e-3)
    assert found["tilt"] < 1e-3 and found["broken"] == 0.0
    assert found["least_push"] > 4.9 and found["friction"] < 0.61


def test_box_pushed(run: Callable[..., dict[str, float]]) -> None:
    found = run("gallery/box_pushed.py", duration=3.3)
    assert found["pushed_by"] == pytest.approx(0.4, abs=0.02)
    assert found["at_rest"] == pytest.approx(70.0, abs=1.0) and found["squeeze"] > 100.0  # 70 and 110 N there
    assert found["expected"] == pytest.approx(found["squeeze"], abs=0.1)
    assert found["left_paper"] < 0.0 < found["left_ours"]


def test_box_weights(run: Callable[..., dict[str, float]]) -> None:
    found = run("gallery/box_weights.py")
    more = found["squeeze_full"] - found["squeeze_empty"]  # half the weight each, and twice that across
    assert more == pytest.approx(0.5 * 2.5 * 9.81 * 5.0**0.5, rel=0.05)
    assert found["sag_paper"] == pytest.approx(3.2 * 9.81 / 500.0, rel=0.05) and found["sag_ours"] < 2e-3
    assert found["mass"] == pytest.approx(3.2, rel=0.02)


def test_box_circle(run: Callable[..., dict[str, float]]) -> None:
    found = run("gallery/box_circle.py", duration=4.0)
    assert found["low"] == pytest.approx(0.7 * 9.81 / 500.0, rel=0.1) and found["off"] < 1e-3
    assert found["held_off"] > 0.1 and found["squeeze_held"] > 2.0 * found["squeeze_free"]
    assert 0.8 < found["down"] < 0.97  # less force on the way down, as in the paper


def test_arms_together(run: Callable[..., dict[str, float]]) -> None:
    found = run("gallery/arms_together.py", duration=1.8)
    assert found["miss"] < 1e-9 and found["margin"] > -1e-7
    assert found["moved"] < 1e-9 and found["pushed"] > 0.05


def test_slider_crank_control(run: Callable[..., dict[str, float]]) -> None:
    found = run("gallery/slider_crank_control.py", duration=1.2, dt=4e-3)
    names = ("two active joints", "one active joint", "hybrid, no force")
    two, one, hybrid = (found[f"rms {name}"] for name in names)
    assert two < one < hybrid and one / two == pytest.approx(5.0**0.5, rel=1e-9)
    assert found["ratio_error"] < 1e-9 and found["error"] < 1e-8 and found["hybrid_lam"] < 1e-9


def test_arm_on_slider(run: Callable[..., dict[str, float]]) -> None:
    found = run("gallery/arm_on_slider.py", duration=2.0, dt=4e-3)
    assert found["rms PIDC"] < found["rms hybrid"] < found["rms IDC"]
    assert found["peak PIDC"] < found["peak hybrid"] < found["peak IDC"]
    assert found["force hybrid"] < 0.05 < found["force PIDC"] < 0.5 * found["force IDC"]


def test_two_arms_friction(run: Callable[..., dict[str, float]]) -> None:
    found = run("gallery/two_arms_friction.py", duration=2.1, dt=5e-3)
    assert found["margin friction limits"] > -1e-9 and found["margin no limits"] < -50.0
    assert found["more_torque"] < 1e-6 and found["squeeze"] > 200.0
    assert abs(found["margin constant squeeze"]) < 1e-2  # the smallest that never slips


def test_two_arms_torques(run: Callable[..., dict[str, float]]) -> None:
    found = run("gallery/two_arms_torques.py", duration=1.0, dt=5e-3)
    assert (
        found["peak any motor"] > 73.0 and found["peak bounded"] < 70.0 + 1e-6 and found["at bounded"] > 0.01
    )
    assert min(found["margin any motor"], found["margin bounded"]) > -1e-9
    assert max(found["off any motor"], found["off bounded"]) < 1e-3


def test_quadruped_ground(run: Callable[..., dict[str, float]]) -> None:
    found = run("gallery/quadruped_ground.py", distance=0.1, duration=0.5)
    assert found["success"] and found["distance"] == pytest.approx(0.1, abs=0.01)
    assert found["tilt"] < 0.02 and found["work"] < 0.0 and found["lifts"] < 12


def test_biped_walks(run: Callable[..., dict[str, float]]) -> None:
    found = run("gallery/biped_walks.py", end=0.7)
    assert found["success"] and 0.005 < found["swayed"] < 0.1  # 70 N for 0.1 s on 28 kg: 0.25 m/s, stopped
    assert found["lowest"] > -0.02 and found["drift"] < 1e-12


@pytest.fixture(scope="module")
def slipping_box(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    """What the example of the box that slips finds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("box"))
        found: dict[str, float] = runpy.run_path(str(ROOT / "examples/gallery/box_slips.py"))["main"](end=1.1)
    return found


def test_a_box_that_is_held_does_not_slip(slipping_box: dict[str, float]) -> None:
    assert slipping_box["slid held by rows"] < 1e-9 and slipping_box["slid friction 0.36"] < 1e-6


def test_a_box_slips_that_friction_does_not_hold(slipping_box: dict[str, float]) -> None:
    assert slipping_box["slid friction 0.2"] > 1e-3


def test_learn_walk(run: Callable[..., dict[str, float]]) -> None:
    pytest.importorskip("gymnasium")
    found = run("gallery/learn_walk.py", generations=1, copies=4)
    assert -1.0 < found["first"] == found["last"] < found["best"] <= 1.0  # one generation


@needs_kernel
def test_studios(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    module = runpy.run_path(str(ROOT / "examples/gallery/studios.py"))
    assert module["main"](("five_bar", "sarrus"))["count"] == 2
    index = (tmp_path / module["OUT"] / "index.html").read_text(encoding="utf-8")
    assert all(f'href="{name}.html"' in index for name in ("five_bar", "sarrus"))


@pytest.mark.parametrize("path", GALLERY, ids=lambda p: p.name)
def test_gallery_scripts_are_short_tested_and_listed(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 80
    assert text.startswith("# /// script\n")
    assert f"gallery/{path.name}" in Path(__file__).read_text(encoding="utf-8")
    assert path.name in (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")


def test_library_sheet(run: Callable[..., dict[str, float]]) -> None:
    found = run("gallery/library_sheet.py", size=(80, 60))
    assert found["count"] == len(sr.library.names())
    assert found["least_ink"] > 0.01


def test_the_picture_of_the_readme_is_what_its_script_paints(tmp_path: Path) -> None:
    module = runpy.run_path(str(ROOT / "examples" / "first_picture.py"))
    painted = module["main"](tmp_path / "machines.png")
    images = [plt.imread(path) for path in (painted, module["PICTURE"])]
    assert images[0].shape == images[1].shape
    assert float(np.mean(np.abs(images[0] - images[1]))) < 1e-3, "run examples/first_picture.py"


def test_the_loop_of_the_readme(tmp_path: Path) -> None:
    """Less of it: Baumgarte lets the loop open, projection does not."""
    module = runpy.run_path(str(ROOT / "examples" / "first_loop.py"))
    opened = module["main"](0.2, tmp_path / "loop.gif")
    assert opened["sarrus"] < 1e-13 < opened["Lagrange + Baumgarte"]
    assert (tmp_path / "loop.gif").read_bytes()[:3] == b"GIF"
