"""Flexible bodies in mechanisms: laws of mechanics, closed forms, rooms of the library, refusals."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import sarrus as sr

Array = npt.NDArray[np.float64]
STEEL: dict[str, Any] = {"youngs_modulus": 2e11, "density": 7800.0}
SOFT: dict[str, Any] = {"youngs_modulus": 1e6, "density": 1000.0}


def arm(stiffening: bool = True, joint: sr.Revolute | sr.Universal | None = None) -> sr.Mechanism:
    """A beam of two pieces on a turning arm, with a body at its end."""
    spec = sr.MechanismSpec(name="arm")
    spec.body("arm", joint=sr.Revolute("y"), mass=1.0, com=(0.2, 0, 0), inertia=(0.01, 0.01, 0.01))
    given = {"diameter": 0.05, "modes": 2, "shear_factor": 0.9, "stiffening": stiffening} | SOFT
    beam = sr.Beam((0.1, 0, 0), (0.5, 0.2, 0.1), through=[(0.3, 0, 0)], **given)
    spec.flexible("beam", "arm", beam, joint, sr.Pose((0.4, 0, 0.1), rpy=(0.3, 0.2, 0.1)))
    spec.body(
        "tip", "beam.b", joint=sr.Revolute("x"), mass=0.5, com=(0.1, 0.02, 0), inertia=(0.01, 0.02, 0.02)
    )
    return spec.compile()


def state(mech: sr.Mechanism) -> tuple[Array, Array]:
    rng = np.random.default_rng(3)
    return 0.01 * rng.normal(size=mech.nq), rng.normal(size=mech.nv)


def cantilever(**options: Any) -> sr.Mechanism:
    given = {"width": 0.02, "height": 0.03} | STEEL | options
    return sr.MechanismSpec().flexible("beam", "ground", sr.Beam((0, 0, 0), (1, 0, 0), **given)).compile()


# ---------------------------------------------------------------------- laws


@pytest.mark.parametrize("stiffening", [True, False])
@pytest.mark.parametrize("joint", [None, sr.Universal("y", "z")])
def test_bias_is_that_of_lagrange(stiffening: bool, joint: Any) -> None:
    """h = M' v - d(v M v / 2)/dq + dU/dq, from M and the energy alone."""
    mech, step = arm(stiffening, joint), 1e-4
    q, v = state(mech)

    def along(function: Any) -> Array:
        near, far = (
            np.array([(function(q + s * u) - function(q - s * u)) / (2 * s) for u in np.eye(mech.nv)])
            for s in (step, 2 * step)
        )
        return np.asarray((4 * near - far) / 3)

    dM = along(mech.mass_matrix)
    dU = along(lambda x: mech.energy(x, 0 * v).potential)
    h = np.einsum("kij,k,j->i", dM, v, v) - 0.5 * np.einsum("kij,i,j->k", dM, v, v) + dU
    np.testing.assert_allclose(mech.bias(q, v), h, atol=1e-7 * np.max(np.abs(h)))
    M = mech.mass_matrix(q)
    assert mech.energy(q, v).kinetic == pytest.approx(0.5 * v @ M @ v, rel=1e-12)
    a = np.sin(np.arange(mech.nv))
    np.testing.assert_allclose(mech.rnea(q, v, a), M @ a + mech.bias(q, v), atol=1e-9 * np.max(np.abs(h)))


def test_momentum_and_centre_of_mass() -> None:
    mech = arm(joint=sr.Universal("y", "z"))
    (q, v), s = state(mech), 1e-5
    centre = (mech.center_of_mass(q + s * v) - mech.center_of_mass(q - s * v)) / (2 * s)
    momentum = mech.centroidal_momentum(q, v)
    np.testing.assert_allclose(momentum[:3], mech.model.mass.sum() * centre, atol=1e-8)
    np.testing.assert_allclose(mech.centroidal_momentum_matrix(q) @ v, momentum, atol=1e-12)
    a = np.cos(np.arange(mech.nv))
    rate = [mech.centroidal_momentum(q + r * v + 0.5 * r * r * a, v + r * a) for r in (s, -s)]
    found = mech.centroidal_momentum_rate(q, v, a)
    np.testing.assert_allclose(found, (rate[0] - rate[1]) / (2 * s), atol=1e-6 * np.max(np.abs(found)))


