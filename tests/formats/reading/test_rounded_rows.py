"""Rows of loops that depend on others but for rounding: left out by a tolerance, at singular poses never."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import sarrus as sr
from sarrus.formats.reading.rounded_rows import without_rounded_rows


def three_cranks(wrong: float) -> sr.Mechanism:
    """A plate on three parallel cranks, the pivot of the third off by `wrong` metres, across the crank."""
    spec = sr.MechanismSpec(gravity=(0, 0, -9.81))
    inertia = {"mass": 1.0, "com": (0.1, 0, 0), "inertia": (1e-3, 2e-3, 3e-3)}
    tip, off = sr.Pose((0.12, 0, 0.28)), wrong * np.array([-0.28, 0.0, 0.12]) / np.hypot(0.28, 0.12)
    for k, x in enumerate((0.0, 0.5, 0.9)):
        at = sr.Pose(np.array([x, 0.0, 0.0]) + (off if k == 2 else 0.0))
        spec.body(f"crank{k}", joint=sr.Revolute("y"), at=at, **inertia)
        if k == 0:
            spec.body("plate", "crank0", joint=sr.Revolute("y"), at=tip, **inertia)
        else:
            spec.close(f"pin{k}", f"crank{k}", "plate", sr.Revolute("y"), at_a=tip, at_b=sr.Pose((x, 0, 0)))
    mech = spec.compile()
    q = np.zeros(4)
    q[mech.index("crank2").q] = wrong / np.hypot(0.28, 0.12)  # closes it again, but for wrong^2
    return mech.with_default(q)


@pytest.mark.parametrize("wrong", [1e-8, 5e-9])
def test_a_rounded_third_crank_is_no_lock(wrong: float) -> None:
    mech = three_cranks(wrong)
    assert mech.mobility().dof == 0
    with pytest.warns(
        sr.SarrusWarning, match=r"rows 'pin2\.t[xz]' .* depend on others to within .*rank_tol=1e-07"
    ):
        found = without_rounded_rows(mech, 1e-4, 1e-7)
    assert found.mobility().dof == 1 and "left out: t" in str(found)
    run = sr.simulate(found, (0.0, 0.5))
    assert run.success and np.ptp(run.q[:, 0]) > 0.2
    opened = max(np.abs(mech.terms(q, v).phi).max() for q, v in zip(run.q, run.v, strict=True))
    assert opened < 5.0 * wrong  # the row that is left out stays closed by as much as the data fit
    exact = sr.simulate(three_cranks(0.0), (0.0, 0.5), t_eval=run.t)
    np.testing.assert_allclose(run.q, exact.q, atol=1e-6)


def test_the_tolerance_decides() -> None:
    for wrong, tol in ((1e-8, 1e-9), (1e-5, 1e-7), (0.0, 1e-7)):
        mech = three_cranks(wrong)
        assert without_rounded_rows(mech, 1e-4, tol) is mech
    with pytest.warns(sr.SarrusWarning, match="rank_tol=0.0001"):
        assert without_rounded_rows(three_cranks(1e-6), 1e-4, 1e-4).mobility().dof == 1


def test_near_a_singular_pose_rows_count() -> None:
    """A four-bar within 1e-8 rad of its stretched pose: its row is small there and large elsewhere."""
    mech = sr.library.parallelogram()
    q = mech.assemble(np.array([1e-8, -1e-8, 1e-8]), {mech.names[0]: 1e-8}).q
    near = mech.with_default(q)
    small = near.mobility(q).singular_values
    assert np.any((small > 1e-10) & (small < 1e-6))
    assert without_rounded_rows(near, 1e-4, 1e-6) is near


def test_loops_without_some_rows() -> None:
    """left_out of a loop: the same motion where others imply them; what cannot be left out is refused."""
    mech = sr.library.four_bar()
    _, closure = mech.model.constraints[0]
    spec = sr.MechanismSpec.from_model(mech.model)
    spec._constraints.clear()
    ends = {"at_a": closure.at_a, "at_b": closure.at_b}  # type: ignore[attr-defined]
    a, b, pin = closure.a, closure.b, closure.joint  # type: ignore[attr-defined]
    spec.close("pin", a, b, pin, **ends, left_out=("tz", "rx", "ry"))
    bare = spec.compile()
    assert bare.row_names == ("pin.tx", "pin.ty") and not bare.mobility().redundant
    q, v = mech.default
    np.testing.assert_allclose(bare.acceleration(q, v, np.zeros(3)), mech.acceleration(q, v, np.zeros(3)))
    for names, said in ((("rx",), "angular rows can be left out together only"), (("tq",), "unknown row")):
        with pytest.raises(sr.SarrusError, match=said):
            spec.close("other", a, b, pin, **ends, left_out=names)
    with pytest.raises(sr.InputError, match="names all of its rows"):
        spec.close("other", a, b, pin, **ends, left_out=("tx", "ty", "tz", "rx", "ry"))


@pytest.mark.parametrize("suffix", ["json", "urdf"])
def test_files_keep_what_is_left_out(suffix: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        found = without_rounded_rows(three_cranks(1e-8), 1e-4, 1e-7)
        again = sr.load(
            sr.save(found, tmp_path / f"cranks.{suffix}"), **({} if suffix == "json" else {"rank_tol": 0})
        )
    assert again.row_names == found.row_names and again.mobility().dof == 1
