"""Collision geometry of URDF, SDF and USD as surfaces and pairs, and surfaces in MJCF, URDF and SDF."""

from __future__ import annotations

import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest

import sarrus as sr
from sarrus.formats.collisions.hulls import collision_hull

pytestmark = pytest.mark.filterwarnings("ignore::sarrus.SarrusWarning")

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def link(name: str, *shapes: str, more: str = "") -> str:
    found = "".join(f"<collision name='{name}{k}'>{shape}</collision>" for k, shape in enumerate(shapes))
    return f"<link name='{name}'>{INERTIAL}{found}{more}</link>"


def joint(name: str, parent: str, child: str, xyz: str) -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/><origin xyz="{xyz}" rpy="0.1 0.2 0.3"/>'
    return f'<joint name="{name}" type="continuous">{ends}<axis xyz="0 1 0"/></joint>'


def shape(kind: str, place: str = "") -> str:
    return (f'<origin xyz="{place}" rpy="0.3 0.1 0"/>' if place else "") + f"<geometry>{kind}</geometry>"


BALL, BOX = '<sphere radius="0.1"/>', '<box size="0.2 0.3 0.1"/>'
CAPSULE, CYLINDER = '<capsule radius="0.05" length="0.3"/>', '<cylinder radius="0.1" length="0.2"/>'
ROBOT = (
    "<robot name='r'>"
    + link("base", shape(BOX))
    + link("upper", shape(CAPSULE, "0 0 0.3"), shape(BALL, "0.1 0 0.2"))
    + link("lower", shape(BALL, "0 0 0.2"), shape(BOX, "0 0.1 0.3"))
    + link("hand", shape(CAPSULE, "0 0 0.1"), shape(CYLINDER))
    + joint("j1", "base", "upper", "0 0 0.2")
    + joint("j2", "upper", "lower", "0 0 0.7")
    + joint("j3", "lower", "hand", "0 0 0.6")
    + "</robot>"
)


def least_gaps(mech: sr.Mechanism, q: np.ndarray) -> dict[frozenset[str], float]:
    """The smallest gap of each pair, by the names of its surfaces."""
    found = mech.contacts(q)
    gaps: dict[frozenset[str], float] = {}
    for pair in mech.model.contacts:
        own = [g for name, g in zip(found.names, found.gap, strict=True) if name.startswith(f"{pair.name}.")]
        gaps[frozenset((pair.a, pair.b))] = min(own)
    return gaps


def test_shapes_of_a_urdf_are_where_mujoco_has_them() -> None:
    mech, model = sr.load(ROBOT, contacts=True), mujoco.MjModel.from_xml_string(ROBOT)
    data, ends, rng = mujoco.MjData(model), np.zeros(6), np.random.default_rng(3)
    geoms = {name: model.geom(name).id for name in (one.name for one in mech.model.surfaces)}
    for _ in range(3):
        q = 0.5 * rng.standard_normal(mech.nq)
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        for pair, gap in least_gaps(mech, q).items():
            there = mujoco.mj_geomDistance(model, data, *(geoms[one] for one in pair), 100.0, ends)
            assert gap == pytest.approx(there, abs=1e-6)


def test_neighbours_do_not_touch_and_shapes_without_contact_points_are_listed() -> None:
    mech = sr.load(ROBOT, contacts=True)
    bodies = {one.name: one.body for one in mech.model.surfaces}
    pairs = {frozenset((bodies[one.a], bodies[one.b])) for one in mech.model.contacts}
    assert pairs == {frozenset(x) for x in (("base", "lower"), ("base", "hand"), ("upper", "hand"))}
    assert any("contact of a Box and a Cylinder" in one for one in mech.omitted)
    closed = ROBOT.replace(
        "</robot>",
        '<loop_joint name="l" type="spherical"><link1 link="base" xyz="0 0 1.5" rpy="0 0 0"/>'
        '<link2 link="hand" xyz="0 0 0" rpy="0 0 0"/></loop_joint></robot>',
    )
    spec = sr.load_spec(closed, contacts=True)
    assert {one.name for one in spec.contacts} == {
        one.name for one in mech.model.contacts if {bodies[one.a], bodies[one.b]} != {"base", "hand"}
    }