def test_a_clamped_beam_has_its_centre_of_mass() -> None:
    mech = cantilever()
    np.testing.assert_allclose(mech.center_of_mass(mech.neutral()), (0.5, 0, 0), atol=1e-12)
    q = 1e-3 * np.sin(np.arange(mech.nq))
    J = mech.center_of_mass_jacobian(q)
    far = [mech.center_of_mass(q + s * J[1]) for s in (1e-5, -1e-5)]
    np.testing.assert_allclose((far[0] - far[1]) / 2e-5, J @ J[1], atol=1e-9)


@pytest.mark.parametrize("closed", [False, True])
def test_linear_models(closed: bool) -> None:
    """Analytic derivatives are those of dual numbers, in motion, with and without a loop."""
    mech = arm(joint=sr.Universal("y", "z"))
    q, v = state(mech)
    if closed:
        spec = sr.MechanismSpec.from_model(mech.model)
        spec.constrain("rod", sr.Distance("ground", (0.3, 0.5, 0), "beam.1", (0, 0.05, 0), 0.7))
        mech = spec.compile()
        q, v = mech.project(mech.assemble(q).q, v)
    A, dual = (sr.linearize(mech, q, v, method=method).A for method in ("analytic", "dual"))
    np.testing.assert_allclose(A, dual, atol=1e-9 * np.max(np.abs(dual)))


def test_energy_of_runs() -> None:
    """Kept by a beam that swings and turns in space; lost with damping."""
    spec = sr.MechanismSpec()
    beam = sr.Beam((0, 0, 0), (1, 0, 0), width=0.03, height=0.05, modes=1, **SOFT)
    spec.flexible("beam", "ground", beam, sr.Spherical())
    mech = spec.compile()
    v = np.zeros(mech.nv)
    v[:3] = 1.0, 0.5, -0.3
    run = sr.simulate(mech, (0, 0.2), v0=v, rtol=1e-9, energy=True)
    assert run.success
    size = np.ptp([mech.energy(q, w).kinetic for q, w in zip(run.q, run.v, strict=True)])
    assert np.ptp(run.energy) < 1e-6 * size


def test_reaction_at_the_clamp() -> None:
    """What holds a beam at rest bears its weight; in motion the rate of its momentum as well."""
    spec = sr.MechanismSpec()
    spec.body("slide", joint=sr.Prismatic("z"), mass=1.0)
    spec.flexible("beam", "slide", sr.Beam((0, 0, 0), (1, 0, 0), diameter=0.02, modes=2, **SOFT))
    mech = spec.compile()
    q, v = state(mech)
    motion = mech.forward_dynamics(q, v)
    carried = motion.reaction("beam", "world")
    rate = mech.centroidal_momentum_rate(q, v, motion.a)
    weight = mech.model.mass.sum() * 9.81
    through = motion.reaction("slide", "world")
    np.testing.assert_allclose(through[:3], rate[:3] + np.array((0, 0, weight)), atol=1e-9 * weight)
    a = motion.a[mech.index("slide").v][0]
    np.testing.assert_allclose(carried[:3], through[:3] - (0, 0, a + 9.81), atol=1e-9 * weight)


# ---------------------------------------------------------------------- closed forms


def test_static_deflections() -> None:
    """Weight: w L^4 / (8 E I); moment and force at the end; a rod's own weight along it."""
    mech = cantilever()
    I, A = 0.02 * 0.03**3 / 12, 0.02 * 0.03
    rest = sr.equilibrium(mech)
    w = 7800 * A * 9.81
    assert rest.q[mech.names.index("beam.b.z")] == pytest.approx(-w / (8 * 2e11 * I), rel=1e-6)
    assert rest.q[mech.names.index("beam.b.ry")] == pytest.approx(w / (6 * 2e11 * I), rel=1e-6)
    hung = sr.MechanismSpec().flexible(
        "rod", "ground", sr.Beam((0, 0, 0), (0, 0, -1), diameter=0.02, **STEEL)
    )
    stretched = hung.compile()
    longer = sr.equilibrium(stretched).q[stretched.names.index("rod.b.x")]
    assert longer == pytest.approx(7800 * 9.81 / (2 * 2e11), rel=1e-6)


