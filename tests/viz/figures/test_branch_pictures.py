"""Pictures of branches: poses that fade, and a cone through its directions."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr


def test_a_path_fades() -> None:
    mech = sr.library.slider_crank()
    branch = mech.branches([np.pi / 2, np.pi])[0]
    ax = sr.viz.draw_path(mech, branch.path(0.6, 4))
    opacities = sorted({line.get_alpha() for line in ax.lines})
    assert len(opacities) == 4 and opacities[-1] == 1.0


def test_a_cone_goes_through_its_directions() -> None:
    (branch,) = sr.library.five_bar().branches()
    ax, y = sr.viz.draw_cone(branch)
    assert y.shape == (len(branch.directions), 3)
    np.testing.assert_allclose(np.linalg.norm(y, axis=1), 1.0)
    across = branch.directions @ branch.directions.T
    sizes = np.linalg.norm(branch.directions, axis=1)
    np.testing.assert_allclose(y @ y.T, across / np.outer(sizes, sizes), atol=1e-9)
    assert len(ax.collections) == 4


def test_lines_are_no_cone() -> None:
    mech = sr.library.slider_crank()
    with pytest.raises(sr.InputError, match="draw_cone shows a curved branch"):
        sr.viz.draw_cone(mech.branches([np.pi / 2, np.pi])[0])