@pytest.mark.parametrize(
    ("where", "text", "law"),
    [
        ("robot", "<gazebo reference='hand'><mu1>0.3</mu1></gazebo>", {"friction": 0.3}),
        ("robot", "<gazebo reference='hand'><mu1 value='0.4'/></gazebo>", {"friction": 0.4}),
        (
            "link",
            "<contact><lateral_friction value='0.5'/><rolling_friction value='0.01'/>"
            "<spinning_friction value='0.02'/><restitution value='0.6'/></contact>",
            {"friction": 0.5, "rolling": 0.01, "torsion": 0.02, "restitution": 0.6},
        ),
        (
            "shape",
            "<drake:proximity_properties><drake:mu_static value='0.9'/><drake:mu_dynamic value='0.7'/>"
            "</drake:proximity_properties>",
            {"friction": 0.7},
        ),
        ("robot", "", {"friction": 1.0}),
    ],
)
def test_friction_of_a_urdf(where: str, text: str, law: dict[str, float]) -> None:
    places = {"robot": "</robot>", "link": "</link><joint name='j1'", "shape": "</collision></link><joint"}
    ends = {"robot": "</robot>", "link": "</link>", "shape": "</collision></link>"}
    robot = ROBOT.replace('<joint name="j1"', "<joint name='j1'", 1)
    at = robot.index(places[where]) if where != "robot" else robot.rindex("</robot>")
    mech = sr.load(robot[:at] + text + robot[at:].replace(ends[where], ends[where], 1), contacts=True)
    last = mech.model.surfaces[-1]
    assert {name: getattr(last, name) for name in law} == law


def test_what_is_inside_as_drawn_does_not_touch_and_is_listed() -> None:
    overlapping = ROBOT.replace('<joint name="j3"', '<joint name="j3"').replace("0 0 0.6", "0 0 -0.3")
    mech = sr.load(overlapping, contacts=True)
    assert np.all(mech.contacts(mech.default.q).gap > -1e-6)
    assert any("inside each other at the rest pose" in one for one in mech.omitted)
    assert len(mech.model.contacts) < len(sr.load(ROBOT, contacts=True).model.contacts)


def machine() -> sr.Mechanism:
    """All shapes, on the ground and on bodies, one of them welded to a body that has a joint."""
    spec = sr.MechanismSpec(name="all shapes")
    spec.body("arm", joint=sr.Revolute("y"), mass=1.0, inertia=(0.1, 0.1, 0.1))
    spec.body("tip", "arm", joint=sr.Fixed(), at=sr.Pose((0.5, 0.1, 0.0), rpy=(0.3, 0.2, 0.1)), mass=0.5)
    spec.body("free", joint=sr.Free(), mass=1.0, inertia=(0.1, 0.1, 0.1))
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.7, 0.7, 0.7]]) * 0.2
    spec.surface("floor", "ground", sr.HalfSpace((0.1, 0.0, 1.0)), sr.Pose((0, 0, -1.0)), friction=0.5)
    spec.surface("ball", "tip", sr.Sphere(0.1), sr.Pose((0.1, 0, 0)), friction=0.7, torsion=0.01)
    spec.surface("bar", "arm", sr.Capsule(0.05, 0.2, at=sr.Pose(rpy=(1.0, 0, 0))), restitution=0.3)
    spec.surface("box", "free", sr.Box((0.1, 0.2, 0.3)), sr.Pose((0, 0.3, 0)), friction=0.2, rolling=0.001)
    spec.surface("hull", "free", sr.ConvexMesh(points))
    spec.surface("egg", "free", sr.Ellipsoid((0.1, 0.2, 0.15)), sr.Pose((0.4, 0, 0)))
    spec.surface("can", "free", sr.Cylinder(0.1, 0.2), sr.Pose((-0.4, 0, 0)), friction=0.0)
    for pair in (("floor", "*"), ("ball", "box"), ("ball", "hull"), ("bar", "box"), ("ball", "egg")):
        spec.contact(*pair) if "*" not in pair else [
            spec.contact("floor", one) for one in ("ball", "box", "hull", "egg", "can")
        ]
    spec.contact("can", "ball", friction=0.15)
    spec.actuate("arm")
    q = np.array([0.3, 1.5, 0.2, 0.4, 0.0, 0.0, 0.0, 1.0])
    return spec.compile().with_default(q)


