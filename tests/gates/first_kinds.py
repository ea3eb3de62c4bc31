"""One small program for every kind that a description or a control law is made of; see first_uses.py."""

from __future__ import annotations

SPEC = """
spec = sr.MechanismSpec()
spec.body("a", joint=sr.Revolute("y"), mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1))
"""
PAIR = (
    SPEC + 'spec.body("b", "a", joint=sr.Revolute("y"), at=sr.Pose((0, 0, -1)), mass=1.0, com=(0, 0, -0.5))\n'
)
LAW = "m = sr.library.delta(); q, v = m.default; C = sr.control; out = C.Position('platform'); "
USES: dict[str, str] = {}

AT = "'a', (0, 0, 0), 'b', (0, 0, -0.5)"
TREES = {
    "Prismatic": "",
    "Helical": "'z', 0.1",
    "Cylindrical": "",
    "Universal": "",
    "Spherical": "",
    "Planar": "",
}
TREES |= {"Revolute": "", "Free": "", "Fixed": "", "Deflection": ""}
USES |= {
    kind: SPEC + f"spec.body('b', 'a', joint=sr.{kind}({how}), mass=1.0, inertia=(0.1, 0.1, 0.1))\n"
    "m = spec.compile(); m.forward_dynamics(m.neutral(), [0.0] * m.nv)"
    for kind, how in TREES.items()
}
USES |= {
    kind: PAIR + "spec.body('s', joint=sr.Prismatic('x'), mass=1.0)\n"
    f"spec.constrain('c', sr.{kind}({how})); m = spec.compile(); m.terms(m.neutral(), [0.0] * m.nv)"
    for kind, how in {
        "Distance": f"{AT}, 1.5",
        "PointOnLine": f"{AT}, 'z'",
        "PointOnPlane": f"{AT}, 'x'",
        "PointOnCylinder": f"{AT}, 'y', 1.5",
        "Coupling": "{'a': 1.0, 'b': -1.0}",
        "PolynomialCoupling": "'b', 'a', (0.0, 1.0, 0.2)",
        "Cam": "'b', 'a', [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [0.0, 0.1, 0.2, 0.3, 0.2, 0.1]",
        "Gear": "'a', 'b', 20, 40, 1 / 30",
        "Belt": "'a', 'b', 0.1, 0.2",
        "Drive": "'a', lambda t: t",
        "DrivenDistance": f"{AT}, lambda t: 1.5 + 0.1 * t",
        "Span": f"{AT}, 's', 1.5",
        "Rolling": "'b', 0.5, 'y', 'z'",
        "CustomConstraint": "lambda q, t: [q[0] - q[1]], 1",
    }.items()
}
USES |= {
    kind: PAIR
    + f"spec.force('f', sr.{kind}({how})); m = spec.compile(); m.forward_dynamics(m.neutral(), [0.1] * 2)"
    for kind, how in {
        "PointSpring": f"{AT}, 40.0",
        "PointSpringTable": f"{AT}, [0.1, 0.5, 1.5], [-9.0, 1.0, 30.0]",
        "PointDamperTable": f"{AT}, [-1.0, 0.0, 1.0], [-9.0, 0.0, 30.0]",
        "JointSpring": "'a', 40.0",
        "JointSpringTable": "'a', [-1.0, 0.0, 1.0], [-9.0, 0.0, 30.0]",
        "JointDamper": "'a', 0.5",
        "JointDamperTable": "'a', [-1.0, 0.0, 1.0], [-9.0, 0.0, 30.0]",
        "Motor": "'a', [0.0, 1.0, 2.0], [5.0, 4.0, 0.0]",
        "Bushing": "'a', 'b', stiffness=[9.0] * 6",
        "CoulombFriction": "'a', 0.5",
        "BearingFriction": "'a', 0.1, 0.03",
        "EndStop": "'a', (-1.0, 1.0), 1e3",
        "BodyForce": "'a', lambda t, pose, twist: -twist",
        "FormulaForce": "[-0.5 * spec.speed('a')], 'a'",
        "UserForce": "lambda t, x, rate: -x, 'a'",
        "ConstantWrench": "'a', [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]",
    }.items()
}
USES["ThrustFriction"] = (
    SPEC
    + "spec.force('f', sr.ThrustFriction('a', 0.1, 0.03)); m = spec.compile(); m.hold([0.0], by='a', v=[1.0])"
)
USES["ScrewFriction"] = (
    "spec = sr.MechanismSpec(); spec.body('a', joint=sr.Helical('z', 0.01), mass=1.0, inertia=(1, 1, 1))\n"
    "spec.force('f', sr.ScrewFriction('a', 0.1, 0.03)); m = spec.compile(); m.hold([0.0], by='a', v=[1.0])"
)
USES["ToothFriction"] = (
    PAIR + "spec.constrain('c', sr.Gear('a', 'b', 20, 40, 1 / 30))\n"
    "spec.force('f', sr.ToothFriction('c', efficiency=0.9)); m = spec.compile()\n"
    "m.forward_dynamics(m.neutral(), [0.0] * m.nv)"
)
CORNERS = "(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)"
SOLID = f"""
corners = [{CORNERS}]
faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
with open(folder + "/t.stl", "w") as file:
    print("solid t", file=file)
    for face in faces:
        print("facet normal 0 0 0\\nouter loop", file=file)
        for k in face: print("vertex", *corners[k], file=file)
        print("endloop\\nendfacet", file=file)
    print("endsolid t", file=file)
"""
USES |= {
    kind: f"{SOLID if kind == 'Mesh' else ''}spec = sr.MechanismSpec()\n"
    f"spec.part('a', shape=sr.{kind}({how}, mass=2.0))\n"
    "spec.joint('j', 'ground', 'a', sr.Revolute('y'), at=(0, 0, 0))\n"
    "assert spec.compile().nv == 1"
    for kind, how in {
        "Box": "(1.0, 0.2, 0.1)",
        "Cylinder": "0.1, 1.0",
        "Tube": "0.1, 0.05, 1.0",
        "Sphere": "0.1",
        "Plate": "[(0, 0), (1, 0), (0, 1)], 0.1",
        "Mesh": "folder + '/t.stl'",
        "Capsule": "0.1, 1.0",
        "Profile": "[(-0.1, 0, 1), (0.1, 0, 1)], 0.02",
        "Ellipsoid": "(0.1, 0.2, 0.3)",
        "ConvexMesh": "[(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]",
    }.items()
}
USES |= {
    kind: PAIR + "spec.force('f', sr.JointSpring('a', 40.0))\n"
    f"spec.measure('x', sr.{kind}({how})); m = spec.compile(); m.measure(m.neutral(), [0.0] * m.nv)"
    for kind, how in {
        "Position": "'b', (0, 0, -0.5)",
        "Length": f"{AT}",
        "Angle": "'a', 'b', 'y'",
        "Speed": "'b'",
        "Coordinate": "'a'",
        "ForceIn": "'f'",
        "Reaction": "'a'",
        "Accelerometer": "'b', (0, 0, -0.5)",
        "Gyroscope": "'b'",
        "ForceTorque": "'b', part='force'",
    }.items()
}
USES["Rope"] = (
    "spec = sr.MechanismSpec()\n"
    "spec.body('c', joint=sr.Revolute('z'), mass=1.0, inertia=(1, 1, 1))\n"
    "spec.body('f', joint=sr.Prismatic('y'), at=sr.Pose((0.2, -1, 0)), mass=1.0)\n"
    "m = spec.constrain('r', sr.Rope('c', 'f', 0.2)).compile(); m.mass_matrix(m.default.q)"
)
USES["PressureAngle"] = (
    "spec = sr.MechanismSpec()\n"
    "spec.body('c', joint=sr.Revolute('z'), mass=1.0, inertia=(1, 1, 1))\n"
    "spec.body('f', joint=sr.Prismatic('y'), mass=1.0)\n"
    "x, y = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 1.1, 1.2, 1.3, 1.2, 1.1]\n"
    "spec.constrain('cam', sr.Cam('f', 'c', x, y, (0, 0, 0)))\n"
    "m = spec.measure('p', sr.PressureAngle('cam')).compile(); m.measure(m.assemble().q)"
)
USES["HalfSpace"] = SPEC + "spec.surface('floor', 'ground', sr.HalfSpace('x'), friction=0.5).compile()"
# parts of control laws: outputs with a target, references and limits
OUTPUTS = {
    "BodyPose": ("'platform', axes='xyz'", "m.pose(q, 'platform')"),
    "CenterOfMass": ("", "m.center_of_mass(q)"),
    "Coordinates": ("m.actuators[0]", "q[m.index(m.actuators[0]).q]"),
    "Function": ("lambda q: q[:1]", "q[:1]"),
    "Orientation": ("'platform'", "m.pose(q, 'platform')"),
    "Posture": ("m.actuators", "[q[m.index(x).q.start] for x in m.actuators]"),
    "RelativePose": ("'platform', m.body_names[1], axes='x'", "m.pose(q, 'platform')"),
}
REFERENCES = {
    "SetPoint": "[0.05, 0.0, -0.6]",
    "MinimumJerk": "[0.0, 0.0, -0.6], [0.05, 0.0, -0.6], 1.0",
    "Sinusoid": "[0.0, 0.0, -0.6], [0.05, 0.0, 0.0], 1.0",
    "Spline": "[0.0, 1.0], [[0.0, 0.0, -0.6], [0.05, 0.0, -0.6]]",
}
LIMITS = {
    "Friction": "'grip_left', 0.5, '-x'",
    "Unilateral": "'grip_left.tx', -1, 1.0",
    "LinearLimits": "'same', lam=[1.0] + [0.0] * (m.nc - 1), upper=100.0",
    "Preload": "{'left1': -1}, 1.0",
}
for _kind, (_how, _target) in OUTPUTS.items():
    USES[f"control.{_kind}"] = (
        f"{LAW}C.ProjectedInverseDynamics(m, C.{_kind}({_how}), {_target}).solve(0.0, q, v)"
    )
