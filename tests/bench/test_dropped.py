"""bench.dropped on small robots: what is right, what says so, and what would be wrong and silent."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.dropped import Drop, main

BALL = """<mujoco><worldbody><body pos="0 0 0.3"><freejoint/><geom name="ball" type="sphere" size=".1"/>
</body></worldbody></mujoco>"""


def test_a_ball_and_a_file_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "ball.xml").write_text(BALL)
    (tmp_path / "bad.xml").write_text("<mujoco><worldbody><body/></worldbody></mujoco>")
    (tmp_path / "scene.xml").write_text(BALL)
    (tmp_path / "no_robot.xml").write_text("<html/>")
    bad, ball = main([str(tmp_path), "--seconds", "0.3", "--limit", "200"])
    assert ball.success and not ball.is_wrong and ball.result == "ok"
    assert ball.deep < 1e-6 and ball.theirs < 10.0 and ball.slots == 1
    assert not bad.success and "has no coordinate" in bad.result
    assert "2 robots: 1 right, 0 wrong and silent, 1 said so." in capsys.readouterr().out


def test_success_with_a_gain_of_energy_is_wrong() -> None:
    assert Drop("a", success=True, gain=0.1, deep=0.0, loops=0.0).is_wrong
    assert Drop("a", success=True, gain=0.0, deep=0.1, loops=0.0).is_wrong
    assert not Drop("a", success=False, gain=0.1).is_wrong
    assert not Drop("a", success=True, gain=0.1, warned=True).is_wrong