@pytest.mark.parametrize("suffix", ["xml", "urdf", "sdf"])
def test_surfaces_there_and_back(suffix: str, tmp_path: Path) -> None:
    mech, file = machine(), tmp_path / f"copy.{suffix}"
    sr.save(mech, file)
    again = sr.load(file, contacts=True)
    order = [again.names.index(name) for name in mech.names]
    rng = np.random.default_rng(0)
    for _ in range(3):
        move = 0.3 * rng.standard_normal(mech.nv)
        there = np.zeros(mech.nv)
        there[order] = move
        ours = least_gaps(mech, mech.integrate(mech.default.q, move))
        theirs = least_gaps(again, again.integrate(again.default.q, there))
        assert theirs.keys() == ours.keys()
        for pair, gap in ours.items():
            assert theirs[pair] == pytest.approx(gap, abs=1e-9 if suffix != "xml" else 1e-6)
    if suffix != "xml":  # which has neither restitution nor a friction below 1e-5
        by_name = {one.name: one for one in again.model.surfaces}
        for one in mech.model.surfaces:
            law = [(x.friction, x.restitution, x.torsion, x.rolling) for x in (one, by_name[one.name])]
            assert law[0] == law[1]


def test_mujoco_sees_what_was_written(tmp_path: Path) -> None:
    """The gaps, the pairs and their friction; a floor of a scene touches what does not touch each other."""
    mech, file = machine(), tmp_path / "copy.xml"
    sr.save(mech, file)
    text = file.read_text()
    model = mujoco.MjModel.from_xml_path(str(file))
    data, ends = mujoco.MjData(model), np.zeros(6)
    bridge = sr.bridge.mujoco(mech, model)
    bridge.to_mujoco(data, *mech.default)
    mujoco.mj_kinematics(model, data)
    for pair, gap in least_gaps(mech, mech.default.q).items():
        ids = [model.geom(one).id for one in pair]
        assert gap == pytest.approx(mujoco.mj_geomDistance(model, data, *ids, 100.0, ends), abs=1e-6)
    said = {
        frozenset((model.geom(a).name, model.geom(b).name)): friction[:5].tolist()
        for a, b, friction in zip(model.pair_geom1, model.pair_geom2, model.pair_friction, strict=True)
    }
    assert said[frozenset(("ball", "box"))] == pytest.approx([0.2, 0.2, 0.01, 0.001, 0.001])
    assert said[frozenset(("can", "ball"))][0] == pytest.approx(0.15)
    scene = text.replace(
        "</worldbody>", '<geom name="stage" type="plane" size="0 0 1" pos="0 0 9"/></worldbody>'
    )
    lifted = mujoco.MjModel.from_xml_string(scene)
    data = mujoco.MjData(lifted)
    mujoco.mj_forward(lifted, data)
    touching = {frozenset(lifted.geom(int(g)).name for g in one) for one in data.contact.geom}
    floor = {frozenset(("stage", one)) for one in ("ball", "bar", "box", "hull", "egg", "can")}
    assert floor <= touching <= floor | said.keys()


def sdf(*models: str) -> str:
    return f"<sdf version='1.9'><world name='w'>{''.join(models)}</world></sdf>"


def sdf_ball(name: str, xyz: str, more: str = "", bits: str = "") -> str:
    mask = f"<contact><collide_bitmask>{bits}</collide_bitmask></contact>" if bits else ""
    surface = f"<surface><friction><ode><mu>0.4</mu></ode></friction>{mask}</surface>"
    return (
        f"<link name='{name}'><pose>{xyz} 0 0 0</pose>{more}<collision name='c'><geometry><sphere>"
        f"<radius>0.1</radius></sphere></geometry>{surface}</collision></link>"
    )


GROUND_PLANE = (
    "<model name='ground_plane'><static>true</static><link name='l'><collision name='c'><geometry><plane>"
    "<normal>0 0 1</normal></plane></geometry></collision></link></model>"
)