for _kind, _how in REFERENCES.items():
    USES[f"control.{_kind}"] = f"{LAW}C.ProjectedInverseDynamics(m, out, C.{_kind}({_how})).solve(0.0, q, v)"
ARMS = "C = sr.control; m = sr.library.dual_planar_arms('body'); "
for _kind, _how in LIMITS.items():
    USES[f"control.{_kind}"] = (
        f"{ARMS}C.ForceLimits(m, ['object.x'], 0.0, [C.{_kind}({_how})]).solve(0.0, *m.default)"
    )
CANTILEVER = """
spec = sr.MechanismSpec()
beam = sr.Beam((0, 0, 0), (1, 0, 0), diameter=0.02, youngs_modulus=7e10, density=2700)
spec.flexible("beam", "ground", beam)
m = spec.compile()
"""
TETRAHEDRA = """
import itertools
import numpy as np
nodes = [(0.1 * k, 0.05 * np.cos(2 * j), 0.05 * np.sin(2 * j)) for k in range(3) for j in range(3)]
K = np.zeros((27, 27))
for i, j in itertools.combinations(range(9), 2):
    r = np.subtract(nodes[j], nodes[i])
    at = [*range(3 * i, 3 * i + 3), *range(3 * j, 3 * j + 3)]
    K[np.ix_(at, at)] += 1e6 * np.kron([[1, -1], [-1, 1]], np.outer(r, r) / (r @ r))
"""
USES |= {
    "Beam": CANTILEVER + "assert m.nv == 12",
    "Flexibility": CANTILEVER + "assert isinstance(m.model.forces[0][1], sr.Flexibility)",
    "ModalBody": TETRAHEDRA
    + "part = sr.ModalBody(0.1 * np.eye(27), K, nodes, [[0, 1, 2], [6, 7, 8]], modes=2)\n"
    "spec = sr.MechanismSpec(); spec.flexible('truss', 'ground', part); assert spec.compile().nv == 8",
}