def test_tension_stiffens_and_pressure_buckles() -> None:
    """The first frequency of a cantilever vanishes at Euler's load pi^2 E I / (4 L^2)."""
    I = np.pi * 0.02**4 / 64
    euler = np.pi**2 * 2e11 * I / 4.0

    def square(load: float) -> float:
        spec = sr.MechanismSpec(gravity=(0, 0, 0))
        spec.flexible("beam", "ground", sr.Beam((0, 0, 0), (1, 0, 0), diameter=0.02, modes=8, **STEEL))
        spec.force("load", sr.ConstantWrench("beam.b", (load, 0, 0, 0, 0, 0)))
        mech = spec.compile()
        q = mech.neutral()
        q[mech.names.index("beam.b.x")] = load / (2e11 * np.pi * 0.01**2)
        A = sr.linearize(mech, q, np.zeros(mech.nv)).A
        poles = np.linalg.eigvals(A)
        return float(-np.max((poles**2).real))

    free, near = square(0.0), square(-0.999 * euler)
    assert 0.0 < near < 2e-3 * free
    assert square(-1.001 * euler) < 0.0 < free < square(euler)


def southwell(speed: float, count: int = 24) -> float:
    """First frequency of flapping of a beam that turns, in units of sqrt(EI / (rho A L^4)), by collocation.

    w'''' - speed^2 (T w')' = omega^2 w with T = (1 - x^2) / 2, by polynomials in a Galerkin method.
    """
    x, w = np.polynomial.legendre.leggauss(2 * count)
    x, w = 0.5 * (x + 1.0), 0.5 * w
    k = np.arange(2, count // 2 + 2)[:, None]
    shapes, slopes, bends = x**k, k * x ** (k - 1), k * (k - 1) * x ** (k - 2.0)
    K = (bends * w) @ bends.T + speed**2 * (slopes * w * 0.5 * (1 - x**2)) @ slopes.T
    M = (shapes * w) @ shapes.T
    L = np.linalg.cholesky(M)
    return float(np.sqrt(np.linalg.eigvalsh(np.linalg.solve(L, np.linalg.solve(L, K).T))[0]))


@pytest.mark.parametrize("speed", [1.0, 3.0, 6.0])
def test_turning_beams_are_stiffer(speed: float) -> None:
    """Flapping across the plane of rotation [Kane1987]: omega of a beam that turns, from its own equation."""
    EI, mass, axial = 1.4e4, 1.2, 2.8e9
    unit = np.sqrt(EI / (mass * 1e4))
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("hub", joint=sr.Revolute("z"), mass=1.0, inertia=(1, 1, 1))
    beam = sr.Beam((0, 0, 0), (10, 0, 0), area=axial / 7e10, bending=(EI / 7e10, EI / 7e10), torsion=1e-3,
                   youngs_modulus=7e10, density=mass * 7e10 / axial, modes=10)  # fmt: skip
    spec.flexible("beam", "hub", beam)
    spec.constrain("drive", sr.Drive("hub", lambda t: speed * unit * t))
    mech = spec.compile()
    v = np.zeros(mech.nv)
    v[0] = speed * unit
    rest = mech.neutral()
    flap = [mech.names.index(f"beam.b.{c}") for c in ("z", "ry")]
    flap += [k for k in range(mech.nv) if "mode" in mech.names[k]]
    a = lambda q: mech.acceleration(q, v, np.zeros(mech.nv))  # noqa: E731
    s = 1e-6
    slopes = np.array([(a(rest + s * u) - a(rest - s * u)) / (2 * s) for u in np.eye(mech.nv)]).T
    # the stretch of equilibrium under the centrifugal force, by Newton steps
    q = np.array(rest)
    for _ in range(3):
        q[1:] -= np.linalg.lstsq(slopes[1:, 1:], a(q)[1:], rcond=None)[0]
        slopes = np.array([(a(q + s * u) - a(q - s * u)) / (2 * s) for u in np.eye(mech.nv)]).T
    squares = -np.linalg.eigvals(slopes[np.ix_(flap, flap)]).real
    first = np.sqrt(np.min(squares[squares > 0.0])) / unit
    assert first == pytest.approx(southwell(speed), rel=2e-4)


def elastica(load: float) -> tuple[float, float]:
    """End of a cantilever of length 1 that a dead force load * E I / L^2 bends: theta'' = load cos(theta)."""
    from scipy.integrate import solve_bvp

    s = np.linspace(0.0, 1.0, 101)
    rates = lambda s, y: np.vstack([y[1], -load * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])])  # noqa: E731
    ends = lambda a, b: np.array([a[0], b[1], a[2], a[3]])  # noqa: E731
    found = solve_bvp(rates, ends, s, np.vstack([s, 1 - s, s, 0.5 * s * s]), tol=1e-9, max_nodes=10000)
    return float(found.y[2, -1]), float(abs(found.y[3, -1]))