def test_a_world_with_a_static_floor_stays_where_it_is() -> None:
    """Links of a static model beside others used to be free, so that the floor fell with the robot."""
    world = sdf(GROUND_PLANE, f"<model name='m'>{sdf_ball('ball', '0 0 1')}</model>")
    mech = sr.load(world, contacts=True)
    assert mech.nv == 6 and [one.name for one in mech.model.contacts] == ["ground_plane::l_c/m::ball_c"]
    found = mech.contacts(mech.default.q)
    assert found.gap.tolist() == pytest.approx([0.9]) and found.normal[0].tolist() == [0, 0, 1]
    run = sr.simulate(mech, (0.0, 1.0), contacts="steps", dt=1e-3)
    assert run.success and run.q[-1, 2] == pytest.approx(0.1, abs=1e-9)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (sdf_ball("a", "0 0 0") + sdf_ball("b", "1 0 0"), 0),
        ("<self_collide>true</self_collide>" + sdf_ball("a", "0 0 0") + sdf_ball("b", "1 0 0"), 1),
        (sdf_ball("a", "0 0 0", "<self_collide>true</self_collide>") + sdf_ball("b", "1 0 0"), 1),
        (
            "<self_collide>true</self_collide>"
            + sdf_ball("a", "0 0 0", bits="0x01")
            + sdf_ball("b", "1 0 0", bits="0x02"),
            0,
        ),
        (
            "<self_collide>true</self_collide>"
            + sdf_ball("a", "0 0 0")
            + sdf_ball("b", "1 0 0")
            + "<joint name='j' type='ball'><parent>a</parent><child>b</child></joint>",
            0,
        ),
    ],
)
def test_links_of_one_sdf_model_touch_where_it_says_so(text: str, count: int) -> None:
    mech = sr.load(sdf(f"<model name='m'>{text}</model>"), contacts=True)
    assert len(mech.model.contacts) == count
    two = sdf(f"<model name='m'>{text}</model>", f"<model name='n'>{sdf_ball('c', '0 2 0')}</model>")
    assert len(sr.load(two, contacts=True).model.contacts) == count + 2


STAGE = """#usda 1.0
(metersPerUnit = 0.01
 upAxis = "Z")
def Material "Ice" (prepend apiSchemas = ["PhysicsMaterialAPI"])
{
    float physics:dynamicFriction = 0.05
    float physics:restitution = 0.25
}
def Plane "floor" (prepend apiSchemas = ["PhysicsCollisionAPI"])
{
    uniform token axis = "Z"
    double3 xformOp:translate = (0, 0, -50)
    uniform token[] xformOpOrder = ["xformOp:translate"]
}
%s
"""
BODY = """def Xform "%s" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"%s])
{
    float physics:mass = 1
    float3 physics:diagonalInertia = (1, 1, 1)
    double3 xformOp:translate = (%s)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    %s
    def Sphere "ball_%s" (prepend apiSchemas = ["PhysicsCollisionAPI", "MaterialBindingAPI"])
    {
        double radius = 10
        rel material:binding:physics = </Ice>
    }
}
"""


def usd_body(name: str, place: str, api: str = "", more: str = "") -> str:
    return BODY % (name, api, place, more, name)


def usd(*parts: str) -> sr.Mechanism:
    pytest.importorskip("pxr")
    return sr.load(STAGE % "".join(parts), contacts=True)


def test_colliders_of_a_stage_in_its_units() -> None:
    mech = usd(usd_body("a", "0, 0, 0"), usd_body("b", "100, 0, 0"))
    gaps = least_gaps(mech, mech.default.q)
    assert gaps[frozenset(("floor", "ball_a"))] == pytest.approx(0.4)
    assert gaps[frozenset(("ball_a", "ball_b"))] == pytest.approx(0.8)
    ball = next(one for one in mech.model.surfaces if one.name == "ball_a")
    assert (ball.friction, ball.restitution) == pytest.approx((0.05, 0.25))
    assert next(one for one in mech.model.surfaces if one.name == "floor").friction == 0.5


JOINT = """def PhysicsSphericalJoint "j"
{
    rel physics:body0 = </a>
    rel physics:body1 = </b>
    point3f physics:localPos0 = (50, 0, 0)
    point3f physics:localPos1 = (-50, 0, 0)
    %s
}
"""
GROUPS = """def PhysicsCollisionGroup "one" (prepend apiSchemas = ["CollectionAPI:colliders"])
{
    rel collection:colliders:includes = [</a>]
    rel physics:filteredGroups = [</two>]
}
def PhysicsCollisionGroup "two" (prepend apiSchemas = ["CollectionAPI:colliders"])
{
    rel collection:colliders:includes = [</b>]
}
"""
MESH = """def Mesh "hull_%s" (prepend apiSchemas = ["PhysicsCollisionAPI"])
    {
        point3f[] points = [(0, 0, 0), (10, 0, 0), (0, 10, 0), (0, 0, -20)]
        int[] faceVertexCounts = [3, 3, 3, 3]
        int[] faceVertexIndices = [0, 1, 2, 0, 2, 3, 0, 3, 1, 1, 3, 2]
    }
"""


