"""A picture of a mechanism as pixels or as a PNG file, without a display and with NumPy alone."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array, state
from ...errors import InputError
from ...formats.writing.replace_file import as_path, replace_bytes
from ...mechanism.mechanism import Mechanism
from ...simulation.trajectory.trajectory import Trajectory
from .camera import Camera, framed
from .raster import Canvas
from .scene import Scene, mechanism_of
from .triangles import across

PAPER = {"light": (0.957, 0.961, 0.969), "white": (1.0, 1.0, 1.0), "dark": (0.082, 0.094, 0.11)}
SHADOW = {"light": 0.16, "white": 0.13, "dark": 0.5}
LARGEST = 8000  # pixels of a side

Pixels = npt.NDArray[np.uint8]


def picture(
    shown: Mechanism | Trajectory,
    path: str | Path | None = None,
    *,
    q: npt.ArrayLike | None = None,
    t: float | None = None,
    size: tuple[int, int] = (800, 600),
    background: str | None = "light",
    ground: bool = True,
    loads: bool = True,
    eye: tuple[float, float] | None = None,
    shapes: Any = None,
    thickness: float | None = None,
) -> Any:
    """Paint a mechanism, or a run at one time, into pixels or a PNG file. No display is needed.

    Args:
        shown: A `Mechanism`, or what `sr.simulate` returned for one.
        path: File to write, "four_bar.png"; default none.
        q: Pose (nq,), for a mechanism; default `default.q`.
        t: Time [s], for a run; default its end. The picture has room for the whole motion.
        size: Width and height in pixels.
        background: "light", "white", "dark", or None for a transparent picture.
        ground: Whether to show the floor and shadows on it, for mechanisms in space.
        loads: Whether to show the forces and moments that the mechanism is declared with.
        eye: Azimuth and height of the direction to the eye [rad]; default nearly across the plane of a planar
            mechanism, else from above and aside.
        shapes, thickness: As in `export`.

    Returns:
        The path of the file, or the pixels (height, width, 4) of red, green, blue and opacity, 0 to 255.
    """
    target = None if path is None else as_path(path)
    if target is not None and target.suffix.lower() != ".png":
        raise InputError(f"a picture is written as .png, got {str(path)!r}.")
    if background is not None and background not in PAPER:
        raise InputError(
            f"background must be None or one of {', '.join(map(repr, PAPER))}, got {background!r}."
        )
    width, height = _size(size)
    scene = _scene(shown, q, t, shapes, thickness)
    outline = scene.outline_with_loads() if loads else scene.outline
    camera = framed(outline, scene.up, scene.eye() if eye is None else eye, width / height)
    canvas = Canvas(width, height, None if background is None else PAPER[background])
    shadow = SHADOW.get(str(background), 0.13) if ground and scene.plane is None else 0.0
    paint(scene, canvas, camera, shadow=shadow, loads=loads)
    pixels = canvas.picture()
    return pixels if target is None else replace_bytes(target, png(pixels), make_folder=True)


def paint(scene: Scene, canvas: Canvas, camera: Camera, *, shadow: float, loads: bool) -> None:
    """Paint the first pose of a scene, with a shadow of a darkness on its floor."""
    height, width = canvas.shape
    surfaces = scene.painted(0, loads)
    sun = sunlight(scene.up)

    def project(points: Array) -> Array:
        return camera.project(points, width, height)

    if shadow > 0.0:
        fall = (surfaces.points - scene.floor) @ scene.up / float(sun @ scene.up)
        canvas.shadow(surfaces.points - fall[..., None] * sun, project, shadow)

    def light(points: Array, normals: Array) -> tuple[Array, Array]:
        return lit(normals, camera.eye - points, sun)

    canvas.paint(surfaces, project, light)


def sunlight(up: Array) -> Array:
    """Unit vector to the light (3,); the same as on the page."""
    x, y = across(up)
    sun = 1.6 * up + 0.5 * x - 0.7 * y
    return np.asarray(sun / np.linalg.norm(sun))


def lit(normals: Array, to_eye: Array, sun: Array) -> tuple[Array, Array]:
    """Brightness and shine (k,) of surfaces with normals (k, 3), seen from directions (k, 3)."""
    e = to_eye / np.maximum(np.linalg.norm(to_eye, axis=1, keepdims=True), 1e-12)
    n = np.where(np.sum(normals * e, axis=1, keepdims=True) < 0.0, -normals, normals)
    half = sun + e
    half /= np.maximum(np.linalg.norm(half, axis=1, keepdims=True), 1e-12)
    shine = np.clip(np.sum(n * half, axis=1), 0.0, 1.0) ** 40
    return 0.42 + 0.62 * (0.5 + 0.5 * (n @ sun)), 0.16 * shine


def png(pixels: Pixels) -> bytes:
    """Pixels (height, width, 3 or 4) as the content of a PNG file (ISO/IEC 15948)."""
    height, width, channels = pixels.shape
    rows = np.concatenate([np.zeros((height, 1), dtype=np.uint8), pixels.reshape(height, -1)], axis=1)
    head = struct.pack(">II5B", width, height, *(8, 6 if channels == 4 else 2, 0, 0, 0))
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b""))
    body = b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + body


def _size(size: Any) -> tuple[int, int]:
    if (
        not isinstance(size, (tuple, list))
        or len(size) != 2
        or not all(isinstance(n, (int, np.integer)) and 0 < n <= LARGEST for n in size)
    ):
        raise InputError(f"size must be width and height in pixels, 1 to {LARGEST} each, got {size!r}.")
    return int(size[0]), int(size[1])


def _scene(shown: Any, q: Any, t: Any, shapes: Any, thickness: Any) -> Scene:
    """The scene; its first pose is the one that is painted."""
    if isinstance(shown, Mechanism):
        if t is not None:
            raise InputError("picture takes t for a run only: a mechanism stands still.")
        pose = shown.default.q if q is None else state(q, "q", shown.nq)
        return Scene(shown, np.atleast_2d(pose), shapes, thickness)
    mech = mechanism_of(shown, "picture")
    if q is not None:
        raise InputError("picture takes q for a mechanism only: a run has its own poses; say t.")
    when = float(shown.t[-1]) if t is None else float(t)
    every = shown.q[:: max(1, len(shown.q) // 60)]
    poses = np.concatenate([shown.at(np.array([when])).q, every])
    return Scene(mech, poses, shapes, thickness)