def test_large_beams_bend_as_the_elastica() -> None:
    """To a tip angle of 79 degrees; the error falls with the third power of the number of elements."""
    exact, errors = np.array(elastica(10.0)), []
    for elements in (8, 16):
        q = None
        for share in (0.25, 0.5, 1.0):
            spec = sr.MechanismSpec(gravity=(0, 0, 0))
            beam = sr.Beam((0, 0, 0), (1, 0, 0), diameter=0.01, large=True, elements=elements, **SOFT)
            load = share * 10.0 * 1e6 * np.pi * 0.01**4 / 64
            spec.flexible("beam", "ground", beam)
            spec.force("load", sr.ConstantWrench("beam.b", (0, 0, -load, 0, 0, 0)))
            mech = spec.compile()
            q = sr.equilibrium(mech, q).q
        errors.append(np.max(np.abs(np.abs(mech.pose(q, "beam.b").xyz[[0, 2]]) - exact)))
    assert errors[1] < 5e-4 and errors[0] > 6.0 * errors[1]


# ---------------------------------------------------------------------- bodies like others


def four_bar(E: float | None) -> sr.Mechanism:
    """A four-bar in a plane of space, whose coupler bends, or is a rigid rod of the same mass (None)."""
    spec = sr.MechanismSpec(name="four-bar")
    spec.body("crank", joint=sr.Revolute("y"), mass=1.0, com=(0.1, 0, 0), inertia=(0.01, 0.01, 0.01))
    at = sr.Pose((0.2, 0, 0))
    if E is None:
        m, spin = 2700 * 0.02**2 * 0.8, 2700 * 0.02**4 / 6 * 0.8
        inertia = (spin, m * 0.64 / 12, m * 0.64 / 12)
        spec.body("coupler", "crank", joint=sr.Revolute("y"), at=at, mass=m, com=(0.4, 0, 0), inertia=inertia)
        spec.body("coupler.b", "coupler", joint=sr.Fixed(), at=sr.Pose((0.8, 0, 0)))
    else:
        beam = sr.Beam(
            (0, 0, 0), (0.8, 0, 0), width=0.02, height=0.02, youngs_modulus=E, density=2700, modes=2
        )
        spec.flexible("coupler", "crank", beam, sr.Revolute("y"), at)
    spec.body("rocker", joint=sr.Revolute("y"), at=sr.Pose((0.7, 0, 0)), mass=1.0, com=(0, 0, 0.2),
              inertia=(0.02, 0.02, 0.02))  # fmt: skip
    spec.close("pin", "coupler.b", "rocker", sr.Revolute("y"), at_b=sr.Pose((0, 0, 0.5)))
    return spec.compile()