@pytest.mark.parametrize(
    ("parts", "meet"),
    [
        ((usd_body("a", "0, 0, 0"), usd_body("b", "100, 0, 0"), JOINT % ""), False),
        (
            (
                usd_body("a", "0, 0, 0"),
                usd_body("b", "100, 0, 0"),
                JOINT % "bool physics:collisionEnabled = true",
            ),
            True,
        ),
        ((usd_body("a", "0, 0, 0"), usd_body("b", "100, 0, 0"), GROUPS), False),
        (
            (
                usd_body("a", "0, 0, 0", ', "PhysicsFilteredPairsAPI"', "rel physics:filteredPairs = [</b>]"),
                usd_body("b", "100, 0, 0"),
            ),
            False,
        ),
    ],
)
def test_what_a_stage_keeps_apart(parts: tuple[str, ...], meet: bool) -> None:
    pairs = {frozenset((one.a, one.b)) for one in usd(*parts).model.contacts}
    assert (frozenset(("ball_a", "ball_b")) in pairs) == meet
    assert frozenset(("floor", "ball_a")) in pairs


def test_a_mesh_of_a_stage_touches_with_its_hull() -> None:
    mech = usd(usd_body("a", "0, 0, 0", more=MESH % "a"))
    assert least_gaps(mech, mech.default.q)[frozenset(("floor", "hull_a"))] == pytest.approx(0.3)


def test_hulls_with_few_corners_say_by_how_much_they_are_smaller(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    points = rng.standard_normal((2000, 3))
    points *= 0.1 / np.linalg.norm(points, axis=1, keepdims=True)
    corners, inside = collision_hull(points, 32)
    assert len(corners) == 32 and collision_hull(points, None)[1] == 0.0
    from scipy.spatial import ConvexHull

    planes = ConvexHull(corners).equations
    assert inside == pytest.approx(np.max(points @ planes[:, :3].T + planes[:, 3]), rel=1e-12)
    assert inside < 0.03  # of a ball of 0.1 m
    box = np.array(np.meshgrid(*[np.linspace(-1, 1, 9)] * 3)).reshape(3, -1).T
    assert len(collision_hull(box, 8)[0]) == 8 and collision_hull(box, 8)[1] == 0.0
    with pytest.raises(sr.InputError, match="lie in a plane"):
        collision_hull(points * [1, 1, 0], 32)
    triangles = points[ConvexHull(points).simplices]
    lines = "".join("v {} {} {}\n".format(*one) for one in triangles.reshape(-1, 3))
    lines += "".join(f"f {3 * k + 1} {3 * k + 2} {3 * k + 3}\n" for k in range(len(triangles)))
    (tmp_path / "ball.obj").write_text(lines)
    robot = ROBOT.replace(BALL, '<mesh filename="ball.obj"/>')
    (tmp_path / "robot.urdf").write_text(robot)
    mech = sr.load(tmp_path / "robot.urdf", contacts=True, hull_corners=20)
    said = next(one for one in mech.omitted if "corners of the hulls" in one)
    assert "upper1: " in said and "mm" in said
    sizes = {one.name: len(one.shape.hull()[0]) for one in mech.model.surfaces if one.name == "upper1"}
    assert sizes == {"upper1": 20}
    for bad in (3, True, 2.5, "x"):
        with pytest.raises(sr.InputError, match="hull_corners must be an integer of at least 4"):
            sr.load(ROBOT, hull_corners=bad)


def test_shapes_that_cannot_be_read_are_listed(tmp_path: Path) -> None:
    (tmp_path / "bad.stl").write_bytes(b"no mesh")
    flat = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 3 2 1\n"
    (tmp_path / "flat.obj").write_text(flat)
    robot = ROBOT
    for name in ("bad.stl", "flat.obj", "none.stl"):
        robot = robot.replace(
            "</link>", f'<collision><geometry><mesh filename="{name}"/></geometry></collision>\n</link>', 1
        )
    robot = robot.replace("</link>", "<collision><geometry/></collision></link>", 1)
    (tmp_path / "robot.urdf").write_text(robot)
    mech = sr.load(tmp_path / "robot.urdf", contacts=True)
    said = " ".join(mech.omitted)
    for reason in ("no STL file", "a flat mesh", "mesh that was not found", "no geometry"):
        assert reason in said
    with warnings.catch_warnings(), pytest.raises(sr.FormatError, match="strict=True"):
        sr.load(tmp_path / "robot.urdf", contacts=True, strict=True)
