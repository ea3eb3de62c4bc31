"""The formulation study: a table of every way to run, in Python and on the command line."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr
from sarrus.commands.answers import respond
from sarrus.commands.reports import show_study


def test_every_way_is_there() -> None:
    study = sr.study(sr.library.bennett(), 0.02, 2e-3)
    assert len(study.rows) == 3 * 7 + 4  # softened constraints in one way
    default = study.rows[0]
    assert (default.formulation, default.coordinates, default.correction) == ("nullspace", "full", "project")
    refused = [row for row in study.rows if row.message]
    assert {row.formulation for row in refused} == {"lagrange"} and len(refused) == 3
    for row in study.rows:
        if not row.message:
            assert row.error < 1e-9 and row.cost > 0.0 and np.isfinite(row.energy_error)
        else:
            assert "needs independent constraint rows" in row.message
    text = str(study)
    assert text.startswith("bennett: 0.02 s by rk4 at dt = 0.002 s") and len(text.splitlines()) == 4 + 25
    assert max(map(len, text.splitlines())) <= 130


def test_errors_of_a_method_that_chooses_its_steps_are_true_ones() -> None:
    mech = sr.library.four_bar()
    study = sr.study(mech, 0.1, method="dopri5")
    exact = sr.simulate(mech, (0.0, 0.1), dt=1e-4)
    run = sr.simulate(mech, (0.0, 0.1), method="dopri5", dt=2e-3)
    true = np.max(np.abs(mech.difference(exact.q[-1], run.q[-1]) / mech.units.unit))
    assert study.rows[0].error == pytest.approx(true, rel=0.1)
    head = "four_bar: 0.1 s by dopri5 at rtol = 1e-08, atol = 1e-10, against tolerances / 100"
    assert str(study).startswith(head)


def test_energy_is_left_out_where_forces_do_work() -> None:
    study = sr.study(sr.library.four_bar().with_(damping={"crank": 0.1}), 0.01)
    assert all(np.isnan(row.energy_error) for row in study.rows)
    assert " - " in str(study)


def test_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert respond(lambda: show_study("slider_crank", 0.01, 2e-3, "rk4"), False) == 0
    assert "slider_crank: 0.01 s by rk4" in capsys.readouterr().out
    assert respond(lambda: show_study("slider_crunk", 0.01, 2e-3, "rk4"), False) == 1
    assert "Did you mean 'slider_crank'" in capsys.readouterr().err