def test_loops_hold_on_to_nodes() -> None:
    """A stiff coupler moves as a rigid one, and the redundant rows of the plane become independent."""
    ends = []
    for E in (None, 1e7, 1e11):
        mech = four_bar(E)
        bent = {name: 0.0 for name in mech.names if name.startswith("coupler.b.")}
        start = mech.assemble(fixed={"crank": 0.5, **bent})
        assert start.success
        v = mech.consistent_velocity(start.q, fixed={"crank": 2.0, **bent})
        assert mech.mobility(start.q).rank == (2 if E is None else 5)
        run = sr.simulate(mech, (0, 0.1), start.q, v, method="radau", rtol=1e-7)
        assert run.success
        ends.append(float(run.q[-1, 0]))
    rigid, soft, stiff = ends
    assert abs(stiff - rigid) < 1e-5 and 1e-4 < abs(soft - rigid) < 0.05


def test_redundant_clamps_share_loads_by_stiffness() -> None:
    """A beam held at both ends: rows are independent, the forces of a table w L / 2 and w L^2 / 12."""
    spec = sr.MechanismSpec()
    spec.flexible("beam", "ground", sr.Beam((0, 0, 0), (1, 0, 0), width=0.02, height=0.03, **STEEL))
    spec.close("end", "ground", "beam.b", sr.Fixed(), at_a=sr.Pose((1, 0, 0)))
    mech = spec.compile()
    assert mech.mobility(mech.neutral()).rank == 6
    rest = sr.equilibrium(mech)
    held = mech.forward_dynamics(rest.q, np.zeros(mech.nv))
    w = 7800 * 0.02 * 0.03 * 9.81
    wrench = held.reaction("end")
    np.testing.assert_allclose(wrench[[2, 4]], (w / 2, w / 12), rtol=1e-4)


def test_files_copies_and_parameters() -> None:
    spec = sr.MechanismSpec()
    L = spec.parameter("length", 1.0)
    spec.flexible(
        "beam", "ground", sr.Beam((0, 0, 0), (L, 0, 0), diameter=0.02, modes=2, damping=0.01, **STEEL)
    )
    mech = spec.compile()
    q, v = 1e-3 * np.sin(np.arange(mech.nq)), np.cos(np.arange(mech.nv))
    again = sr.MechanismSpec.from_dict(json.loads(json.dumps(spec.to_dict()))).compile()
    np.testing.assert_array_equal(again.bias(q, v), mech.bias(q, v))
    longer = mech.with_(length=1.2)
    exact = cantilever_of(1.2)
    np.testing.assert_allclose(longer.bias(q, v), exact.bias(q, v), rtol=1e-12)
    copies = sr.rollout(
        mech, np.tile(mech.neutral(), (2, 1)), dt=1e-6, steps=3, parameters={"length": [1.0, 1.2]}
    )
    assert (copies.status == 0).all()
    with pytest.raises(sr.InputError, match=r"follow from its beam or its matrices, 2\.45"):
        mech.with_(mass={"beam": 3.0})


def cantilever_of(L: float) -> sr.Mechanism:
    beam = sr.Beam((0, 0, 0), (L, 0, 0), diameter=0.02, modes=2, damping=0.01, **STEEL)
    return sr.MechanismSpec().flexible("beam", "ground", beam).compile()


def test_points_of_drawings() -> None:
    spec = sr.MechanismSpec()
    spec.point("A", (0.1, 0, 0)).point("B", (0.1, 0, 0.5)).point("C", (0.4, 0, 0.5))
    spec.flexible("beam", "ground", sr.Beam("A", "C", through=["B"], diameter=0.01, modes=1, **STEEL))
    spec.part("weight", at=sr.Pose((0.4, 0, 0.5)), mass=0.1, inertia=(1e-4, 1e-4, 1e-4))
    spec.joint("pin", "beam.b", "weight", sr.Revolute("y"), "C")
    mech = spec.compile()
    np.testing.assert_allclose(mech.pose(mech.neutral(), "weight").xyz, (0.4, 0, 0.5), atol=1e-12)
    assert "pin" in mech.names and mech.nv == 15


