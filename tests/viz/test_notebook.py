"""What notebooks show: pictures and numbers, and text where something is missing."""

from __future__ import annotations

import sys
from html import unescape

import numpy as np
import pytest

import sarrus as sr


def test_mechanisms_show_a_picture_and_their_report() -> None:
    mech = sr.library.four_bar()
    page = mech._repr_html_()
    assert "data:image/png" in page and str(mech).split("\n")[0] in unescape(page)
    spec = sr.MechanismSpec()
    spec.body("arm", joint=sr.Revolute("z"), mass=1.0, com=(1, 0, 0), inertia=(0, 1, 1))
    spec.constrain("far", sr.Distance("ground", (0, 0, 0), "arm", (1, 0, 0), 9.0))
    broken = spec.compile()._repr_html_()
    assert "<img" not in broken and "do not close" in broken


def test_runs_show_how_they_ended_and_their_plot(
    fall: sr.Trajectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = fall._repr_html_()
    assert fall.message in unescape(page) and "data:image/png" in page and "singular pose" in page
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "<img" not in fall._repr_html_()


def test_linear_models_and_mobility() -> None:
    mech = sr.library.five_bar()
    model = sr.linearize(sr.library.pendulum())
    page = unescape(model._repr_html_())
    assert all(mode.text in page for mode in model.modes) and all(name in page for name in model.names)
    mobility = mech.mobility()
    assert mobility.explain() in unescape(mobility._repr_html_())
    many = mech.mobility(np.stack([mech.default.q] * 2))
    assert "Mobility of 2 poses" in many._repr_html_()


def test_an_animation_is_a_page_in_a_frame(fall: sr.Trajectory) -> None:
    page = fall.animation(10, height=300, title="falls & sings")._repr_html_()
    assert page.startswith("<iframe srcdoc=") and "height: 300px" in page
    assert "falls &amp; sings" in unescape(page)
    with pytest.raises(sr.InputError, match="height must be a number of pixels"):
        fall.animation(height=0)
    with pytest.raises(sr.UnknownNameError, match="a page: unknown option 'colour'"):
        fall.animation(colour="red")
