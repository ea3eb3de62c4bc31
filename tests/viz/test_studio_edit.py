"""Editing in a studio: what the page makes of a planar mechanism is what Python makes of its downloads."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from bench.chromium import Chromium, Page, find_chromium
from sarrus.formats.json import spec_of
from sarrus.models.binary_table import binary_table
from sarrus.viz.scenes.view import find_plane
from sarrus.viz.studio_data import mechanism_data, scene
from sarrus.viz.studio_edit import edit_data
from sarrus.viz.studios import DRAWING, KERNEL, PAGE, SCRIPTS, STUDIO
from tests.studio_kernel import needs_kernel
from tests.viz.test_studios import READY, fine, frames

pytestmark = needs_kernel
NODE = shutil.which("node") or shutil.which("nodejs")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed: apt-get install nodejs")
needs_browser = pytest.mark.skipif(find_chromium() is None, reason="no Chromium: apt-get install chromium")
CLOSE = 1e-12
NEEDED = (
    *("linear", "kernel", "measures", "share"),
    *("table", "description", "links", "edits", "sketch", "program"),
)
# Springs, slots, couplings, copies of parts as drawn, planar joints and slides, a plane seen from behind
PLANAR = (
    *("andrews", "cable_robot", "dual_planar_arms", "excavator", "four_bar", "loader", "pantograph_leg"),
    *("scissor", "scott_russell", "slider_crank"),
)


def case(mech: sr.Mechanism, edits: list[dict[str, Any]]) -> dict[str, Any]:
    q = np.array(mech.default.q)
    data = mechanism_data(mech, q) | {"film": scene(mech, q[None], None, None), "q": q.tolist()}
    data["edit"] = edit_data(mech, find_plane(mech, q))
    return {"data": data, "table": base64.b64encode(binary_table(mech.model)).decode(), "edits": edits}


def edited(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Cases as the scripts of the page edit them, run by node."""
    assert NODE is not None
    files = {name: PAGE / f"{name}.js" for name in DRAWING} | {
        name: STUDIO / f"{name}.js" for name in SCRIPTS
    }
    command = [NODE, str(Path(__file__).parent / "studio_edits.cjs"), str(KERNEL)]
    command += [str(files[name]) for name in NEEDED]
    done = subprocess.run(command, input=json.dumps(cases), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    results: list[dict[str, Any]] = json.loads(done.stdout)
    return results


def loaded(text: str, program: str, folder: Path) -> list[sr.Mechanism]:
    """The mechanisms that the two downloads make."""
    path = folder / "mechanism.json"
    path.write_text(text)
    names: dict[str, Any] = {"__name__": "download"}
    exec(compile(program, "mechanism.py", "exec"), names)
    return [sr.load(path), names["mech"]]


def same(found: dict[str, Any], mech: sr.Mechanism) -> None:
    """The numbers of the page are those of a mechanism, in its default state."""
    q, v = mech.default.q, mech.default.v
    terms, motion = mech.terms(q, v), mech.forward_dynamics(q, v)
    assert (list(mech.body_names), list(mech.row_names)) == (found["bodies"], found["rows"])
    assert mech.mobility(q).rank == found["rank"]
    assert [one.name for one in mech.model.actuators] == found["motors"]
    places = [mech.pose(q, body).xyz for body in mech.body_names]
    known = {"q": q, "v": v, "J": terms.J, "phi": terms.phi, "origins": places, "a": motion.a}
    for name, values in known.items():
        wanted = np.asarray(values, dtype=float).ravel()
        size = max(1.0, float(np.max(np.abs(wanted), initial=0.0)))
        np.testing.assert_allclose(found[name], wanted, rtol=0, atol=CLOSE * size, err_msg=name)


ALL = (
    {"kind": "pin", "at": 0, "by": [0.06, 0.05]},
    {"kind": "bar", "at": 0, "end": 1, "mass": 2.0},
    {"kind": "bar", "at": 1, "by": [0.3, 0.5], "mass": 1.5},
    {"kind": "slider", "at": 1, "by": [1.0, 0.3], "mass": 0.7},  # across the axes of the world
    {"kind": "slider", "at": 0, "by": [1.0, 0.0], "mass": 0.4},
    {"kind": "motor", "coordinate": 1},
    {"kind": "pin", "at": 2, "by": [-0.1, 0.02]},
    {"kind": "bar", "at": 1, "by": [-0.2, 0.1], "mass": 0.5},
)


@needs_node
def test_edits_are_the_mechanisms_that_python_loads(tmp_path: Path) -> None:
    """Planar mechanisms of the library, untouched and after eight edits, by JSON and by program."""
    cases = [case(getattr(sr.library, name)(), []) for name in PLANAR]
    found = edited([one | {"edits": edits} for one in cases for edits in ([], list(ALL))])
    for k, one in enumerate(found):
        assert one["status"] == 0 and one["gap"] < CLOSE, PLANAR[k // 2]
        by_json, by_program = loaded(one["json"], one["program"], tmp_path)
        same(one, by_json)
        same(one, by_program)
        assert spec_of(by_json).to_dict() == spec_of(by_program).to_dict()


@needs_node
def test_a_moved_pin_moves_what_hangs_on_it(tmp_path: Path) -> None:
    """A four-bar of uniform bars whose coupler pin is moved at its pose: places and inertias by hand."""
    mech, by = sr.library.four_bar(), np.array([0.05, -0.02, 0.0])
    (found,) = edited([case(mech, [{"kind": "pin", "at": 1, "by": by[:2].tolist()}])])
    other = loaded(found["json"], found["program"], tmp_path)[0]
    q = mech.default.q
    np.testing.assert_array_equal(other.default.q, q)
    ends = {"crank": np.zeros(3), "coupler": mech.pose(q, "rocker").xyz}
    pin = mech.pose(q, "coupler").xyz + by
    np.testing.assert_allclose(other.pose(q, "coupler").xyz, pin, atol=1e-15)
    for body, end in ends.items():  # still uniform: the centre half way, m l^2 / 12 across
        part = other.model.bodies[other.model.body_index(body)]
        np.testing.assert_allclose(other.pose(q, body).apply(part.com), 0.5 * (end + pin), atol=1e-15)
        R, along = other.pose(q, body).rotation, (pin - end) / np.linalg.norm(pin - end)
        wanted = part.mass * np.sum((pin - end) ** 2) / 12.0 * (np.eye(3) - np.outer(along, along))
        np.testing.assert_allclose(R @ part.inertia_matrix @ R.T, wanted, atol=1e-15)
    before, after = (one.pose(q, "rocker").xyz for one in (mech, other))
    np.testing.assert_allclose(after, before, atol=1e-15)
    turned = other.assemble(fixed={"crank": q[0] + 0.4}).q
    length = np.linalg.norm(other.pose(turned, "coupler").xyz)
    assert length == pytest.approx(np.linalg.norm(pin), abs=1e-12)


@needs_node
def test_a_knee_of_three_bars_is_one_pin(tmp_path: Path) -> None:
    """A toggle as drawn, whose loops are cut in copies of its bars: all that meet there move with it."""
    spec, hinge = sr.MechanismSpec(gravity=(0, -9.81, 0)), sr.Revolute("z")
    places = {"motor": (0, 0, 0), "wrist": (0.15, 0.05, 0), "knee": (0.44, 0.1, 0)}
    places |= {"top": (0.5, 0.42, 0), "toe": (0.5, -0.2, 0)}
    for name, xyz in places.items():
        spec.point(name, xyz)
    bars = {"crank": ("motor", "wrist"), "rod": ("wrist", "knee"), "upper": ("knee", "top")}
    for name, ends in (bars | {"lower": ("knee", "toe")}).items():
        spec.link(name, *ends, mass=1.0)
    pairs = (("ground", "crank", "motor"), ("crank", "rod", "wrist"), ("ground", "upper", "top"))
    for k, (a, b, where) in enumerate((*pairs, ("rod", "upper", "knee"), ("upper", "lower", "knee"))):
        spec.joint(f"j{k}", a, b, hinge, at=where)
    mech, by = spec.compile(), (0.03, -0.02)
    one = case(mech, [])
    pins = edited([one])[0]["pins"]
    knee = [k for k, pin in enumerate(pins) if np.allclose(pin[:2], (0.44, 0.1), atol=1e-9)]
    assert len(pins) == 4 and len(knee) == 1
    (found,) = edited([one | {"edits": [{"kind": "pin", "at": knee[0], "by": list(by)}]}])
    assert found["gap"] < CLOSE
    other = loaded(found["json"], found["program"], tmp_path)[0]
    same(found, other)
    assert (
        any(np.allclose(pin[:2], (0.47, 0.08), atol=1e-9) for pin in found["pins"])
        and len(found["pins"]) == 4
    )


@needs_node
def test_other_masses_stay_where_they_are(tmp_path: Path) -> None:
    """Links of the slider-crank have their mass at their ends."""
    mech = sr.library.slider_crank()
    (found,) = edited([case(mech, [{"kind": "pin", "at": 1, "by": [0.05, -0.02]}])])
    other = loaded(found["json"], found["program"], tmp_path)[0]
    for body in ("crank", "rod"):
        places = []
        for one in (mech, other):
            com = one.model.bodies[one.model.body_index(body)].com
            places.append(one.pose(mech.default.q, body).apply(com))
        np.testing.assert_allclose(places[1], places[0], atol=1e-15)


@needs_node
def test_planes_of_any_direction(tmp_path: Path) -> None:
    """In the vertical plane and in a slanted one: bars, sliders and pins lie in it."""
    made = []
    for axis, gravity in (("y", (0, 0, -9.81)), ((0.0, 0.6, 0.8), (1.0, 0.0, -9.81))):
        spec = sr.MechanismSpec(gravity=gravity)
        normal = np.array([0.0, 1.0, 0.0] if axis == "y" else axis)
        across = np.cross(normal, [1.0, 0.0, 0.0])
        spec.body("a", joint=sr.Revolute(axis), mass=1.0, com=(0.3, 0, 0), inertia=(0.1, 0.1, 0.1))
        at = sr.Pose(xyz=(0.6, 0, 0))
        spec.body(
            "b", parent="a", joint=sr.Revolute(axis), at=at, mass=1.0, com=0.2 * across, inertia=(0.1,) * 3
        )
        made.append(spec.compile())
    edits: list[dict[str, Any]] = [
        {"kind": "bar", "at": 0, "by": [0.4, 0.4], "mass": 1.0},
        {"kind": "slider", "at": 1, "by": [0.5, 0.2], "mass": 1.0},
        {"kind": "slider", "at": 1, "by": [1.0, 0.0], "mass": 1.0},
        {"kind": "pin", "at": 1, "by": [0.1, 0.1]},
    ]
    for one in edited([case(mech, edits) for mech in made]):
        assert one["gap"] < CLOSE
        for mech in loaded(one["json"], one["program"], tmp_path):
            same(one, mech)


HOSTILE = '"); import os; os.abort() #\n\\"""\'\u2028\U0001f600{}'


@needs_node
def test_names_do_not_become_code(tmp_path: Path) -> None:
    spec = sr.MechanismSpec(name=HOSTILE)
    inertia = (0.1, 0.1, 0.1)
    spec.body(HOSTILE, joint=sr.Revolute("y"), mass=1.0, com=(0.3, 0, 0), inertia=inertia)
    spec.body("__proto__", joint=sr.Revolute("y"), at=sr.Pose(xyz=(1, 0, 0)), mass=1.0, inertia=inertia)
    spec.constrain(f"c{HOSTILE}", sr.Coupling({HOSTILE: 1.0, "__proto__": -2.0}))
    spec.force(f"f{HOSTILE}", sr.JointSpring(HOSTILE, 3.0, 0.1))
    spec.measure(f"m{HOSTILE}", sr.Position(HOSTILE, (1, 0, 0)))
    edits = [
        {"kind": "bar", "at": 0, "by": [0.4, 0.4], "mass": 1.0},
        {"kind": "pin", "at": 1, "by": [0, 0.1]},
    ]
    (found,) = edited([case(spec.compile(), list(edits))])
    for mech in loaded(found["json"], found["program"], tmp_path):
        assert mech.name == HOSTILE and HOSTILE in mech.body_names
        same(found, mech)


@needs_node
def test_types_and_keys_of_a_spoiled_page_do_not_become_code() -> None:
    """Names of classes and of arguments are words or nothing is written."""
    for entry in ({"type": "Revolute(); evil"}, {"type": "Revolute", "axis=1); evil(x": "z"}):
        given = case(sr.library.four_bar(), [])
        given["data"]["edit"]["document"]["bodies"][0]["joint"] = entry
        with pytest.raises(AssertionError, match="is not a name of sarrus"):
            edited([given])


def test_what_cannot_be_edited_says_why() -> None:
    spatial = sr.library.bricard()
    assert edit_data(spatial, find_plane(spatial, spatial.default.q)) is None
    spec = sr.MechanismSpec()
    spec.body("crank", joint=sr.Revolute("y"), mass=1.0, inertia=(1, 1, 1))
    spec.constrain("motor", sr.Drive("crank", np.sin))
    mech = spec.compile()
    data = edit_data(mech, find_plane(mech, mech.default.q))
    assert data is not None and "'motor' (Drive) holds Python functions" in data["why"]
    spec = sr.MechanismSpec()
    spec.body("frame", joint=sr.Planar("y"), mass=1.0, inertia=(1, 1, 1))
    spec.body("wheel", parent="frame", joint=sr.Revolute("y"), mass=1.0, inertia=(1, 1, 1))
    spec.constrain("tyre", sr.Rolling("wheel", 0.3, "y", (0, 0, 1)))
    mech = spec.compile()
    data = edit_data(mech, find_plane(mech, mech.default.q))
    assert data is not None and data["why"] == "'tyre' (Rolling) cannot be edited in a page."


# ---------------------------------------------------------------------- in the browser


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with Chromium() as browser:
        yield browser.page()


def use(page: Page, tool: str) -> None:
    page.evaluate(f"document.querySelector('input[name=tool][value={tool}]').click(); 0")


def draw(page: Page, start: Any, way: tuple[float, float]) -> None:
    x, y = start
    page.mouse("mousePressed", x, y)
    for k in (0.5, 1.0):
        page.mouse("mouseMoved", x + k * way[0], y + k * way[1])
        frames(page, 1)
    page.mouse("mouseReleased", x + way[0], y + way[1])


def pin(page: Page, number: int) -> Any:
    frames(page, 2)
    return page.evaluate(f"studio.scene.pixels(studio.editor.pins[{number}].at)")


def downloads(page: Page, folder: Path) -> list[str]:
    """The texts of both downloads, as files that the browser has saved."""
    page.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
    out = []
    for button, name in (("as-json", "mechanism.json"), ("as-python", "mechanism.py")):
        page.evaluate(f"document.getElementById('{button}').click()")
        end = time.monotonic() + 20
        while not (folder / name).exists() or not (folder / name).read_text().endswith(("}", "\n")):
            assert time.monotonic() < end, f"no {name}"
            time.sleep(0.03)
        out.append((folder / name).read_text())
    return out


@needs_browser
def test_editing_by_mouse_from_the_picture_to_python(page: Page, tmp_path: Path) -> None:
    """A pin is moved, a bar, a slider and a motor added; it is dragged, undone, shared, downloaded."""
    path = sr.library.four_bar().studio(tmp_path / "studio.html")
    page.size(1100, 760)
    page.open(path.as_uri(), READY)
    said = "document.getElementById('mobility').textContent"
    assert page.evaluate(said).startswith("1 degree of freedom: 3 coordinates")
    use(page, "pin")
    draw(page, pin(page, 2), (-30, -20))
    use(page, "bar")
    draw(page, pin(page, 2), (60, -60))
    frames(page)
    assert page.evaluate(said).startswith("2 degrees of freedom: 4 coordinates")
    use(page, "slider")
    end = (
        "studio.scene.pixels(studio.bench.bodies.place([4, ...studio.data.bodies[4].com.map((x) => 2 * x)]))"
    )
    draw(page, page.evaluate(end), (40, 2))
    use(page, "motor")
    page.mouse("mousePressed", *pin(page, 1))
    page.mouse("mouseReleased", *pin(page, 1))
    frames(page)
    kinds = page.evaluate("studio.bench.edits.map((edit) => edit.kind)")
    assert kinds == ["pin", "bar", "slider", "motor"]
    assert page.evaluate(said).startswith("1 degree of freedom: 5 coordinates less 4 independent")
    assert page.evaluate("studio.data.motors.map((motor) => motor.name)") == ["crank", "coupler"]
    page.evaluate("studio.kernel.drag(1, [0.2, 0, 0], [0, 0.4, 0], 60); studio.record(); 0")
    assert page.evaluate("studio.kernel.gap()") < CLOSE
    text, program = downloads(page, tmp_path)
    names = "({bodies: studio.data.bodies.map((x) => x.name), rows: studio.data.rows,"
    names += " motors: studio.data.motors.map((x) => x.name), rank: (studio.kernel.call.mobility(0),"
    names += " studio.kernel.report.rank)})"
    found = page.evaluate(names)
    page.evaluate("studio.kernel.accelerate(); studio.kernel.place(); studio.kernel.call.constraints(0); 0")
    for name in ("q", "v", "a", "J", "phi", "origins"):
        found[name] = page.evaluate(f"Array.from(studio.kernel.of('{name}'))")
    for mech in loaded(text, program, tmp_path):
        same(found, mech)
        assert mech.mobility(mech.default.q).dof == 1
    page.evaluate("studio.shareLink()")
    address, q = page.evaluate("[location.href, Array.from(studio.kernel.of('q'))]")
    for left in ([*kinds[:3]], [*kinds[:2]], ["pin"], []):
        page.evaluate("studio.undo('undo')")
        assert page.evaluate("studio.bench.edits.map((edit) => edit.kind)") == left
    assert page.evaluate("studio.data.bodies.length") == 4
    page.evaluate("studio.undo('redo')")
    assert page.evaluate("studio.bench.edits.length") == 1
    page.open(address, READY)
    assert page.evaluate("studio.bench.edits.map((edit) => edit.kind)") == kinds
    np.testing.assert_allclose(page.evaluate("Array.from(studio.kernel.of('q'))"), q, atol=CLOSE)
    fine(page)


@needs_browser
def test_editing_by_finger_and_fields_and_bad_links(page: Page, tmp_path: Path) -> None:
    path = sr.library.slider_crank().studio(tmp_path / "studio.html")
    page.size(390, 780, phone=True)
    page.open(path.as_uri(), READY)
    use(page, "pin")
    x, y = pin(page, 1)
    page.touch("touchStart", [(x, y)])
    page.touch("touchMove", [(x + 12, y - 9)])
    frames(page)
    page.touch("touchEnd", [])
    assert page.evaluate("studio.bench.edits.map((edit) => [edit.kind, edit.pin])") == [["pin", 1]]
    place = "document.querySelector('#pin-place input')"
    page.evaluate("document.getElementById('pin').value = 0; 0")
    page.evaluate(f"{place}.value = 0.25; {place}.dispatchEvent(new Event('change')); 0")
    assert page.evaluate("studio.editor.pins[0].at[0]") == pytest.approx(0.25, abs=1e-15)
    click = "document.getElementById('{}').value = {}; document.getElementById('{}').click()"
    page.evaluate(click.format("new-mass", 3, "add-bar"))
    assert page.evaluate("studio.data.bodies.map((x) => [x.name, x.mass])[3]") == ["bar 1", 3]
    page.evaluate(
        "document.getElementById('angle').value = 30; document.getElementById('add-slider').click()"
    )
    assert page.evaluate("studio.data.bodies.length") == 5
    page.evaluate(click.format("joint", 3, "add-motor"))
    assert page.evaluate("studio.data.motors.map((x) => x.name)") == ["crank", "rod", "slider 1"]
    page.evaluate("document.getElementById('add-motor').click()")  # the same joint again: off
    assert page.evaluate("studio.data.motors.map((x) => x.name)") == ["crank", "rod"]
    assert page.evaluate("studio.kernel.gap()") < CLOSE
    before = page.evaluate("studio.bench.edits.length")
    page.evaluate(
        "document.getElementById('new-mass').value = -1; document.getElementById('add-bar').click()"
    )
    assert "mass of a new part must be above zero" in page.evaluate(
        "document.getElementById('message').textContent"
    )
    state = {"q": [0.0, 0.0], "v": [0.0, 0.0]}
    for edit in (
        {"kind": "constructor", "q": state["q"]},
        {"kind": "pin", "pin": 99, "to": [0, 0, 0], "q": state["q"]},
        {"kind": "bar", "from": [7, 0, 0, 0], "to": [-1, 1, 0, 0], "mass": 1, "q": state["q"]},
        {"kind": "motor", "coordinate": "__proto__", "q": state["q"]},
        {"kind": "pin", "pin": 0, "to": ["<b>", 0, 0], "q": [1.0]},
        "text",
    ):
        page.evaluate(f"studio.open({json.dumps(json.dumps(state | {'edits': [edit]}))})")
        assert "could not be opened" in page.evaluate("document.getElementById('message').textContent")
        assert page.evaluate("studio.bench.edits.length") == before
    fine(page)


@needs_node
def test_downloads_keep_points_and_floor(tmp_path: Path) -> None:
    """What a drawing says about itself is in the program as it is in the file."""
    spec = spec_of(sr.library.four_bar()).point("pivot", (0.1, 0.2, 0.0)).floor(-0.5, normal="y")
    spec.surface("floor", "ground", sr.HalfSpace("y"), sr.Pose((0, -2, 0)), friction=0.5)
    spec.surface("cam", spec.bodies[0].name, sr.Profile([(-0.1, 0, 1), (0.1, 0, 1)]), torsion=0.01)
    spec.contact("floor", "cam", restitution=0.25)
    (found,) = edited([case(spec.compile(), [])])
    by_json, by_program = (spec_of(one) for one in loaded(found["json"], found["program"], tmp_path))
    assert by_json.to_dict() == by_program.to_dict()
    assert dict(by_program.points) == {"pivot": (0.1, 0.2, 0.0)}
    assert by_program.to_dict()["floor"] == {"height": -0.5, "normal": "y"}
    assert by_program.contacts == spec.contacts and by_program.surfaces == spec.surfaces


@needs_browser
def test_length_and_angle_are_read_while_a_bar_is_drawn(page: Page, tmp_path: Path) -> None:
    """They are those of the bar that is made."""
    page.size(1100, 760)
    page.open(sr.library.four_bar().studio(tmp_path / "studio.html").as_uri(), READY)
    use(page, "bar")
    x, y = pin(page, 2)
    page.mouse("mousePressed", x, y)
    page.mouse("mouseMoved", x + 60, y - 60)
    said = page.evaluate("document.getElementById('message').textContent")
    page.mouse("mouseReleased", x + 60, y - 60)
    frames(page)
    start, end = np.array(
        page.evaluate(
            "[[0, 0, 0], studio.data.bodies[4].com].map((p) => studio.bench.bodies.place([4, ...p]))"
        )
    )
    way = 2.0 * (end - start)
    x, y = np.array(page.evaluate("[studio.data.edit.right, studio.data.edit.up]")) @ way
    length, angle = float(said.split(" m at ")[0]), float(said.split(" at ")[1].removesuffix("°"))
    assert length == pytest.approx(np.linalg.norm(way), rel=1e-3)
    assert angle == pytest.approx(np.degrees(np.arctan2(y, x)), abs=0.06)
    fine(page)
