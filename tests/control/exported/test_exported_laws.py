"""Exported laws: compiled C++ gives the bits of `law(t, q, v)`, and parts in Python are refused by name."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from bench.exported_laws import Library, compared, flat, four_bar, laws, rubbing

C = sr.control
STRICT = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-pedantic"]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Laws of up to 8 coordinates share a kernel, which is compiled once."""
    return Library(tmp_path_factory.mktemp("laws"))


def squeezed() -> Any:
    """A slider-crank whose loop bears a desired force: three motors, one motion."""
    mech = sr.library.four_bar()
    return C.HybridForceMotion(mech, "crank", 0.7, {mech.row_names[0]: 3.0}, ki=4.0, filter_time=0.01)


def bounded() -> Any:
    """Bounds that act."""
    mech = sr.library.four_bar()
    return C.ForceLimits(mech, "crank", C.MinimumJerk(0.0, 1.5, 0.3), C.TorqueBounds((-900.0, 900.0)))


def ordered() -> Any:
    """Two levels, with a transition."""
    mech = sr.library.four_bar()
    tasks = [C.PriorityTask("crank", C.MinimumJerk(0.0, 0.6, 0.2)), C.PriorityTask("rocker", 0.3, priority=2)]
    return C.TaskHierarchy(mech, tasks, limits=C.TorqueBounds((-50.0, 50.0)), transition=0.05)


@pytest.mark.parametrize("make", [four_bar, flat, rubbing, squeezed, bounded, ordered])
def test_inputs_have_the_same_bits(make: Callable[[], Any], library: Library) -> None:
    row = compared(make.__name__, make(), library, hash(make.__name__) % 10**6, 400)
    assert row["differ"] == 0
    assert row["steps"] == 400


@pytest.mark.slow
@pytest.mark.parametrize("title", laws())
def test_larger_laws_have_the_same_bits(title: str, tmp_path: Path) -> None:
    assert compared(title, laws()[title](), Library(tmp_path), 0, 3000)["differ"] == 0


def test_inputs_stay_within_motors_where_limits_cannot_hold(library: Library) -> None:
    mech = sr.library.four_bar()
    way = C.MinimumJerk(0.0, 1.5, 0.1)
    law = C.ForceLimits(mech, "crank", way, C.TorqueBounds((-4.0, 4.0)), kp=400.0, actuated=["crank"])
    q, v = mech.default
    states = np.array([[t, *q, *v] for t in np.linspace(0.0, 0.1, 60)])
    found, status, _ = library.run(law, states, 9)
    wanted = np.array([law(t, q, v) for t in states[:, 0]])
    assert set(status) == {0, -1}
    assert np.abs(found).max() == 4.0
    np.testing.assert_allclose(found, wanted, atol=1e-9)  # one motor: what it can give


TALK = """#include <stdio.h>
#include <stdlib.h>
#include "{name}.h"
int main(void)
{{
    double q[{NAME}_NQ] = {NAME}_Q0, v[{NAME}_NV] = {NAME}_V0, u[{NAME}_NU], x = 0.9, nan = 0.0;
    int status;
    char *memory = aligned_alloc(64, ({name}_bytes() + 127) / 64 * 64);
    {name}_law *law = {name}_init(memory);
    if ({name}_init(memory + 8) || !law) return 1;
    status = {name}_step(law, 0.0, q, v, u);
    printf("%d %.17g\\n", status, u[0]);
    if ({name}_target(law, {NAME}_TARGET_CRANK, &x, 0, 0) || !{name}_target(law, 7, &x, 0, 0)) return 2;
    if (!{name}_target(law, 0, 0, 0, 0) || !{name}_hold(law, 9, 0)) return 3;
    status = {name}_step(law, 0.001, q, v, u);
    printf("%d %.17g\\n", status, u[0]);
    nan /= nan;
    status = {name}_step(law, nan, q, v, u);
    printf("%d %.17g\\n", status, u[0]);
    if ({name}_hold(law, {NAME}_HOLD_LOOP, 0)) return 4;
    status = {name}_step(law, 0.002, q, v, u);
    printf("%d %.17g\\n", status, u[0]);
    free(memory);
    return 0;
}}
"""


def test_a_program_in_c_changes_targets_and_constraints(library: Library, tmp_path: Path) -> None:
    mech = sr.library.four_bar()
    loop = next(iter(mech.evaluator.constraint_rows))
    law = C.ProjectedInverseDynamics(mech, "crank", 0.5)
    name = law.export_code(tmp_path)[0].stem
    library.program(tmp_path, name)
    text = TALK.format(name=name, NAME=name.upper()).replace("HOLD_LOOP", f"HOLD_{loop.upper()}")
    (tmp_path / "talk.c").write_text(text)
    objects = [tmp_path / f"{name}.cpp", *library.kernels.values()]
    for source in ("talk.c", "loop.c"):
        made = tmp_path / source.replace(".c", ".o")
        subprocess.run(["gcc", *STRICT, "-c", tmp_path / source, "-o", made], check=True)
    flags = ["-std=c++20", "-I", str(tmp_path / "kernels")]
    for program in ("talk", "loop"):
        subprocess.run(
            ["g++", *flags, *map(str, objects), tmp_path / f"{program}.o", "-o", tmp_path / program],
            check=True,
        )
    said = subprocess.run([tmp_path / "talk"], check=True, capture_output=True, text=True).stdout
    lines = [line.split() for line in said.splitlines()]
    q, v = mech.default
    first = law(0.0, q, v)[0]
    other = C.ProjectedInverseDynamics(mech, "crank", 0.9)(0.0, q, v)[0]
    opened = C.ProjectedInverseDynamics(mech, "crank", 0.9, active=[])(0.0, q, v)[0]
    assert [float(x) for _, x in lines] == [first, other, other, opened]
    assert [int(status) for status, _ in lines][:3] == [0, 0, -2]  # the third one holds the last input
    shown = subprocess.run([tmp_path / "loop", "0.05"], check=True, capture_output=True, text=True).stdout
    assert "50 cycles, 0 steps failed" in shown
    assert "woke up late" in shown


