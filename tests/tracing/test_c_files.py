"""Exported C: compiled strictly, equal to the library, without a heap."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import sarrus as sr
from bench.hexapod import hexapod

from .compiled_c import STRICT, CompiledC, compiler, random_states, run

# a loop in the plane with hinges that say too much, an overconstrained loop, a platform, two welded arms, a
# robot with six loops
MECHANISMS = ("four_bar", "bricard", "stewart", "dual_arm", "hexapod")
LIBM = {"sqrt", "fabs", "sin", "cos", "tanh", "atan2", "rint"}


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory):
    """The compiled code of a library mechanism, made once."""
    made: dict[str, CompiledC] = {}

    def get(name: str) -> CompiledC:
        if name not in made:
            mech = hexapod() if name == "hexapod" else getattr(sr.library, name)()
            made[name] = CompiledC(mech, tmp_path_factory.mktemp(name))
        return made[name]

    return get


@pytest.mark.parametrize("name", MECHANISMS)
def test_equal_to_the_library(exported, name: str) -> None:
    """Accelerations, steps and terms at random states to 1e-12, the rounding of a few thousand operations."""
    code = exported(name)
    mech = code.mech
    q, v = random_states(mech, 12)
    rng = np.random.default_rng(3)
    passed = 0
    for x, y in zip(q, v, strict=True):
        tau, u = rng.normal(size=mech.nv), rng.normal(size=mech.nu)
        terms, guards = code.terms(x, y)
        assert guards == 0
        theirs = mech.terms(x, y)
        for mine, known in zip(
            terms, (theirs.M, theirs.h, theirs.phi, theirs.J, theirs.b, theirs.gamma), strict=True
        ):
            np.testing.assert_allclose(
                mine, known, rtol=1e-12, atol=1e-12 * (1 + np.max(np.abs(known), initial=0))
            )
        a, guards = code.acceleration(x, y, tau)
        if guards == 0:
            known = mech.acceleration(x, y, tau)
            np.testing.assert_allclose(a, known, rtol=0, atol=1e-12 * (1 + np.max(np.abs(known))))
        q1, v1, guards = code.step(x, y, u, tau, 1e-3)
        if guards == 0:
            state = mech.step(x, y, u, 1e-3, tau=tau)
            np.testing.assert_allclose(q1, state.q, rtol=0, atol=1e-12)
            np.testing.assert_allclose(v1, state.v, rtol=0, atol=1e-12 * (1 + np.max(np.abs(state.v))))
            passed += 1
    assert passed >= len(q) // 2 > 2


@pytest.mark.parametrize("name", MECHANISMS)
def test_no_heap_and_bounded_stack(exported, name: str) -> None:
    """Nothing but libm is called; the compiler knows the size of every stack frame."""
    code = exported(name)
    if shutil.which("nm") is not None:
        wanted = set(re.findall(r"\bU (\w+)", run("nm", "-u", code.folder / "code.so")))
        assert wanted - {f"{x}" for x in LIBM} <= {"__stack_chk_fail", "sincos", "memcpy", "memset"}
    frames = next(code.folder.glob("*.su")).read_text()
    assert "dynamic" not in frames.replace("dynamic,bounded", "")
    total = sum(int(line.split("\t")[1]) for line in frames.splitlines())
    print(f"{name}: {total} bytes of stack at most")
    assert total < 600_000  # without optimization every value has its place; python -m bench.exported_code


def test_state_is_untouched_where_a_guard_fails(exported) -> None:
    """A four-bar in its flat, singular pose; and numbers that are not finite."""
    code = exported("four_bar")
    mech = code.mech
    q, v = mech.default
    x, y, guards = code.step(q, v, None, None, 50.0)
    assert guards and np.array_equal(x, q) and np.array_equal(y, v)
    a, guards = code.acceleration(np.full(mech.nq, np.nan), v, np.zeros(mech.nv))
    assert guards and np.isnan(a).all()


def test_example_program_runs(exported) -> None:
    code = exported("four_bar")
    program = code.folder / "example"
    run(compiler(), *STRICT, "-O1", code.main, code.source, "-o", program, "-lm")
    lines = run(program).splitlines()
    assert lines[0].startswith("acceleration: guards 0") and lines[3].startswith(
        "1000 steps of 1 ms: guards 0"
    )
    q, v = code.mech.default
    for _ in range(1000):
        q, v = code.mech.step(q, v, dt=1e-3)
    assert abs(float(lines[3].split("= ")[1]) - q[0]) < 1e-8


def test_loop_of_the_guide(exported, tmp_path: Path) -> None:
    """The program in docs/code.md, and the same loop with mech.step."""
    code = exported("four_bar")
    page = (Path(__file__).parents[2] / "docs" / "code.md").read_text(encoding="utf-8")
    (program := tmp_path / "loop.c").write_text(page.split("```c\n")[1].split("```")[0])
    where = f"-I{code.source.parent}"
    run(compiler(), *STRICT, "-O1", where, program, code.source, "-o", tmp_path / "loop", "-lm")
    q, v = code.mech.default
    for _ in range(2000):
        u = np.zeros(code.mech.nu)
        u[0] = -50.0 * (q[0] - 1.2) - 5.0 * v[0]
        q, v = code.mech.step(q, v, u, 1e-3)
    assert abs(float(run(tmp_path / "loop")) - q[0]) < 1e-8


def test_any_name_compiles(tmp_path: Path) -> None:
    """Names that no comment of C may hold, and positions by name."""
    spec = sr.MechanismSpec(name="Tür */ 2\n")
    spec.body("ball */", joint=sr.Spherical(), mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1))
    spec.body("größe", "ball */", joint=sr.Revolute("y"), mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1))
    source, header, main = spec.compile().export_code(tmp_path)
    run(compiler(), *STRICT, main, source, "-o", tmp_path / "example", "-lm")
    text = header.read_text(encoding="ascii")
    assert "q: ball * /.qx, " in text and "gr\\xf6\\xdfe" in text


def test_some_functions_only(tmp_path: Path) -> None:
    source, header, main = sr.library.pendulum().export_code(tmp_path / "new" / "folder", functions=("step",))
    assert "_terms" not in source.read_text() + header.read_text() + main.read_text()
    run(compiler(), *STRICT, main, source, "-o", tmp_path / "example", "-lm")


def test_bad_input(tmp_path: Path) -> None:
    mech = sr.library.pendulum()
    with pytest.raises(sr.SarrusError, match=r"acceleration.*step.*terms"):
        mech.export_code(tmp_path, functions=("energy",))
    with pytest.raises(sr.SarrusError, match="at least one"):
        mech.export_code(tmp_path, functions=())
    (tmp_path / "file").write_text("")
    with pytest.raises(sr.SarrusError, match="is a file"):
        mech.export_code(tmp_path / "file")
    spec = sr.MechanismSpec()
    spec.body("crank", joint=sr.Revolute("z"), mass=1.0, inertia=(0.1, 0.1, 0.1))
    spec.constrain("motor", sr.Drive("crank", np.sin))
    with pytest.raises(sr.SarrusError, match=r"exported code has no Python inside .* 'motor'"):
        spec.compile().export_code(tmp_path)
    with pytest.raises(sr.SarrusError, match="too large for exported code"):
        sr.library.n_four_bar(40).export_code(tmp_path)


def test_parameters_of_the_code(tmp_path: Path) -> None:
    """A payload, gravity and a length stay variables: equal to the changed mechanism for any values."""
    spec = sr.MechanismSpec(gravity=(0.0, -9.81, 0.0))
    reach = spec.parameter("reach", 0.5)
    spec.body("crank", joint=sr.Revolute("z"), mass=1.0, com=(0.1, 0, 0), inertia=(0.01, 0.01, 0.01))
    spec.body("rod", "crank", joint=sr.Revolute("z"), at=sr.Pose((reach, 0, 0)), mass=0.5, com=(0.3, 0, 0))
    mech = spec.compile()
    given = {"mass": {"rod": [0.5, 2.0]}, "reach": [0.5, 0.9], "gravity": [[0, -9.81, 0], [0, -1.62, 0]]}
    code = CompiledC(mech, tmp_path, given)
    assert "p: mass_rod (0.5), reach (0.5), gravity_1 (-9.81)" in code.header.read_text()
    rng = np.random.default_rng(0)
    q, v, tau = rng.normal(size=(3, 2))
    for p in (None, np.array([0.5, 0.5, -9.81]), np.array([1.3, 0.7, -3.0])):
        code.last = [p]
        mass, length, g = (0.5, 0.5, -9.81) if p is None else p
        other = mech.with_(mass={"rod": mass}, reach=length, gravity=(0, g, 0))
        a, guards = code.acceleration(q, v, tau)
        assert guards == 0
        np.testing.assert_allclose(a, other.acceleration(q, v, tau), rtol=1e-12)
        q1, v1, guards = code.step(q, v, None, tau, 1e-3)
        known = other.step(q, v, dt=1e-3, tau=tau)
        assert guards == 0
        np.testing.assert_allclose(np.r_[q1, v1], np.r_[known.q, known.v], rtol=1e-12)
        terms, _ = code.terms(q, v)
        np.testing.assert_allclose(terms[0], other.mass_matrix(q), rtol=1e-12)
    run(compiler(), *STRICT, "-O1", code.main, code.source, "-o", tmp_path / "example", "-lm")
    assert "1000 steps of 1 ms: guards 0" in run(tmp_path / "example")


def test_parameters_that_code_cannot_have(tmp_path: Path) -> None:
    spec = sr.MechanismSpec()
    turn = spec.parameter("turn", 0.1)
    spec.body(
        "bar",
        joint=sr.Revolute("z"),
        at=sr.Pose(rpy=(turn, 0, 0)),
        mass=1.0,
        com=(1, 0, 0),
        inertia=(1, 1, 1),
    )
    mech = spec.compile()
    with pytest.raises(sr.SarrusError, match="'turn' does not change the mechanism linearly"):
        mech.export_code(tmp_path, parameters={"turn": [0.1, 0.9]})
    with pytest.raises(sr.SarrusError, match="at least two values"):
        mech.export_code(tmp_path, parameters={"mass": {"bar": [1.0]}})
    with pytest.raises(sr.SarrusError, match="'nonsense'"):
        mech.export_code(tmp_path, parameters={"nonsense": [1.0, 2.0]})
    spec = sr.MechanismSpec()
    a, b = spec.parameter("a", 0.5), spec.parameter("b", 2.0)
    spec.body("bar", joint=sr.Revolute("z"), mass=a * b, com=(1, 0, 0), inertia=(1, 1, 1))
    with pytest.raises(sr.SarrusError, match="a, b change the mechanism by their products"):
        spec.compile().export_code(tmp_path, parameters={"a": [0.5, 0.6], "b": [2.0, 3.0]})
