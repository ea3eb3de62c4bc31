"""Checks at the door: states, batches, names that do not exist."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from sarrus.arrays import flatten_batch, frozen, mapping, state, takes
from sarrus.errors import InputError, SarrusError, SingularConstraintError, UnknownNameError, unknown_name


def test_states_have_a_last_axis_of_the_right_length() -> None:
    assert state([1, 2, 3], "q", 3).dtype == np.float64
    assert state(np.zeros((4, 5, 3)), "q", 3).shape == (4, 5, 3)
    with pytest.raises(
        InputError, match=r"q must have shape \(3,\) or \(\.\.\., 3\) for mechanism 'arm', got \(4,\)"
    ):
        state(np.zeros(4), "q", 3, "mechanism 'arm'")
    with pytest.raises(InputError, match=r"tau must have shape \(1,\) or \(\.\.\., 1\), got \(\)"):
        state(3.0, "tau", 1)
    with pytest.raises(InputError, match=r"v must be finite for mechanism 'arm', got nan at index \(1, 2\)"):
        state([[1, 2, 3], [4, 5, np.nan]], "v", 3, "mechanism 'arm'")
    with pytest.raises(
        InputError, match=r"v must be an array of finite numbers with shape \(\.\.\., 2\), got \['a', 'b'\]"
    ):
        state(["a", "b"], "v", 2)
    with pytest.raises(InputError, match=r"v must be an array of finite numbers .*got \[\[1, 2\], \[3\]\]"):
        state([[1, 2], [3]], "v", 2)  # type: ignore[list-item]
    with pytest.raises(InputError, match=r"v must be an array of finite numbers .*got .*\.\.\.\."):
        state(["a" * 100], "v", 2)


def test_batches_broadcast_and_flatten() -> None:
    q, v = np.arange(6.0).reshape(2, 1, 3), np.arange(8.0).reshape(4, 2)
    (flat_q, flat_v), batch = flatten_batch([(q, "q"), (v, "v")])
    assert batch == (2, 4)
    assert flat_q.shape == (8, 3) and flat_v.shape == (8, 2)
    assert flat_q.flags.c_contiguous
    np.testing.assert_array_equal(flat_q[5], q[1, 0])
    np.testing.assert_array_equal(flat_v[5], v[1])
    (single,), batch = flatten_batch([(np.zeros(3), "q")])
    assert single.shape == (1, 3) and batch == ()
    (empty,), batch = flatten_batch([(np.zeros((0, 3)), "q")])
    assert empty.shape == (0, 3) and batch == (0,)
    with pytest.raises(InputError, match=r"batch axes must broadcast .* got shapes q \(2, 3\), v \(4, 2\)"):
        flatten_batch([(q[:, 0], "q"), (v, "v")])


def test_frozen_arrays_are_copies() -> None:
    source = np.zeros(3)
    copy = frozen(source)
    source[0] = 1.0
    assert copy[0] == 0.0 and not copy.flags.writeable


def test_unknown_names_are_listed_with_a_guess() -> None:
    error = unknown_name("body", "crnk", ["crank", "rod"], "loop 'l'")
    assert (
        str(error) == "loop 'l': unknown body 'crnk'; existing names: 'crank', 'rod'. Did you mean 'crank'?"
    )
    assert str(unknown_name("body", 3, [])) == "unknown body 3; existing names: none."
    assert "'n39', ... (100 in all)." in str(unknown_name("row", "x", [f"n{i}" for i in range(100)]))
    assert isinstance(error, UnknownNameError) and isinstance(error, SarrusError)
    assert isinstance(error, ValueError)


def test_singular_constraints_carry_rank_and_rows() -> None:
    error = pickle.loads(pickle.dumps(SingularConstraintError("rows depend", 3, ["loop.tx"])))
    assert (str(error), error.rank, error.rows) == ("rows depend", 3, ("loop.tx",))


def test_masked_values_are_not_numbers() -> None:
    hidden = np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False])
    for given in (hidden, np.ma.masked_array(np.zeros((2, 3)), mask=True)):
        with pytest.raises(InputError, match=r"q must be .* got masked values; fill them"):
            state(given, "q", 3)
    whole = state(np.ma.masked_array([1.0, 2.0, 3.0]), "q", 3)
    assert type(whole) is np.ndarray and whole.tolist() == [1.0, 2.0, 3.0]


def test_mappings() -> None:
    assert mapping(None, "fixed", "{name: value}") == {}
    for wrong in (["crank"], "crank", 3.0):
        with pytest.raises(InputError, match=r"fixed must be a mapping \{name: value\}, got"):
            mapping(wrong, "fixed", "{name: value}")


def test_a_class_is_no_function_of_the_state() -> None:
    """`events=int` went through the check and failed with int's own TypeError."""
    with pytest.raises(InputError, match=r"events\[0\] must be a function of \(t, q, v\), got <class 'int'>"):
        takes(int, "t, q, v", "events[0]")
    takes(max, "t, q, v", "a function without a signature")