def test_the_kernel_of_exported_laws_allocates_nothing(library: Library, tmp_path: Path) -> None:
    law = four_bar()
    name = law.export_code(tmp_path)[0].stem
    library.program(tmp_path, name)
    (kernel,) = library.kernels.values()
    wanted = subprocess.run(["nm", "-u", kernel], check=True, capture_output=True, text=True).stdout
    assert not re.findall(r"malloc|calloc|realloc|_Znw|_Zna|pthread|__cxa_throw", wanted)


def refused(make: Callable[[], Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(sr.InputError, match=words):
        make().export_code(tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"reference": lambda t: 0.1 * t}, r"reference of crank is a function of Python.*NAME_target"),
        ({"active": lambda t, q, v: []}, r"active is a function of Python.*NAME_hold"),
        ({"releasing": lambda t, q, v: [], "transition": 0.1}, "releasing is a function of Python"),
        ({"outputs": C.Function(lambda q: [q[0]])}, r"output .* is evaluated in Python.*Coordinates"),
    ],
)
def test_functions_of_python_are_refused(options: dict[str, Any], words: str, tmp_path: Path) -> None:
    given = {"outputs": "crank", "reference": 0.5, **options}
    refused(lambda: C.ProjectedInverseDynamics(sr.library.four_bar(), **given), words, tmp_path)


def test_functions_in_limits_tasks_and_forces_are_refused(tmp_path: Path) -> None:
    mech = sr.library.four_bar()
    row = mech.row_names[0]
    rows = np.eye(mech.nc)[:1]
    varying = C.LinearLimits("limit", lam=rows, upper=lambda t, q, v: 9.0)
    cases: list[tuple[Callable[[], Any], str]] = [
        (lambda: C.ForceLimits(mech, "crank", 0.1, varying), "a limit is a function of Python"),
        (
            lambda: C.ForceLimits(mech, "crank", 0.1, C.TorqueBounds((-9, 9)), solver="scipy"),
            "solver='scipy' is a package",
        ),
        (
            lambda: C.HybridForceMotion(mech, "crank", 0.1, {row: lambda t: 1.0}),
            "force has a function of Python.*NAME_forces",
        ),
        (
            lambda: C.HybridForceMotion(
                mech, "crank", 0.1, {row: 1.0}, measured=lambda t, q, v, u: 0 * rows[0]
            ),
            "measured is a function",
        ),
        (
            lambda: C.TaskHierarchy(mech, C.PriorityTask("crank", 0.1, when=lambda t, q, v: True)),
            "task 'crank' has a function",
        ),
        (
            lambda: C.TaskHierarchy(mech, [], null_torque=lambda t, q, v: np.zeros(mech.nv)),
            "null_torque is a function",
        ),
    ]
    for make, words in cases:
        refused(make, words, tmp_path)


def test_functions_of_mechanisms_are_refused(tmp_path: Path) -> None:
    spec = sr.MechanismSpec(name="driven")
    spec.body("a", joint=sr.Revolute("z"), mass=1.0, inertia=(0.1, 0.1, 0.1))
    spec.body("b", "a", joint=sr.Revolute("z"), mass=1.0, inertia=(0.1, 0.1, 0.1))
    spec.constrain("turn", sr.Drive("a", np.sin))
    spec.actuate("b")
    mech = spec.compile()
    refused(
        lambda: C.ProjectedInverseDynamics(mech, "b", 0.1), "'turn' of 'driven' calls functions", tmp_path
    )


def test_observers_and_sensors_of_python_are_refused(tmp_path: Path) -> None:
    mech = sr.library.dual_arm_box()
    hand: dict[str, Any] = {"mu": 0.5, "torsion": 0.03, "half": (0.05, 0.05)}
    grasp = C.Grasp(mech, "box", [C.Patch(name, edges=8, **hand) for name in ("grip_left", "grip_right")])
    sensed = C.ObjectImpedance(mech, grasp, external=lambda t, q, v: np.zeros(6))
    refused(lambda: sensed, "external is a function of Python", tmp_path)
    partly = C.WrenchEstimator(mech, "box", active=["grip_left"])
    observed = C.ObjectImpedance(mech, grasp, external=partly)
    refused(lambda: observed, "active of the WrenchEstimator differs", tmp_path)
    displaced = C.WrenchEstimator(mech, "box", method="displacement", impedance=sensed)
    read = C.ObjectImpedance(mech, grasp, external=displaced)
    refused(lambda: read, "belongs to another law", tmp_path)


def test_other_files_are_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "loop.c").write_text("int main(void) { return 0; }")
    with pytest.raises(sr.InputError, match=r"law.export_code: .*loop.c.* is not a file that it wrote"):
        four_bar().export_code(tmp_path)
    with pytest.raises(sr.InputError, match=r"folder of law.export_code must be a path"):
        four_bar().export_code(7)