def test_actuators_and_measures() -> None:
    mech = arm()
    assert mech.model.coordinate_names[mech.model.actuators[0].index] == "arm" and mech.nu == 2
    spec = sr.MechanismSpec.from_model(mech.model).measure("tip", sr.Position("beam.b"))
    q, v = state(mech)
    np.testing.assert_allclose(spec.compile().measure(q, v)["tip"], mech.pose(q, "beam.b").xyz)


# ---------------------------------------------------------------------- refused

BEAM: dict[str, Any] = {"a": (0, 0, 0), "b": (1, 0, 0), "diameter": 0.02, **STEEL}
BAD = {
    "youngs_modulus of Beam must be positive": {"youngs_modulus": -1.0},
    "density of Beam must be positive": {"density": 0.0},
    "given by one of width and height; diameter; area": {"width": 0.1},
    "got parts of none": {"diameter": None},
    "inner_diameter of Beam must be below its diameter": {"inner_diameter": 0.03},
    "poisson of Beam must be below 0.5": {"poisson": 0.5},
    "the points of a Beam must differ": {"b": (0, 0, 0)},
    "up of Beam must not lie along the beam": {"up": (1, 0, 0)},
    "modes of Beam must be a whole number": {"modes": -1},
    "elements of Beam must be a positive whole number": {"elements": 0},
    "through of Beam must be a list of points": {"through": 3.0},
    "bending of Beam must be two numbers": {"bending": (1.0,)},
    "damping of Beam must": {"damping": -0.1},
}


@pytest.mark.parametrize("message", BAD)
def test_beams_refused(message: str) -> None:
    with pytest.raises(sr.InputError, match=message):
        sr.MechanismSpec().flexible("beam", "ground", sr.Beam(**BEAM | BAD[message]))


def test_descriptions_refused(tmp_path: Any) -> None:
    spec = sr.MechanismSpec()
    with pytest.raises(sr.InputError, match="must be one of Beam, ModalBody, got"):
        spec.flexible("beam", "ground", 3.0)  # type: ignore[arg-type]
    with pytest.raises(sr.UnknownNameError, match="unknown point 'A'"):
        spec.flexible("beam", "ground", sr.Beam(**BEAM | {"a": "A"}))
    spec.flexible("beam", "ground", sr.Beam(**BEAM))
    with pytest.raises(sr.InputError, match="a body called 'beam' exists already"):
        spec.flexible("beam", "ground", sr.Beam(**BEAM))
    with pytest.raises(sr.UnknownNameError, match=r"'beam\.c'"):
        spec.body("tip", "beam.c", joint=sr.Revolute("y"), mass=1.0)
    mech = spec.compile()
    with pytest.raises(sr.InputError, match=r"no flexible bodies, which .* has: 'beam'; save it as .json"):
        sr.save(mech, tmp_path / "beam.urdf")
    with pytest.raises(sr.InputError, match="keeps every freedom"):
        spec.close("loop", "ground", "beam.b", sr.Deflection())
    with pytest.raises(sr.InputError, match="axis_x and axis_y of Deflection must be perpendicular"):
        sr.Deflection("x", (1, 1, 0))


def test_flexibility_by_hand_is_checked() -> None:
    (name, given), *_ = cantilever(modes=0).model.forces
    assert isinstance(given, sr.Flexibility)
    spec = sr.MechanismSpec()
    spec.body("root", joint=sr.Revolute("y"), mass=1.0, inertia=(1, 1, 1))
    spec.body("end", "root", joint=sr.Revolute("y"), mass=1.0, inertia=(1, 1, 1))
    values = tuple(given.values)
    with pytest.raises(sr.ModelError, match="node 'end' must hang on 'root' by a Deflection joint"):
        spec.force(name, sr.Flexibility("root", ["end"], 1, values)).compile()
    with pytest.raises(sr.InputError, match=r"values of Flexibility must be 4 \+ 12 n"):
        sr.Flexibility("root", ["end"], 1, values[:-1])
    with pytest.raises(sr.InputError, match="must be names of bodies"):
        sr.Flexibility("root", "end", 1, values)
