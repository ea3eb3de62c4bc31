"""Recorded numbers: operations run again in the kernel, comparisons that come out otherwise, refusals."""

import math

import numpy as np
import pytest

from sarrus._kernel import PROGRAM_OPERATIONS, TableProgram
from sarrus.varied import FUNCTIONS, Tape, Varied, applied, hypot, largest, total

GIVEN = {"arcsin": (0.3,), "arccos": (-0.4,), "pow": (1.3, 2.5), "arctan2": (0.4, -1.2), "log": (0.7,)}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_operations_have_the_bits_of_python(name: str) -> None:
    numbers = GIVEN.get(name, (0.7, 1.9))
    try:
        want = FUNCTIONS[name](*numbers)
    except TypeError:
        numbers = numbers[:1]
        want = FUNCTIONS[name](*numbers)
    tape = Tape()
    given = [tape.input(1.0 if name not in GIVEN else 0.5) for _ in numbers]
    program = tape.program([applied(name, *given).slot])
    (row,), (fine,) = program.tables(np.array([numbers], dtype=float))
    assert fine and row[0] == want


def test_all_operations_of_the_kernel_are_known() -> None:
    assert set(PROGRAM_OPERATIONS) == {*FUNCTIONS, "lt", "le", "eq", "moments", "merge"}


def test_a_comparison_that_comes_out_otherwise_is_said() -> None:
    tape = Tape()
    x = tape.input(2.0)
    y = x * x if x > 1.0 else -x
    values = np.array([[2.0], [3.0], [1.0], [0.5], [np.nan]])
    rows, fine = tape.program([y.slot]).tables(values)
    assert fine.tolist() == [True, True, False, False, False] and rows[1, 0] == 9.0
    for outcome in (x >= 2.0, x == 2.0, x != 3.0, x <= 2.0, x < 2.5, bool(x)):
        assert outcome is True
    assert tape.program([y.slot]).tables(values)[1].tolist() == [True, False, False, False, False]


def test_numbers_that_are_not_finite_are_said() -> None:
    tape = Tape()
    x = tape.input(2.0)
    assert tape.program([(1.0 / x).slot]).tables(np.array([[0.0], [4.0]]))[1].tolist() == [False, True]


def test_functions_of_floats_and_of_recorded_numbers() -> None:
    tape = Tape()
    x = tape.input(3.0)
    assert hypot(x, 4.0).value == 5.0 and total([x, 1.0]).value == 4.0 and largest([x, 7.0]).value == 7.0
    assert largest([1.0, 2.0]) == 2.0 and largest([]) == 0.0 and total([0.1] * 10) == 1.0
    assert np.radians(x).value == pytest.approx(math.radians(3.0)) and (+x) is x and (x * 0) == 0.0
    assert x + 0.0 is x and f"{x:.2f}" == "3.00" and repr(x) == "Varied(3)"


@pytest.mark.parametrize("use", [float, math.sqrt, lambda x: x + "1", lambda x: x < "1", int])
def test_what_is_no_arithmetic_is_refused(use: object) -> None:
    with pytest.raises(TypeError):
        use(Tape().input(1.0))


@pytest.mark.parametrize(
    "code",
    [[99, 0, 0], [0, 5, 0], [0, 0, 9], [0, 0], [11, 0, 0, -1], [PROGRAM_OPERATIONS["merge"], 0, 10**6, 1, 0]],
)
def test_broken_programs_are_refused(code: list[int]) -> None:
    with pytest.raises(ValueError, match="broken instructions"):
        TableProgram(code, [1.0, 2.0], [0], [1])
    with pytest.raises(ValueError, match="broken instructions"):
        TableProgram([], [1.0], [3], [])


def test_inputs_are_arrays_too() -> None:
    tape = Tape()
    matrix = tape.input([[1.0, 2.0], [3.0, 4.0]])
    assert matrix.shape == (2, 2) and type(matrix[0, 0]) is Varied
    trace = matrix[0, 0] + matrix[1, 1]
    assert tape.program([trace.slot]).tables(np.array([[1.0, 0.0, 0.0, 5.0]]))[0][0, 0] == 6.0
