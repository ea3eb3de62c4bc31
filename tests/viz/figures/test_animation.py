"""Animations: the file can be read back, has the right number of pictures, and they differ."""

from __future__ import annotations

import importlib
import itertools
from pathlib import Path

import numpy as np
import pytest

import sarrus as sr

animation = importlib.import_module("sarrus.viz.figures.animation")  # sr.viz.animation is the function


def test_a_gif_is_written_and_can_be_read(fall: sr.Trajectory, tmp_path: Path) -> None:
    from PIL import Image

    written = fall.animate(tmp_path / "new" / "fall.gif", fps=5, dpi=40, trace=("link2", (1.5, 0, 0)))
    with Image.open(written) as film:
        assert film.n_frames == 5  # 0.8 s at 5 per second, both ends shown
        assert film.info["duration"] == 200
        frames = []
        for i in range(film.n_frames):
            film.seek(i)
            frames.append(np.asarray(film.convert("L"), dtype=float))
    assert all(np.abs(a - b).max() > 50.0 for a, b in itertools.pairwise(frames))


def test_slow_motion_has_more_pictures(fall: sr.Trajectory) -> None:
    assert len(animation.frame_times(0.0, 0.8, 10, 1.0)) == 9
    times = animation.frame_times(0.0, 0.8, 10, 0.5)
    assert len(times) == 17 and times[0] == 0.0 and times[-1] == 0.8


def test_mechanisms_in_space_move_too(tmp_path: Path) -> None:
    run = sr.simulate(sr.library.sarrus(), (0.0, 0.1), dt=1e-2)
    assert (
        run.animate(tmp_path / "s.GIF", fps=20, dpi=30, trace=("plate", (0, 0, 0)), masses=False)
        .stat()
        .st_size
        > 1000
    )


def test_windows_get_an_animation_object(fall: sr.Trajectory, monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.animation import FuncAnimation

    monkeypatch.setattr(animation, "WITHOUT_WINDOWS", ())
    film = fall.animate(fps=5)
    assert isinstance(film, FuncAnimation)
    assert film._func(3)[-1].get_text() == "five_bar   t = 0.60 s"
    film._draw_was_started = True  # nobody will show it


def test_without_a_window_the_message_asks_for_a_file(fall: sr.Trajectory) -> None:
    with pytest.raises(
        sr.InputError, match=r"no window can be opened here.*'[aA]gg'.*animate\(\"motion.gif\"\)"
    ):
        fall.animate()


def test_without_ffmpeg_the_message_says_so(
    fall: sr.Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from matplotlib.animation import writers

    monkeypatch.setattr(type(writers), "is_available", lambda self, name: name != "ffmpeg")
    with pytest.raises(sr.InputError, match=r"fall.mp4' needs ffmpeg, which was not found.*write a GIF"):
        fall.animate(tmp_path / "fall.mp4")
    assert not list(tmp_path.iterdir())


def test_an_mp4_is_written_where_ffmpeg_exists(fall: sr.Trajectory, tmp_path: Path) -> None:
    from matplotlib.animation import writers

    if not writers.is_available("ffmpeg"):
        pytest.skip("no ffmpeg on this machine")
    assert fall.animate(tmp_path / "fall.mp4", fps=5, dpi=50).stat().st_size > 1000


def test_wrong_requests_are_refused(fall: sr.Trajectory) -> None:
    with pytest.raises(sr.InputError, match=r"written as .gif or .mp4, got 'fall.avi'"):
        fall.animate("fall.avi")
    with pytest.raises(sr.InputError, match=r"fps must be a positive number, got 0"):
        fall.animate("fall.gif", fps=0)
    with pytest.raises(sr.InputError, match=r"speed must be a positive number, got nan"):
        fall.animate("fall.gif", speed=float("nan"))
    with pytest.raises(sr.InputError, match=r"are 24001 pictures, more than 5000; raise speed, or lower fps"):
        fall.animate("fall.gif", speed=1e-3)
    with pytest.raises(sr.UnknownNameError, match="trace: unknown body 'rod'"):
        fall.animate("fall.gif", fps=5, trace=("rod", (0, 0, 0)))
    with pytest.raises(sr.InputError, match="animate needs a Mechanism or a Trajectory, got int"):
        sr.viz.animate(3)  # type: ignore[arg-type]
    run = sr.simulate(sr.CustomSystem(1, 1, M=np.eye(1)), (0.0, 0.1), [0.0], dt=1e-2)
    with pytest.raises(sr.InputError, match=r"animate needs bodies to draw, .*CustomSystem.*use plot\(\)"):
        run.animate("run.gif")
