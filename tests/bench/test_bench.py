"""The benchmarks run, compare the same mechanisms, and say what they measured.

Speed itself is not tested, except that one acceleration is not slower than Pinocchio's.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from bench.__main__ import main
from bench.cases import CASES, STEP, UnsupportedError
from bench.kernel import exponent
from bench.large import FAMILIES
from bench.report import table, targets
from bench.timing import Times, race, race_prepared, ratio
from bench.twins.mujoco_twin import mjcf, mujoco_twin
from bench.twins.pinocchio_twin import pinocchio_twin

# Not the largest, and not the one that starts where peers cannot tell in which direction it may move
SMALL = [case for case in CASES if case.name not in ("n_four_bar_40", "n_four_bar_100", "five_bar_rest")]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("bench") / "new folder" / "bench.json"
    assert main(["--quick", "--rounds", "2", "--json", str(path)]) == 0
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def test_the_machine_is_described(results: dict[str, Any]) -> None:
    machine = results["machine"]
    assert set(machine) >= {"processor", "cores", "load", "python", "sarrus", "numpy", "pin", "mujoco"}
    assert all(isinstance(text, str) and text for text in machine.values())
    assert sr.__version__ in machine["sarrus"]


def test_kernel_rows(results: dict[str, Any]) -> None:
    rows = results["kernel"]["rows"]
    text = " ".join(row["title"] for row in rows)
    for word in ("acceleration", "terms", "RNEA", "CRBA", "pendulum"):
        assert word in text
    for row in rows:
        assert row["sarrus_us"] > 0.0 and row["peer_us"] > 0.0 and row["ratio"] > 0.0 and row["spread"] >= 1.0
        assert row["difference"] < 1e-10, "both sides must have computed the same thing"


def test_load_rows(results: dict[str, Any]) -> None:
    rows = {row["title"].split(",")[0]: row for row in results["load"]["load"]}
    assert set(rows) >= {"import sarrus", "spec.compile() of a four-bar", "memory per kept step"}
    assert all(row["measured"] > 0.0 and row["at_most"] > 0.0 for row in rows.values())


def test_large_rows(results: dict[str, Any]) -> None:
    large = results["large"]
    assert {row["title"].rsplit(" ", 1)[0] for row in large["rows"]} == set(FAMILIES)
    assert all(row["ms"] > 0.0 for row in large["rows"]) and large["memory"]["mb"] >= 0.0
    assert {row["call"] for row in large["calls"]} >= {"derivatives", "linearize", "assemble", "mobility"}


def test_growth(results: dict[str, Any]) -> None:
    rows = results["kernel"]["growth"]
    assert [row["nv"] for row in rows] == [2 * row["n"] + 1 for row in rows]
    assert all(row["difference"] < 1e-10 and row["lcaba_difference"] < 1e-4 for row in rows)
    assert all(math.isfinite(p) for p in results["kernel"]["exponents"].values())


def test_every_public_call_is_timed(results: dict[str, Any]) -> None:
    mechanisms = results["calls"]["mechanisms"]
    assert set(mechanisms) == {"pendulum", "four-bar"}
    rows = {row["call"]: row for row in mechanisms["four-bar"]}
    wanted = {"forward_dynamics", "terms", "rnea", "pose", "project", "mobility", "linearize", "equilibrium"}
    assert wanted <= set(rows)
    assert all(row["us"] > 0.0 and row["verdict"] in ("", "met", "missed") for row in rows.values())
    assert rows["rnea"]["ratio"] == pytest.approx(rows["rnea"]["us"] / rows["rnea"]["peer_us"])


def test_simulation_rows(results: dict[str, Any]) -> None:
    simulation = results["simulation"]
    for row in simulation["rows"]:
        assert row["success"]
        assert row["drift"] < 1e-12 < row["mujoco_drift"]
        assert row["energy_error"] < row["mujoco_energy_error"]
        assert row["sarrus_us"] > 0.0 and row["mujoco_us"] > 0.0 and row["ratio"] > 0.0
    shares = [part["share"] for part in simulation["profile"]["parts"]]
    assert sum(shares) == pytest.approx(1.0)


def test_targets_are_judged(results: dict[str, Any]) -> None:
    assert {row["what"] for row in results["targets"]} >= {"acceleration, one call", "welded arms"}
    assert all(row["met"] == (row["ratio"] <= row["at_most"]) for row in results["targets"])


def test_an_acceleration_is_not_slower_than_pinocchio(results: dict[str, Any]) -> None:
    first = results["kernel"]["rows"][0]
    assert first["peer"] == "pin.constraintDynamics"
    assert first["ratio"] < 1.0


@pytest.mark.parametrize("case", SMALL, ids=lambda case: case.name)
def test_the_mujoco_twin_is_the_same_mechanism(case: Any) -> None:
    mech = case.build()
    tau, steps = case.force(mech), 60
    ours = sr.simulate(mech, (0.0, steps * STEP), tau=tau if np.any(tau) else None, dt=STEP)
    q, v = mujoco_twin(mech, tau, STEP, case.solref).rollout(*mech.default, steps=steps)
    moved = np.abs(mech.difference(ours.q[0], ours.q[-1])).max()
    assert np.abs(mech.difference(ours.q, q)).max() < 1e-4 * moved
    assert np.abs(ours.v - v).max() < 1e-3 * np.abs(ours.v).max()


def test_a_twin_starts_where_it_is_told_to() -> None:
    mech = sr.library.stewart()
    q = mech.assemble(mech.integrate(mech.default.q, np.full(mech.nv, 0.05))).q
    v = mech.consistent_velocity(q, np.linspace(-1.0, 1.0, mech.nv))
    back_q, back_v = mujoco_twin(mech, np.zeros(mech.nv), STEP, "0.005 1").rollout(q, v, steps=1)
    np.testing.assert_allclose(back_q[0], q, atol=1e-14)
    np.testing.assert_allclose(back_v[0], v, atol=1e-13)


def test_what_a_peer_cannot_do_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="no rigid constraint like 'hinge6'"):
        pinocchio_twin(sr.library.bricard())
    with pytest.raises(UnsupportedError, match="'andrews' has springs"):
        mjcf(sr.library.andrews(), STEP, "0.005 1")


def test_unknown_parts_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--only", "bricart"])
    said = capsys.readouterr().err
    assert "unknown part 'bricart'" in said and "simulation, defaults" in said and "bricard" in said
    with pytest.raises(SystemExit):
        main(["--rounds", "0"])
    assert "--rounds must be at least 1, got 0" in capsys.readouterr().err


def test_rounds_alternate_and_ratios_are_taken_within_them() -> None:
    order: list[str] = []
    rivals = {name: (lambda: None, lambda _, name=name: order.append(name)) for name in "ab"}
    race_prepared(rivals, 3)
    assert "".join(order) == "abbaab"
    compared = ratio(Times((1.0, 4.0, 3.0)), Times((2.0, 4.0, 4.0)))
    assert compared.value == 0.75 and compared.spread == 2.0
    assert Times((3.0, 1.0, 2.0)).per(2) == Times((1.5, 0.5, 1.0))
    times = race({"short": lambda: None}, rounds=3, seconds=1e-4)["short"]
    assert len(times.rounds) == 3 and times.best <= times.median < 1e-4


def test_growth_is_fitted_to_the_large_ones() -> None:
    rows = [{"n": n, "us": 7.0 if n < 10 else 0.1 * n**1.5} for n in (2, 5, 10, 20, 40)]
    assert exponent(rows, "us") == pytest.approx(1.5)


def test_tables_line_up_and_gaps_are_dashes() -> None:
    rows = [
        {"title": "one", "ratio": 0.5, "at_most": 0.6},
        {"title": "other", "ratio": 12.0, "at_most": None},
    ]
    lines = table("T", (("what", "title", ""), ("ratio", "ratio", ".1f"), ("max", "at_most", "g")), rows)
    assert lines.splitlines()[-2:] == ["  one      0.5  0.6", "  other   12.0    -"]
    assert [row["what"] for row in targets(rows)] == ["one"]


def test_folders_are_made(tmp_path: Path) -> None:
    from bench.report import write

    write(tmp_path / "a" / "b.json", {"x": 1.0})
    assert json.loads((tmp_path / "a" / "b.json").read_text()) == {"x": 1.0}


def test_derivatives_and_stiff_run(results: dict[str, Any]) -> None:
    part = results["linearize"]
    first = part["rows"][0]
    assert first["difference"] < 1e-8 and first["at_most"] == 1.0
    analytic, finite, explicit = part["stiff"]
    assert analytic["nfev"] < finite["nfev"] < explicit["nfev"]
    assert analytic["error"] < 1e-5 and finite["error"] < 1e-5
